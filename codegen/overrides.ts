// The exceptions to the rules of rules.ts, each with its reason. Nothing else about an operation is kept by hand:
// names, order, defaults and keyword-only come from python-api.json, the native calls from the headers.

import type { Override } from "./override.ts";

const quantized = { mode: { type: "QuantizationMode" } } as const;
const lastTwoOrAll = "absent lengths and axes come from the shape, which mlx-c wants spelled out";
const fftOne = {
  body: "fft.ts",
  reason: "an absent n is the axis's own length, which mlx-c wants spelled out",
} as const;
const fftMany = { body: "fft.ts", reason: lastTwoOrAll } as const;
const norm = { norm: { type: "FftNorm" } } as const;
const upperLower = { UPLO: { type: "Triangle" } } as const;
const varargs = "takes any number of arrays before the options";
const dividing = "an integer divided by zero ends the process in MLX";
const scanning = "MLX ends the process at an empty array";
const scan = { guard: { call: "emptyScan", params: ["axis", "null"] }, reason: scanning } as const;
const typedScan = { guard: { call: "emptyScan", params: ["axis", "dtype"] }, reason: scanning } as const;
const sorting = { guard: { call: "emptySort", params: ["axis"] }, reason: scanning } as const;
const convolving = {
  checks: [
    ["nonEmpty", "weight"],
    ["atLeastOne", "groups"],
  ],
  reason: "MLX ends the process without groups or channels",
} as const;
const counting = "MLX ends the process at matrices whose elements it cannot count in 32 bits";
const factoring = {
  checks: [
    ["nonEmpty", "a"],
    ["countable", "a"],
  ],
  reason: `${scanning}; ${counting}`,
} as const;
const counted = { checks: [["countable", "a"]], reason: counting } as const;
const shaping = {
  params: { shape: { lengths: true } },
  reason: "MLX takes lengths below -1 for real, and divides by those that are 0",
} as const;
const picking = "plain indices are bounds-checked and empty operands refused, which MLX does not do";
const dtypeLogic = "plain arithmetic on dtypes, which mlx-c does not export";

export const overrides: Readonly<Record<string, Override>> = {
  // creation
  arange: { whole: "arange.ts", native: ["mlx_arange"], reason: "two signatures, and a dtype that follows the bounds" },
  linspace: {
    body: "create.ts",
    native: ["mlx_linspace_endpoint"],
    reason: "MLX wraps elements that an integer dtype cannot hold; mlx_linspace is the case endpoint = true",
    params: { start: { type: "number" }, stop: { type: "number" }, num: { nullable: false } },
  },
  full: {
    body: "create.ts",
    native: ["mlx_full"],
    reason: "the dtype types a scalar weakly and is ignored beside an array, as in Python",
  },
  full_like: { body: "create.ts", native: ["mlx_full_like"], reason: "a scalar is typed by the dtype or by the array" },
  eye: { body: "create.ts", native: ["mlx_eye"], reason: "m is n where absent" },
  tri: {
    body: "create.ts",
    native: ["mlx_tri"],
    reason: "m is n where absent; the stub leaves out the defaults of m, k and dtype",
    params: { m: { default: "null", nullable: true }, k: { default: "0" }, dtype: { default: '"float32"' } },
  },
  tril: { reason: "the stub leaves out k's default", params: { k: { default: "0" } } },
  triu: { reason: "the stub leaves out k's default", params: { k: { default: "0" } } },
  asarray: { whole: "asarray.ts", native: [], reason: "makes an array of host data, which is core's work" },

  // shapes
  reshape: shaping,
  unflatten: shaping,
  diagonal: {
    body: "diagonal.ts",
    native: ["mlx_diagonal"],
    reason: "a diagonal outside of the array has strides in MLX that make a later sum run for ever",
  },
  permute_dims: { alias: "transpose", reason: "the same function in Python" },
  concat: { alias: "concatenate", reason: "the same function in Python" },
  conj: { alias: "conjugate", reason: "the same function in Python" },
  concatenate: {
    body: "join.ts",
    native: ["mlx_concatenate", "mlx_concatenate_axis"],
    reason: "MLX does not check the axis of a single array",
  },
  as_strided: {
    body: "strided.ts",
    native: ["mlx_as_strided"],
    reason: "absent shape and strides come from the array, and MLX does not check that the view stays inside it",
  },
  meshgrid: { whole: "varargs.ts", native: ["mlx_meshgrid"], reason: varargs },
  broadcast_arrays: { whole: "varargs.ts", native: ["mlx_broadcast_arrays"], reason: varargs },
  atleast_1d: { whole: "varargs.ts", native: ["mlx_atleast_1d"], reason: varargs },
  atleast_2d: { whole: "varargs.ts", native: ["mlx_atleast_2d"], reason: varargs },
  atleast_3d: { whole: "varargs.ts", native: ["mlx_atleast_3d"], reason: varargs },
  einsum: { whole: "varargs.ts", native: ["mlx_einsum"], reason: varargs },
  einsum_path: { whole: "einsum-path.ts", native: [], reason: "plain numbers, which mlx-c leaves out" },
  depends: {
    body: "join.ts",
    native: ["mlx_depends"],
    reason: "takes one array or a list on both sides, and gives back the form that it got",
    returns: "MxArray | MxArray[]",
    params: {
      inputs: { type: "MxArray | readonly MxArray[]" },
      dependencies: { type: "MxArray | readonly MxArray[]" },
    },
  },
  pad: {
    body: "pad.ts",
    native: ["mlx_pad", "mlx_pad_symmetric"],
    reason: "the width has four forms",
    params: { pad_width: { type: "PadWidth" }, mode: { type: "PadMode" } },
  },
  roll: {
    body: "roll.ts",
    native: ["mlx_roll", "mlx_roll_axis", "mlx_roll_axes"],
    reason: "shift and axis are each an integer or a list, in every mixture",
  },
  slice: {
    body: "slice.ts",
    native: ["mlx_slice_dynamic"],
    reason: "Python's slice is the dynamic one; plain starts are bounds-checked, which MLX does not do",
    params: { start_indices: { index: true } },
  },
  slice_update: {
    body: "slice.ts",
    native: ["mlx_slice_update_dynamic"],
    reason: "Python's slice_update is the dynamic one; plain starts are bounds-checked, which MLX does not do",
    params: { start_indices: { index: true } },
  },

  // selecting
  take: {
    body: "take.ts",
    native: ["mlx_take", "mlx_take_axis"],
    reason: "plain integers are bounds-checked, which MLX does not do",
    params: { indices: { type: "IndexInput" } },
  },
  take_along_axis: {
    body: "take.ts",
    native: ["mlx_take_along_axis"],
    reason: "an absent axis works on the flat array, which mlx-c leaves to the caller",
    params: { indices: { type: "IndexInput" } },
  },
  put_along_axis: {
    body: "take.ts",
    native: ["mlx_put_along_axis"],
    reason: "an absent axis works on the flat array, which mlx-c leaves to the caller",
    params: { indices: { type: "IndexInput" } },
  },
  clip: {
    body: "select.ts",
    native: ["mlx_clip"],
    reason: "the bounds are typed by the array, and one of them must be there",
  },
  where: {
    body: "select.ts",
    native: ["mlx_where"],
    reason: "three operands of which the last two are typed by each other",
  },
  searchsorted: { reason: "the side is one of two words", params: { side: { type: '"left" | "right"' } } },

  // scans and orders
  diff: { body: "diff.ts", native: ["mlx_diff"], reason: "MLX repeats its work n times, however short the axis is" },
  cumsum: typedScan,
  cumprod: typedScan,
  cummax: scan,
  cummin: scan,
  logcumsumexp: scan,
  sort: sorting,
  argsort: sorting,

  // products
  tensordot: {
    body: "tensordot.ts",
    native: ["mlx_tensordot", "mlx_tensordot_axis"],
    reason: "axes is a number or two lists",
    params: { axes: { type: "TensordotAxes" } },
  },
  convolve: {
    body: "convolve.ts",
    native: [],
    reason: "mlx-c has no such function; Python composes it of conv_general",
    params: { mode: { type: "ConvolveMode" } },
  },
  conv1d: convolving,
  conv2d: convolving,
  conv3d: convolving,
  conv_transpose1d: convolving,
  conv_transpose2d: convolving,
  conv_transpose3d: convolving,
  conv_general: {
    body: "convolve.ts",
    native: ["mlx_conv_general"],
    reason: "the padding may differ at the two ends",
    params: { padding: { type: "number | readonly number[] | readonly [readonly number[], readonly number[]]" } },
  },
  trace: { body: "diagonal.ts", native: ["mlx_trace_axes"], reason: "an absent dtype is the array's own" },
  gather_mm: {
    body: "gather.ts",
    native: ["mlx_gather_mm"],
    reason: picking,
    params: {
      lhs_indices: { type: "IndexInput", default: "null", nullable: true },
      rhs_indices: { type: "IndexInput", default: "null", nullable: true },
    },
  },
  gather_qmm: {
    body: "gather.ts",
    native: ["mlx_gather_qmm"],
    reason: picking,
    params: { ...quantized, lhs_indices: { type: "IndexInput" }, rhs_indices: { type: "IndexInput" } },
  },
  gather_qqmm: {
    body: "gather.ts",
    native: ["mlx_gather_qqmm"],
    reason: picking,
    params: { ...quantized, lhs_indices: { type: "IndexInput" }, rhs_indices: { type: "IndexInput" } },
  },
  segmented_mm: {
    body: "gather.ts",
    native: ["mlx_segmented_mm"],
    reason: picking,
    params: { segments: { type: "IndexInput" } },
  },
  quantize: {
    whole: "quantize.ts",
    native: ["mlx_quantize"],
    reason: "the number of results follows the mode, which the types say",
  },
  dequantize: { reason: "the modes are four words", params: quantized },
  quantized_matmul: {
    reason: "the modes are four words; MLX ends the process at empty operands and reads past scales of fewer rows",
    checks: [
      ["nonEmpty", "x"],
      ["nonEmpty", "w"],
      ["sameRows", "scales", "w"],
      ["sameRows", "biases", "w"],
    ],
    params: quantized,
  },
  qqmm: {
    reason:
      "the modes are four words, one of which MLX reads outside of its arrays for; it reads past scales of fewer rows",
    checks: [
      ["blockMode", "mode"],
      ["nonEmpty", "x"],
      ["nonEmpty", "w"],
      ["sameRows", "scales", "w"],
    ],
    params: quantized,
  },

  // elementwise
  divmod: { body: "division.ts", native: ["mlx_divmod"], reason: dividing, returns: "[MxArray, MxArray]" },
  floor_divide: { body: "division.ts", native: ["mlx_floor_divide"], reason: dividing },
  remainder: { body: "division.ts", native: ["mlx_remainder"], reason: dividing },

  // dtypes and shapes without arrays
  issubdtype: { whole: "dtypes.ts", native: [], reason: dtypeLogic },
  isdtype: { whole: "dtypes.ts", native: [], reason: dtypeLogic },
  can_cast: { whole: "dtypes.ts", native: [], reason: dtypeLogic },
  result_type: { whole: "dtypes.ts", native: [], reason: dtypeLogic },
  broadcast_shapes: {
    whole: "dtypes.ts",
    native: [],
    reason: "plain arithmetic on shapes, which mlx-c does not export",
  },

  arctan2: {
    body: "arctan2.ts",
    native: ["mlx_arctan2"],
    reason: "Python's takes arrays alone and refuses scalars",
    params: { a: { type: "MxArray" }, b: { type: "MxArray" } },
  },

  // linalg
  "linalg.norm": {
    body: "norm.ts",
    native: ["mlx_linalg_norm", "mlx_linalg_norm_matrix", "mlx_linalg_norm_l2"],
    reason: "ord is absent, a number or a word, each a C function of its own",
    params: { ord: { type: "NormOrder" } },
  },
  "linalg.svd": {
    whole: "svd.ts",
    native: ["mlx_linalg_svd"],
    reason: "gives one array instead of three without computeUv, which the types say",
  },
  "linalg.inv": factoring,
  "linalg.tri_inv": factoring,
  "linalg.cholesky_inv": factoring,
  "linalg.lu_factor": factoring,
  "linalg.solve": factoring,
  "linalg.solve_triangular": factoring,
  "linalg.lu": {
    ...factoring,
    reason: "empty arrays end the process; and there are always three results",
    returns: "[MxArray, MxArray, MxArray]",
  },
  "linalg.cholesky": counted,
  "linalg.det": counted,
  "linalg.eig": counted,
  "linalg.eigvals": counted,
  "linalg.eigvalsh": { ...counted, reason: `UPLO is one of two letters; ${counting}`, params: upperLower },
  "linalg.eigh": { ...counted, reason: `UPLO is one of two letters; ${counting}`, params: upperLower },
  "linalg.pinv": { checks: [["countableFactors", "a"]], reason: counting },
  "linalg.qr": counted,
  "linalg.slogdet": counted,

  // fft
  "fft.fft": { ...fftOne, native: ["mlx_fft_fft"], params: norm },
  "fft.ifft": { ...fftOne, native: ["mlx_fft_ifft"], params: norm },
  "fft.rfft": { ...fftOne, native: ["mlx_fft_rfft"], params: norm },
  "fft.irfft": { ...fftOne, native: ["mlx_fft_irfft"], params: norm },
  "fft.fft2": { ...fftMany, native: ["mlx_fft_fft2"], params: norm },
  "fft.ifft2": { ...fftMany, native: ["mlx_fft_ifft2"], params: norm },
  "fft.rfft2": { ...fftMany, native: ["mlx_fft_rfft2"], params: norm },
  "fft.irfft2": { ...fftMany, native: ["mlx_fft_irfft2"], params: norm },
  "fft.fftn": { ...fftMany, native: ["mlx_fft_fftn"], params: norm },
  "fft.ifftn": { ...fftMany, native: ["mlx_fft_ifftn"], params: norm },
  "fft.rfftn": { ...fftMany, native: ["mlx_fft_rfftn"], params: norm },
  "fft.irfftn": { ...fftMany, native: ["mlx_fft_irfftn"], params: norm },
  "fft.fftshift": { ...fftMany, native: ["mlx_fft_fftshift"] },
  "fft.ifftshift": { ...fftMany, native: ["mlx_fft_ifftshift"] },

  // random
  "random.randint": {
    body: "random.ts",
    native: ["mlx_random_randint"],
    reason: "MLX wraps bounds that the dtype cannot hold",
  },
  "random.seed": {
    whole: "random-state.ts",
    native: ["mlx_random_seed", "mlx_random_split"],
    reason: "a 64-bit seed and no array: the global state is kept beside it, and split for each use",
  },
  "random.key": { whole: "random-state.ts", native: ["mlx_random_key"], reason: "a 64-bit seed, and no stream" },
  "random.split": {
    c: "mlx_random_split_num",
    reason: "Python gives one array of num keys; mlx_random_split gives two arrays",
  },
  "random.normal": {
    c: "mlx_random_normal_broadcast",
    reason: "loc and scale may be arrays; mlx_random_normal takes numbers only",
  },
  "random.bernoulli": { body: "random.ts", native: ["mlx_random_bernoulli"], reason: "an absent shape is p's own" },
  "random.truncated_normal": {
    body: "random.ts",
    native: ["mlx_random_truncated_normal"],
    reason: "an absent shape is that of the bounds together",
  },
  "random.categorical": {
    body: "random.ts",
    native: ["mlx_random_categorical", "mlx_random_categorical_shape", "mlx_random_categorical_num_samples"],
    reason: "shape and num_samples exclude each other, each a C function of its own",
  },
  "random.permutation": {
    body: "random.ts",
    native: ["mlx_random_permutation", "mlx_random_permutation_arange"],
    reason: "an integer means a permuted range, an array its rows",
    params: { x: { type: "number | MxArray" } },
  },

  // fast
  "fast.rope": {
    body: "attention.ts",
    native: ["mlx_fast_rope", "mlx_fast_rope_dynamic"],
    reason: "the offset is an integer or an array, each a C function of its own",
    params: { offset: { type: "number | MxArray" } },
  },
  "fast.metal_kernel": { whole: "kernels.ts", native: [], reason: "gives a function, made of source text" },
  "fast.cuda_kernel": { whole: "kernels.ts", native: [], reason: "gives a function, made of source text" },
  "fast.scaled_dot_product_attention": {
    body: "attention.ts",
    native: ["mlx_fast_scaled_dot_product_attention"],
    reason: "the mask is a word or an array",
    params: { mask: { type: '"causal" | MxArray' } },
  },
};
