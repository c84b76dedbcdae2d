"""Runs parity cases against the Python MLX that is installed beside this interpreter.

live.py CASES RESULTS FILES, with the ids to run, one a line, in RESULTS.ids. Each result goes to RESULTS at once, and
before a case begins its id does, as test/parity/child.ts does it: so a crash costs one case and names it.
"""

import cmath
import gzip
import json
import math
import os
import struct
import sys
import tempfile

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

ROOTS = {"mx": mx, "nn": nn, "optimizers": optim}
PACKED = {"int64": "q", "uint64": "Q", "float64": "d"}
INEXACT = {"float16", "bfloat16", "float32", "float64", "complex64"}


def resolve(name):
    root, *path = name.split(".")
    value = ROOTS[root]
    for part in path:
        value = getattr(value, part)
    return value


def dtype_of(name):
    return mx.bool_ if name == "bool" else getattr(mx, name)


def number(value):
    """A number, or one of the words for those that JSON lacks."""
    return float(value) if isinstance(value, str) else value


# ---- values --------------------------------------------------------------------------------------------------------


def make_array(spec):
    dtype, shape, data = dtype_of(spec["dtype"]), spec["shape"], spec["data"]
    if not data:
        return mx.zeros(shape, dtype)
    code = PACKED.get(spec["dtype"])
    if code is not None:
        # Through the bytes: a list of numbers passes through 32 bits.
        values = [number(x) if code == "d" else int(x) for x in data]
        raw = struct.pack(f"<{len(values)}{code}", *values)
        return mx.array(list(raw), mx.uint8).view(dtype).reshape(shape)
    if spec["dtype"] == "complex64":
        flat = mx.array([complex(number(re), number(im)) for re, im in data], dtype)
    else:
        flat = mx.array([number(x) for x in data], dtype)
    return flat.reshape(shape)


def make_view(spec):
    x = decode(spec["of"])
    for name, *args in spec["ops"]:
        if name == "slice":
            x = x[tuple(slice(*bounds) for bounds in args[0])]
        else:
            x = getattr(mx, name)(x, *args)
    return x


def make_layer(spec):
    return getattr(nn, spec["layer"])(*decode(spec.get("args", [])), **decode(spec.get("config", {})))


def make_schedule(spec):
    return getattr(optim, spec["name"])(*decode(spec["args"]))


def make_optimizer(spec):
    return getattr(optim, spec["name"])(*decode(spec.get("args", [])), **decode(spec.get("config", {})))


def make_filter(spec):
    return lambda path, weight: weight.ndim >= spec["min_ndim"]


TAGS = {
    "$array": make_array,
    "$view": make_view,
    "$dtype": dtype_of,
    "$category": lambda name: getattr(mx, name),
    "$key": lambda seed: mx.random.key(decode(seed)),
    "$float": lambda x: float(x),
    "$int": int,
    "$complex": lambda parts: complex(*map(number, parts)),
    "$list": lambda items: items,
    "$slice": lambda bounds: slice(*bounds),
    "$ellipsis": lambda _: ...,
    "$newaxis": lambda _: None,
    "$fn": resolve,
    "$layer": make_layer,
    "$schedule": make_schedule,
    "$optimizer": make_optimizer,
    "$filter": make_filter,
}


def tagged(value):
    if isinstance(value, dict) and len(value) == 1:
        (key, body), = value.items()
        if key.startswith("$"):
            return key, body
    return None


def decode(value):
    tag = tagged(value)
    if tag is not None:
        return TAGS[tag[0]](tag[1])
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        return {key: decode(item) for key, item in value.items()}
    return value


def decode_index(parts):
    index = tuple(decode(part) for part in parts)
    return index[0] if len(index) == 1 else index


# ---- comparing -----------------------------------------------------------------------------------------------------


def close(expected, result, rtol, atol):
    if result == expected:
        return True
    if isinstance(expected, complex) or isinstance(result, complex):
        expected, result = complex(expected), complex(result)
        if cmath.isnan(expected) or cmath.isnan(result):
            return cmath.isnan(expected) and cmath.isnan(result)
        parts = [(expected.real, result.real), (expected.imag, result.imag)]
        distance = math.hypot(*(0.0 if e == r else abs(r - e) for e, r in parts))
        return distance == 0 or (cmath.isfinite(expected) and distance <= atol + rtol * abs(expected))
    if math.isnan(expected) or math.isnan(result):
        return math.isnan(expected) and math.isnan(result)
    return math.isfinite(expected) and abs(result - expected) <= atol + rtol * abs(expected)


def elements(array):
    if array.dtype == mx.bfloat16:
        array = array.astype(mx.float32)
    return array.reshape([-1]).tolist()


def compare_array(spec, result, rtol, atol, path):
    if not isinstance(result, mx.array):
        return f"{path}: expected an array of {spec['dtype']}, got {result!r}"
    dtype = str(result.dtype).removeprefix("mlx.core.")
    if dtype != spec["dtype"]:
        return f"{path}: expected dtype {spec['dtype']}, got {dtype}"
    if list(result.shape) != spec["shape"]:
        return f"{path}: expected shape {spec['shape']}, got {list(result.shape)}"
    if spec["dtype"] not in INEXACT:
        rtol = atol = 0
    for i, (wanted, got) in enumerate(zip(elements(make_array(spec)), elements(result))):
        if not close(wanted, got, rtol, atol):
            return f"{path}: element {i}: expected {wanted}, got {got}"
    return None


def compare(expected, result, rtol, atol, path="result"):
    tag = tagged(expected)
    if tag is not None and tag[0] == "$array":
        return compare_array(tag[1], result, rtol, atol, path)
    if tag is not None and tag[0] not in ("$list",):
        wanted = decode(expected)
        numeric = isinstance(wanted, (float, complex)) and isinstance(result, (int, float, complex))
        same = close(wanted, result, rtol, atol) if numeric else wanted == result
        return None if same else f"{path}: expected {wanted!r}, got {result!r}"
    if tag is not None:
        expected = tag[1]
    if isinstance(expected, list):
        if not isinstance(result, (list, tuple)) or len(result) != len(expected):
            return f"{path}: expected {len(expected)} items, got {result!r}"
        pairs = enumerate(zip(expected, result))
        return next(filter(None, (compare(e, r, rtol, atol, f"{path}[{i}]") for i, (e, r) in pairs)), None)
    if isinstance(expected, dict):
        if not isinstance(result, dict) or sorted(result) != sorted(expected):
            return f"{path}: expected the keys {sorted(expected)}, got {result!r}"
        return next(filter(None, (compare(e, result[k], rtol, atol, f"{path}.{k}") for k, e in expected.items())), None)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool) and isinstance(result, (int, float)):
        return None if close(expected, result, rtol, atol) else f"{path}: expected {expected}, got {result}"
    return None if expected == result else f"{path}: expected {expected!r}, got {result!r}"


# ---- kinds ---------------------------------------------------------------------------------------------------------


def call(fn, args, kwargs):
    """Calls a function of the format with decoded arguments."""
    if not fn.startswith("array."):
        return resolve(fn)(*args, **kwargs)
    self, *rest = args
    member = getattr(self, fn.removeprefix("array."))
    return member(*rest, **kwargs) if callable(member) and not isinstance(member, (mx.array, mx.Dtype)) else member


def run_call(case):
    return call(case["fn"], decode(case["args"]), decode(case.get("kwargs", {})))


def run_index(case):
    return decode(case["x"])[decode_index(case["index"])]


def run_update(case):
    x, index, value = decode(case["x"]), decode_index(case["index"]), decode(case["value"])
    if case["op"] != "set":
        return getattr(x.at[index], case["op"])(value)
    x[index] = value
    return x


def substitute(value, variables):
    if isinstance(value, str) and value.startswith("%"):
        return variables[value[1:]]
    tag = tagged(value)
    if tag is not None:
        return decode_index(substitute(tag[1], variables)) if tag[0] == "$index" else decode(value)
    if isinstance(value, list):
        return [substitute(item, variables) for item in value]
    if isinstance(value, dict):
        return {key: substitute(item, variables) for key, item in value.items()}
    return value


STEPS = {
    "getitem": lambda array, index: array[index],
    "at_add": lambda array, index, value: array.at[index].add(value),
    "attr": lambda thing, name: getattr(thing, name),
}


def program_of(case, traced):
    def program(*inputs):
        traced.append(1)
        variables = dict(zip(case["inputs"], inputs))
        for step in case["steps"]:
            args, kwargs = substitute(step["args"], variables), substitute(step.get("kwargs", {}), variables)
            own = STEPS.get(step["fn"])
            value = own(*args) if own is not None else call(step["fn"], args, kwargs)
            if isinstance(step["out"], list):
                variables.update(zip(step["out"], value))
            else:
                variables[step["out"]] = value
        result = case["result"]
        return [variables[name] for name in result] if isinstance(result, list) else variables[result]

    return program


def flat(value):
    """The outputs one after the other; a list without arrays is one output, as einsum_path's."""
    if isinstance(value, mx.array):
        return [value]
    items = value if isinstance(value, (list, tuple)) else [value]
    return [y for x in items for y in (flat(x) if has_array(x) else [x])]


def has_array(value):
    return isinstance(value, mx.array) or (isinstance(value, (list, tuple)) and any(map(has_array, value)))


def transformed(fn, case):
    """The transformed function, of a list of inputs."""
    kind, argnums = case["transform"], case.get("argnums")
    argnums = tuple(argnums) if isinstance(argnums, list) else argnums

    def mapped(f):
        axes = case["in_axes"]
        return mx.vmap(f, in_axes=tuple(axes) if isinstance(axes, list) else axes, out_axes=case["out_axes"])

    def grad_of_grad():
        inner, outer = argnums
        first = mx.grad(fn, argnums=inner)
        return mx.grad(lambda *xs: mx.sum(first(*xs)), argnums=outer)

    def grad_of_vmap():
        many = mapped(fn)
        return mx.grad(lambda *xs: mx.sum(many(*xs)), argnums=argnums)

    if kind == "vjp":
        return lambda xs: mx.vjp(fn, xs, decode(case["cotangents"]))
    if kind == "jvp":
        return lambda xs: mx.jvp(fn, xs, decode(case["tangents"]))
    made = {
        "none": lambda: fn,
        "compile": lambda: mx.compile(fn),
        "compile_shapeless": lambda: mx.compile(fn, shapeless=True),
        "grad": lambda: mx.grad(fn, argnums=argnums),
        "value_and_grad": lambda: mx.value_and_grad(fn, argnums=argnums),
        "checkpoint": lambda: mx.value_and_grad(mx.checkpoint(fn), argnums=argnums),
        "vmap": lambda: mapped(fn),
        "vmap_of_grad": lambda: mapped(mx.grad(fn, argnums=argnums)),
        "grad_of_vmap": grad_of_vmap,
        "grad_of_grad": grad_of_grad,
        "compile_of_grad": lambda: mx.compile(mx.grad(fn, argnums=argnums)),
    }[kind]()
    return lambda xs: made(*xs)


def run_program(case):
    traced = []
    run = transformed(program_of(case, traced), case)
    sets = [flat(run(decode(inputs))) for inputs in case["inputs_values"]]
    mx.eval([x for outputs in sets for x in outputs if isinstance(x, mx.array)])
    wanted = case.get("traces")
    if wanted is not None and wanted != len(traced):
        raise AssertionError(f"the function ran {len(traced)} times, the case says {wanted}")
    return sets


def parameters_of(layer):
    from mlx.utils import tree_flatten

    return dict(tree_flatten(layer.parameters()))


def run_nn(case):
    from mlx.utils import tree_unflatten

    layer = make_layer(case)
    wanted = decode(case.get("params", {}))
    # A case that must raise has none: the layer's own serve.
    if "params" in case and sorted(parameters_of(layer)) != sorted(wanted):
        raise AssertionError(f"the parameters are {sorted(parameters_of(layer))}, the case has {sorted(wanted)}")
    if wanted:
        layer.update(tree_unflatten(list(wanted.items())))
    layer.train(case.get("train", False))
    return layer(*decode(case["input"]), **decode(case.get("kwargs", {}))), layer


def run_optimizer(case):
    optimizer, parameters, steps = make_optimizer(case), decode(case["params"]), []
    for grads in case["grads"]:
        parameters = optimizer.apply_gradients(decode(grads), parameters)
        mx.eval(parameters)
        steps.append(parameters)
    return steps


def run_schedule(case):
    schedule = make_schedule(case)
    return [schedule(mx.array(step)) for step in case["steps"]]


def run_init(case):
    make = getattr(nn.init, case["name"])(*decode(case.get("args", [])), **decode(case.get("config", {})))
    return make(decode(case["x"]), **decode(case.get("call", {})))


def run_io(case, files):
    kwargs = decode(case.get("kwargs", {}))
    if case["op"] == "load":
        return mx.load(os.path.join(files, os.path.basename(case["file"])), **kwargs)
    arrays, kind = decode(case["arrays"]), case["format"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"x.{kind}")
        if kind == "npy":
            mx.save(path, arrays["x"])
            result = {"x": mx.load(path)}
        else:
            {"npz": lambda: mx.savez(path, **arrays), "safetensors": lambda: mx.save_safetensors(path, arrays, **kwargs),
             "gguf": lambda: mx.save_gguf(path, arrays, **kwargs)}[kind]()
            result = dict(mx.load(path))
        mx.eval(list(result.values()))
        return result


def text_of(case):
    precision = case.get("precision")
    if precision is None:
        return str(decode(case["x"]))
    with mx.printoptions(precision=precision):
        return str(decode(case["x"]))


SCALARS = {"bool": True, "int": 2, "float": 0.5, "complex": 1j}
PAIRS = {
    "mx.divmod": lambda f, a, b: f(a, b)[0],
    "mx.where": lambda f, a, b: f(mx.array([True]), a, b),
    "mx.concatenate": lambda f, a, b: f([a, b]),
    "mx.clip": lambda f, a, b: f(a, b, None),
    "mx.tensordot": lambda f, a, b: f(a, b, axes=1),
}


def dtype_or_error(make):
    try:
        return str(make().dtype).removeprefix("mlx.core.")
    except Exception as error:  # the table says which
        return f"!{type(error).__name__}"


def check_dtypes(case):
    name = case["fn"]
    fn = resolve(name)
    square = name in ("mx.matmul", "mx.trace")
    apply = PAIRS.get(name, lambda f, a, b: f(a, b))
    wrong = []

    def check(label, expected, make):
        got = dtype_or_error(make)
        if got != expected:
            wrong.append(f"{label}: expected {expected}, got {got}")

    def operand(dtype, scalar):
        return SCALARS[dtype] if scalar else mx.ones([1, 1] if square else [1], dtype_of(dtype))

    def evaluated(dtype):
        result = fn(mx.ones([1, 1] if square else [2], dtype_of(dtype)))
        mx.eval(result)
        return result

    for dtype, expected in case.get("unary", {}).items():
        check(dtype, expected, lambda: evaluated(dtype))
    for table, side in (("arrays", None), ("scalar_right", 1), ("scalar_left", 0)):
        for key, expected in case.get(table, {}).items():
            left, right = key.split(",")
            pair = [operand(left, side == 0), operand(right, side == 1)]
            check(f"{table} {key}", expected, lambda: apply(fn, *pair))
    return "; ".join(wrong[:6]) or None


def check_error(case, files):
    wanted = case["expect"]["error"]
    try:
        result = RUNNERS[case["form"]](case, files)
        mx.eval([x for x in flat(result) if isinstance(x, mx.array)])
    except Exception as error:  # any but the right one is the finding
        got = type(error).__name__
        return None if got == wanted else f"expected {wanted}, got {got}: {error}"
    return f"nothing was raised; the case says {wanted}"


RUNNERS = {
    "call": lambda case, _: run_call(case),
    "index": lambda case, _: run_index(case),
    "update": lambda case, _: run_update(case),
    "program": lambda case, _: run_program(case),
    "optimizer": lambda case, _: run_optimizer(case),
    "schedule": lambda case, _: run_schedule(case),
    "init": lambda case, _: run_init(case),
    "io": run_io,
    "nn": lambda case, _: run_nn(case)[0],
}


def check(case, files):
    """None where Python agrees with the case, otherwise what differs."""
    kind, rtol, atol = case["kind"], case.get("rtol", 0), case.get("atol", 0)
    if kind == "dtype":
        return check_dtypes(case)
    if kind == "error":
        return check_error(case, files)
    if kind == "print":
        text = text_of(case)
        return None if text == case["expect"] else f"expected {case['expect']!r}, got {text!r}"
    if kind == "optimizer":
        return compare(case["expect_after_steps"], run_optimizer(case), rtol, atol)
    if kind == "nn":
        result, layer = run_nn(case)
        difference = compare(case["expect"], result, rtol, atol)
        if difference is None and "expect_params" in case:
            difference = compare(case["expect_params"], parameters_of(layer), rtol, atol, "params")
        return difference
    if kind == "io" and case.get("kwargs", {}).get("return_metadata"):
        result, metadata = run_io(case, files)
        return compare(case["expect"], result, rtol, atol) or compare(case["metadata"], metadata, 0, 0, "metadata")
    return compare(case["expect"], RUNNERS[kind](case, files), rtol, atol)


def run(case, files):
    try:
        if "seed" in case:
            mx.random.seed(case["seed"])
        difference = check(case, files)
    except Exception as error:  # a case that Python refuses is a finding of its own
        difference = f"it raised {type(error).__name__}: {error}"
    return {"id": case["id"], "status": "passed" if difference is None else "failed", "message": difference or ""}


def main():
    cases, results, files = sys.argv[1:4]
    mx.set_default_device(mx.cpu)
    with open(f"{results}.ids", encoding="utf-8") as ids:
        wanted = set(ids.read().split("\n"))
    opener = gzip.open if cases.endswith(".gz") else open
    with opener(cases, "rt", encoding="utf-8") as lines, open(results, "a", encoding="utf-8") as out:
        header = json.loads(next(lines))
        if header["mlx"] != mx.__version__:
            print(f"the cases are of MLX {header['mlx']}, installed is {mx.__version__}", file=sys.stderr)
        for line in lines:
            case = json.loads(line)
            if case["id"] not in wanted:
                continue
            for value in ({"start": case["id"]}, run(case, files)):
                out.write(json.dumps(value) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
