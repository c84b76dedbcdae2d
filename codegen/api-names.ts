// Where Python's names went when they did not become the same name in camelCase, each with a reason. A line that is not
// needed any more stops the generator, and so does a name of Python that is nowhere.

/** Python's name -> the name here, and why it is another. */
export const renamed: Readonly<Record<string, readonly [here: string, reason: string]>> = {
  get_active_memory: ["activeMemory", "a plain question needs no `get`"],
  get_peak_memory: ["peakMemory", "a plain question needs no `get`"],
  get_cache_memory: ["cacheMemory", "a plain question needs no `get`"],
  "metal.get_active_memory": ["metal.activeMemory", "a plain question needs no `get`"],
  "metal.get_peak_memory": ["metal.peakMemory", "a plain question needs no `get`"],
  "metal.get_cache_memory": ["metal.cacheMemory", "a plain question needs no `get`"],
  stream: ["withStream", "takes the function to run, where Python has a `with` block"],
  StreamContext: ["withStream", "takes the function to run, where Python has a `with` block"],
  array: ["Array", "the class; `mx.array` makes one"],
  ArrayIterator: ["Array", "`for (const row of x)`"],
  scalar: ["Scalar", "the type of what stands where an array may"],
  list_or_scalar: ["Nested", "the type of `tolist()`"],
};

/** Names of Python that are not here, and what to do instead. */
export const absent: Readonly<Record<string, string>> = {
  from_dlpack: "`mx.array(typedArray, { shape })` copies host data; nothing in JavaScript offers DLPack",
  DLPackCompatible: "nothing in JavaScript offers DLPack",
  ArrayLike: "Python's protocol for foreign objects; give their typed array to `mx.array`",
  "fast.precompiled_cuda_kernel": "mlx-c does not offer it; `mx.fast.cudaKernel` compiles from source",
};

const methods = "JavaScript has no operators of one's own: a method";
const inPlace = "arrays are immutable: assign the result of the method";
const scalars = "`item()`: an implicit conversion would hide a wait for the device";

/** Python's protocol methods of an array, and what JavaScript has for them. */
export const protocol: readonly (readonly [python: string, here: string])[] = [
  ["`__init__`", "`mx.array(value, { dtype })`"],
  ["`__getitem__`", '`x.get(0, "1:3")`'],
  ["`__setitem__`", '`x = x.at(0, "1:3").set(v)`: arrays are immutable'],
  ["`__iter__`, `__len__`", "`for (const row of x)`, `x.shape[0]`"],
  ["`__add__`, `__radd__`, `__sub__`, `__mul__`, `__matmul__`, `__eq__`, `__lt__` and the other operators", methods],
  ["`__iadd__`, `__isub__` and the other assignments", inPlace],
  ["`__abs__`, `__neg__`, `__invert__`", "`x.abs()`, `x.negative()`, `mx.bitwiseInvert(x)`"],
  ["`__bool__`, `__int__`, `__float__`, `__complex__`", scalars],
  ["`__repr__`", "`String(x)`, `console.log(x)`"],
  ["`__copy__`, `__deepcopy__`", "not needed: arrays are immutable; `x.astype(x.dtype)` gives a handle of its own"],
  ["`__getstate__`, `__setstate__`", "`mx.save`, `mx.load`; pickle is Python's own"],
  ["`__array__`, `__array_namespace__`", "`x.toTypedArray()`; NumPy's protocols"],
  ["`__dlpack__`, `__dlpack_device__`", "`x.exportStorage().toDLPack()`, a capsule for a library in the same process"],
];
