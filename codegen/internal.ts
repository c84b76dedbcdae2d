// Functions that are bound and callable through mlx-ts/ffi, and that the public API has no need of: each with its
// reason. A pattern that matches only functions which the API does reach is reported as stale.

import { internal } from "./accounts.ts";

/** Patterns over the whole name, tried in order, the first match wins. */
export const internalReasons: readonly { pattern: RegExp; reason: string }[] = [
  {
    pattern: /^mlx_array_(item|data)_b?float16$/,
    reason: "missing on x86-64; 16-bit floats are read as the bits that they are, on every platform",
  },
  { pattern: /^mlx_dtype_size$/, reason: "the sizes of the dtypes are a table in core/dtype.ts" },
  { pattern: /^mlx_version$/, reason: "the version guard asks the shim, which knows MLX's and mlx-c's at once" },
  {
    pattern:
      /^mlx_(closure\w*|device|device_info|stream|string|distributed_group|vector_(int|string|stream|vector_array))_new$/,
    reason: "makes an empty handle, which TypeScript has as the number 0",
  },
  { pattern: /^mlx_default_[cg]pu_stream_new$/, reason: "the default stream of any device is asked for by its device" },
  {
    pattern: /^mlx_array_new_(float|double)$/,
    reason: "another name of mlx_array_new_float32 and mlx_array_new_float64",
  },
  {
    pattern: /^mlx_array_new_data_managed\w*$/,
    reason: "wraps a buffer without a copy; the collector may move or free a JavaScript buffer, so arrays copy",
  },
  {
    pattern: /^mlx_array_set_\w+$/,
    reason: "overwrites an array with a constant; TypeScript's arrays are replaced and never overwritten",
  },
  {
    pattern: /^mlx_\w+_set$/,
    reason: "makes one handle refer to what another does; a TypeScript object keeps the handle that it was made with",
  },
  {
    pattern: /^mlx_array_item_\w+$/,
    reason: "reads a scalar without checking its dtype; item() reads the evaluated data by the array's dtype",
  },
  {
    pattern: /^mlx_array_data_\w+$/,
    reason: "the address of the data, which does not depend on the dtype: one accessor serves all",
  },
  { pattern: /^_mlx_array_wait$/, reason: "blocks without evaluating; eval and ready() wait and report errors" },
  {
    pattern: /^mlx_closure_new_(func|unary)$|^mlx_closure_(custom\w*|kwargs|value_and_grad)_new_func$/,
    reason: "takes a callback without a payload; one trampoline with an id in its payload serves every closure",
  },
  {
    pattern: /^mlx_value_and_grad$|^mlx_closure_value_and_grad_(new_func_payload|apply)$/,
    reason:
      "a closure for each number of inputs; grad calls mlx_vjp with a one, which is what it does, with one closure",
  },
  {
    pattern: /^mlx_detail_vmap_(trace|replace)$/,
    reason: "the two halves of vmap; the shim does both in one call",
  },
  {
    pattern: /^mlx_vector_\w+_(new_value|set_value|set_data|append_data|append_value|new_data)$/,
    reason: "vectors are made whole, from the addresses of their elements, where the API needs them",
  },
  {
    pattern: /^mlx_(export_to_dot|print_graph)$/,
    reason: "writes to a C FILE*, which TypeScript has no way to open; the shim gives the graph as text",
  },
  { pattern: /^mlx_node_namer_get_name$/, reason: "names are given to arrays and never asked for" },
  {
    pattern: /^mlx_(export_function(_kwargs)?|function_exporter_(new|apply))$/,
    reason: "the shim's exporter writes any number of traces, with named arrays and a text beside them",
  },
  { pattern: /^mlx_imported_function_apply$/, reason: "the form with named arrays takes none of them as well" },
  { pattern: /^mlx_custom_vjp$/, reason: "mlx_custom_function with the rule for vjp alone" },
  {
    pattern: /^mlx_closure_custom\w*_apply$/,
    reason: "such a closure is made for mlx_custom_function, which calls it",
  },
  {
    pattern: /^mlx_closure_kwargs_apply$/,
    reason: "such a closure is made to be exported; its function is called as it is",
  },
  {
    pattern: /^mlx_(save_safetensors(_writer)?|map_\w+_insert|map_string_to_(array|string)_new)$/,
    reason:
      "MLX writes safetensors from a map, in the order of its hashes; ours keeps the order and alignment of a tree",
  },
  {
    pattern: /^mlx_map_string_to_string_iterator_\w+$/,
    reason: "the metadata of safetensors is read with the header, which is checked as a whole before MLX sees the file",
  },
  {
    pattern: /^mlx_io_writer_(descriptor|tostring)$/,
    reason: "the writers are the shim's, which knows what they hold",
  },
  {
    pattern: /^mlx_(gather|scatter(_add|_max|_min|_prod)?)_single$/,
    reason: "the case of one axis of the function that indexing is made of",
  },
  {
    pattern: /^mlx_scatter_add_axis$/,
    reason: "adds along one axis; updates by at() add at any index, and Python has no such function",
  },
  {
    pattern: /^_mlx_array_is_(col_)?contiguous$/,
    reason: "readback asks for row-major order alone; the shim answers of evaluated arrays only",
  },
  {
    pattern: /^mlx_compile$/,
    reason: "compile calls mlx_detail_compile, under numbers of its own, so that a disposed function leaves the cache",
  },
  { pattern: /^mlx_set_compile_mode$/, reason: "enableCompile and disableCompile set the two modes that Python has" },
  {
    pattern: /^mlx_metal_(get|set)_metallib_path$/,
    reason: "Python has no such function; the native build puts the library of kernels where MLX looks for it",
  },
  { pattern: /^mlx_get_streams$/, reason: "Python has no such function; a program knows the streams that it made" },
  { pattern: /^mlx_synchronize_default$/, reason: "synchronize asks for the default stream and waits for that one" },
  { pattern: /^mlx_device_info_has_key$/, reason: "the keys are listed, and each one listed is there" },
  { pattern: /^mlx_string_new_data$/, reason: "text goes to MLX as the address of its bytes, never as a handle" },
  {
    pattern: /^mlx_io_gguf_(has|get)_metadata_\w+$/,
    reason: "the loader reads metadata from the file's header itself, with types that MLX's reader does not keep",
  },
  {
    pattern: /^mlx_(load\w*_reader|io_reader_\w+)$/,
    reason: "bytes in memory are read at once and checked; MLX reads later and takes a short read for a whole one",
  },
  { pattern: /^mlx_map_\w+_get$/, reason: "a map is read whole, with its iterator" },
  {
    pattern: /^mlx_(detail_compile\w*|compile_cache_new)$/,
    reason: "MLX's inner form of compile and its cache; mlx_compile is the one for bindings",
  },
  {
    pattern: /^mlx_vector_(int|stream|vector_array)_\w+$/,
    reason: "no function of the public API takes or gives a vector of this kind",
  },
  // Functions of the operations' headers that no operation needs.
  ...Object.entries(internal).map(([name, reason]) => ({ pattern: new RegExp(`^${name}$`), reason })),
];
