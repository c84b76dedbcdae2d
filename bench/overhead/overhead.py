"""The same work in Python MLX. Prints one JSON line of minima in nanoseconds."""

import json
import sys
import time

import mlx.core as mx

mx.set_default_device(mx.cpu)
a = mx.array(1.0)
b = mx.array(2.0)
big = mx.random.normal((512, 512))
mx.eval(a, b, big)


def add(n):
    for _ in range(n):
        c = a + b


def ndim(n):
    x = 0
    for _ in range(n):
        x += a.ndim
    return x


def graph50(n):
    for _ in range(n):
        x = a + b
        for j in range(49):
            x = x + b if j % 2 else x * b


def matmul(n):
    for _ in range(n):
        mx.eval(big @ big)


def measure(work, n, rounds):
    best = float("inf")
    for _ in range(rounds):
        t = time.perf_counter_ns()
        work(n)
        best = min(best, (time.perf_counter_ns() - t) / n)
    return best


if sys.argv[1:] == ["matmul"]:
    print(json.dumps({"matmul": measure(matmul, 3, 4)}))
else:
    print(
        json.dumps(
            {
                "add": measure(add, 50000, 8),
                "ndim": measure(ndim, 200000, 5),
                "graph50": measure(graph50, 1000, 8),
                "matmul": measure(matmul, 5, 8),
            }
        )
    )
