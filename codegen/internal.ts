// Functions that are bound and callable through mlx-ts/ffi, and that the public API has no need of: each with its
// reason. A pattern that matches only functions which the API does reach is reported as stale.

/** Patterns over the whole name, tried in order, the first match wins. */
export const internalReasons: readonly { pattern: RegExp; reason: string }[] = [
  {
    pattern: /^mlx_array_(item|data)_b?float16$/,
    reason: "missing on x86-64; the API reads 16-bit floats through the uint16 accessors everywhere",
  },
];
