"""The same work in Python MLX. Prints one JSON line of nanoseconds."""

import json
import math
import sys
import time

import mlx.core as mx

mx.set_default_device(mx.cpu)

STEPS = 100
layers = [("w1", "b1"), ("w2", "b2"), ("w3", "b3")]


def parameters(width):
    sizes = [16, width, width, 1]
    mx.random.seed(0)
    params = {}
    for i, (weight, bias) in enumerate(layers):
        params[weight] = mx.random.normal((sizes[i], sizes[i + 1])) * math.sqrt(2 / sizes[i])
        params[bias] = mx.zeros((sizes[i + 1],))
    return params


x = mx.random.normal((32, 16), key=mx.random.key(1))
y = x.sum(axis=1, keepdims=True) * 0.1
mx.eval(x, y)


def loss(params, input, target):
    h = input
    for i, (weight, bias) in enumerate(layers):
        h = mx.matmul(h, params[weight]) + params[bias]
        if i < 2:
            h = mx.maximum(h, 0)
    return mx.mean(mx.square(h - target))


loss_and_grad = mx.value_and_grad(loss)
small = parameters(32)
mx.eval(small)


def grad_build(n):
    for _ in range(n):
        loss_and_grad(small, x, y)


@mx.compile
def forward(params, input):
    h = input
    for weight, bias in layers:
        h = mx.tanh(mx.matmul(h, params[weight]) + params[bias])
    return h


def compiled_call(n):
    for _ in range(n):
        forward(small, x)


mapped = mx.vmap(lambda row, scale: mx.sum(mx.exp(row) * scale), in_axes=(0, None))
scale = mx.ones((16,))


def vmap_build(n):
    for _ in range(n):
        mapped(x, scale)


rate, beta1, beta2, epsilon = 1e-2, 0.9, 0.999, 1e-8


def new_training(width):
    params = parameters(width)
    return {
        "params": params,
        "m": {name: mx.zeros(value.shape) for name, value in params.items()},
        "v": {name: mx.zeros(value.shape) for name, value in params.items()},
    }


def step(state):
    """One step of Adam: new arrays in place of all old ones."""
    value, grads = loss_and_grad(state["params"], x, y)
    for name in grads:
        g = grads[name]
        m = state["m"][name] * beta1 + g * (1 - beta1)
        v = state["v"][name] * beta2 + mx.square(g) * (1 - beta2)
        state["params"][name] = state["params"][name] - m * rate / (mx.sqrt(v) + epsilon)
        state["m"][name] = m
        state["v"][name] = v
    return value


def train(width):
    def run(_):
        state = new_training(width)
        mx.eval(state)
        for _ in range(STEPS):
            value = step(state)
            mx.eval(value, state)

    return run


def train_compiled(width):
    def run(_):
        state = new_training(width)
        mx.eval(state)
        compiled = mx.compile(lambda: step(state), inputs=state, outputs=state)
        for _ in range(STEPS):
            value = compiled()
            mx.eval(value, state)

    return run


def measure(name, work, n, rounds):
    """The best and the middle of some runs, in ns."""
    work(n)
    times = []
    for _ in range(rounds):
        t = time.perf_counter_ns()
        work(n)
        times.append((time.perf_counter_ns() - t) / n)
    times.sort()
    return {name: times[0], name + "Middle": times[rounds // 2]}


if sys.argv[1:] == ["train"]:
    print(json.dumps(measure("trainWide", train(256), 1, 20)))
else:
    print(
        json.dumps(
            measure("grad", grad_build, 100, 300)
            | measure("compiled", compiled_call, 200, 600)
            | measure("vmap", vmap_build, 200, 600)
            | measure("train", train(32), 1, 40)
            | measure("trainWide", train(256), 1, 20)
            | measure("trainCompiled", train_compiled(32), 1, 120)
        )
    )
