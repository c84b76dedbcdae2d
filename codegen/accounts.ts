// What no operation is made of: Python functions that other parts have, and C functions that nobody needs.

/** Python functions that are not operations on arrays, and the part of mlx-ts that has them. */
export const elsewhere: Readonly<Record<string, string>> = {
  default_device: "devices are core's",
  set_default_device: "devices are core's",
  is_available: "devices are core's",
  device_count: "devices are core's",
  device_info: "devices are core's",
  default_stream: "streams are core's",
  set_default_stream: "streams are core's",
  new_stream: "streams are core's",
  new_thread_unsafe_stream: "streams are core's",
  new_thread_local_stream: "streams are core's",
  clear_streams: "streams are core's",
  stream: "streams are core's: withStream",
  synchronize: "streams are core's",
  get_active_memory: "memory is core's",
  get_peak_memory: "memory is core's",
  reset_peak_memory: "memory is core's",
  get_cache_memory: "memory is core's",
  set_memory_limit: "memory is core's",
  set_cache_limit: "memory is core's",
  set_wired_limit: "memory is core's",
  clear_cache: "memory is core's",
  from_dlpack: "taking in foreign memory has no source in JavaScript; the storage layer gives out",
  save: "files are io's",
  savez: "files are io's",
  savez_compressed: "files are io's",
  load: "files are io's",
  save_safetensors: "files are io's",
  save_gguf: "files are io's",
  eval: "evaluation is core's",
  async_eval: "evaluation is core's",
  jvp: "transforms have a floor of their own",
  vjp: "transforms have a floor of their own",
  value_and_grad: "transforms have a floor of their own",
  grad: "transforms have a floor of their own",
  vmap: "transforms have a floor of their own",
  compile: "transforms have a floor of their own",
  disable_compile: "transforms have a floor of their own",
  enable_compile: "transforms have a floor of their own",
  checkpoint: "transforms have a floor of their own",
  export_function: "exported graphs have a folder of their own",
  import_function: "exported graphs have a folder of their own",
  exporter: "exported graphs have a folder of their own",
  export_to_dot: "exported graphs have a folder of their own",
  set_printoptions: "printing is core's",
  get_printoptions: "printing is core's",
  printoptions: "printing is core's",
  "fast.precompiled_cuda_kernel": "mlx-c has no such function",
};

/**
 * C functions of the operations' headers that no public function needs. Coverage shows these reasons, so a line that
 * has become untrue is reported.
 */
export const internal: Readonly<Record<string, string>> = {
  mlx_copy: "arrays are immutable: Python has no such function",
  mlx_trace: "mlx_trace_axes with the default axes",
  mlx_linspace: "mlx_linspace_endpoint with endpoint = true",
  mlx_unstack: "mlx_unstack_axis with axis 0",
  mlx_random_bits: "Python has no such function",
  mlx_random_normal: "mlx_random_normal_broadcast with scalars",
};

const indexing = "indexing is made of it";
const kernels = "custom kernels are not operations on arrays";

/** C functions of these headers that are no operations by themselves but parts of something else; "*" ends a prefix. */
export const parts: Readonly<Record<string, string>> = {
  mlx_gather: indexing,
  mlx_gather_single: indexing,
  "mlx_scatter*": indexing,
  mlx_masked_scatter: indexing,
  mlx_number_of_elements: "what limits indices in a graph for all shapes",
  mlx_slice: indexing,
  mlx_slice_update: indexing,
  mlx_slice_update_add: indexing,
  mlx_slice_update_max: indexing,
  mlx_slice_update_min: indexing,
  mlx_slice_update_prod: indexing,
  "mlx_fast_cuda_kernel_*": kernels,
  "mlx_fast_metal_kernel_*": kernels,
};
