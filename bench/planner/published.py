"""The published planner (mlx-train-perf) as a process: either how long its plans take, or what they are.

usage: published.py time SECONDS       prints {"published": nanoseconds of a plan, the least of all rounds}
       published.py answer             reads a JSON list of shapes, prints their plans: hash and count, or the refusal
"""

import hashlib
import json
import sys
import time

from mlx_train_perf.attention.kernel import launch
from mlx_train_perf.errors import LaunchBudgetError

PLANNERS = {
    "forward": launch.plan_fwd_dispatches,
    "dq": launch.plan_dq_dispatches,
    "dkv": launch.plan_dkv_dispatches,
}


def answer(shape):
    arguments = dict(shape)
    planner = PLANNERS[arguments.pop("pass")]
    try:
        ranges = planner(**arguments)
    except LaunchBudgetError as error:
        packed = "chained dispatches" in str(error)
        return {"error": "packedOverBudget" if packed else "unitOverBudget"}
    text = json.dumps([list(one) for one in ranges], separators=(",", ":"))
    return {"count": len(ranges), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def best(seconds):
    shape = dict(n=131072, d=128, b=1, hq=32, hkv=8, rate=9.2897e11, causal=True, block_align=32)
    least = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter_ns()
        for _ in range(20):
            launch.plan_dkv_dispatches(**shape)
        least = min(least, (time.perf_counter_ns() - start) / 20)
    return least


if sys.argv[1] == "time":
    print(json.dumps({"published": best(float(sys.argv[2]))}))
else:
    print(json.dumps([answer(shape) for shape in json.load(sys.stdin)]))
