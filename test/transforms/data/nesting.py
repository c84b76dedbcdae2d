"""Writes nesting.json beside it: what Python MLX gives for every nesting of up to three transforms of one function.

python nesting.py, with mlx 0.32.2 installed. test/transforms/nesting.test.ts has the same transforms.
"""

import itertools
import json
import os

import mlx.core as mx

mx.set_default_device(mx.cpu)


def base(x):
    return x * x * x + mx.sin(x)


def grad(h):
    return lambda x: mx.grad(lambda a: h(a).sum())(x)


def value_and_grad(h):
    def f(x):
        value, gradient = mx.value_and_grad(lambda a: h(a).sum())(x)
        return gradient * 2 + value

    return f


def vjp(h):
    return lambda x: mx.vjp(h, [x], [mx.full(x.shape, 3.0)])[1][0]


def jvp(h):
    return lambda x: mx.jvp(h, [x], [mx.full(x.shape, 2.0)])[1][0]


def custom(h):
    # The rules are no derivatives: what comes out shows which of them ran.
    f = mx.custom_function(h)
    f.vjp(lambda x, cotangent, output: cotangent * 3 * x + output)
    f.jvp(lambda x, tangent: tangent * 5 * x)
    f.vmap(lambda x, axis: (h(x) + x * 7, axis))
    return f


transforms = {
    "grad": grad,
    "valueAndGrad": value_and_grad,
    "vjp": vjp,
    "jvp": jvp,
    "vmap": lambda h: mx.vmap(h),
    "vmapInner": lambda h: mx.vmap(h, in_axes=-1, out_axes=-1),
    "compile": lambda h: mx.compile(h),
    "checkpoint": lambda h: mx.checkpoint(h),
    "customFunction": custom,
}

x = mx.array([[0.5, -1.0, 2.0], [0.25, 1.5, -0.75]])
cases = {}
for depth in (1, 2, 3):
    for names in itertools.product(transforms, repeat=depth):
        f = base
        for name in reversed(names):
            f = transforms[name](f)
        try:
            result = [float(f"{v:.6g}") for v in f(x).reshape(-1).tolist()]
        except Exception as error:
            result = str(error)
        cases[" ".join(names)] = result

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nesting.json"), "w") as out:
    out.write("{\n" + ",\n".join(f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in cases.items()) + "\n}\n")
print(len(cases), sum(isinstance(v, str) for v in cases.values()), {v for v in cases.values() if isinstance(v, str)})
