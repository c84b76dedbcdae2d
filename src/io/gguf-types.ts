/** The numbers of the GGUF format: kinds of metadata values and of tensors. Facts of the format, no code. */

/** Kinds of metadata values by their number in the file. */
export const valueTypes = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "bool",
  "string",
  "array",
  "uint64",
  "int64",
  "float64",
] as const;

/** The kind of a metadata value, or of its elements. */
export type GgufValueType = Exclude<(typeof valueTypes)[number], "array">;

/** Bytes of one element; a string has at least its length field. */
export const valueBytes: Readonly<Record<GgufValueType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  bool: 1,
  string: 8,
  uint64: 8,
  int64: 8,
  float64: 8,
};

/** How a kind of tensor is stored, and what MLX makes of it. */
export interface GgufTensorType {
  readonly name: string;
  /** Weights of one block, along the last axis. */
  readonly weights: number;
  /** Bytes of one block. */
  readonly bytes: number;
  /**
   * What MLX's reader gives: the values as they are, a quantized triple (weight, scales, biases), the values as
   * float16, or nothing ("refused": it fails, loses the tensor without a word, or ends the process).
   */
  readonly loads: "as is" | "quantized" | "float16" | "refused";
}

const type = (name: string, weights: number, bytes: number, loads: GgufTensorType["loads"]): GgufTensorType => ({
  name,
  weights,
  bytes,
  loads,
});

/** Kinds of tensors by their number in the file. Numbers that are missing were withdrawn from the format. */
export const tensorTypes: ReadonlyMap<number, GgufTensorType> = new Map([
  [0, type("F32", 1, 4, "as is")],
  [1, type("F16", 1, 2, "as is")],
  [2, type("Q4_0", 32, 18, "quantized")],
  [3, type("Q4_1", 32, 20, "quantized")],
  [6, type("Q5_0", 32, 22, "refused")],
  [7, type("Q5_1", 32, 24, "refused")],
  [8, type("Q8_0", 32, 34, "quantized")],
  [9, type("Q8_1", 32, 36, "refused")],
  [10, type("Q2_K", 256, 84, "float16")],
  [11, type("Q3_K", 256, 110, "refused")],
  [12, type("Q4_K", 256, 144, "float16")],
  [13, type("Q5_K", 256, 176, "refused")],
  [14, type("Q6_K", 256, 210, "float16")],
  [15, type("Q8_K", 256, 292, "refused")],
  [16, type("IQ2_XXS", 256, 66, "refused")],
  [17, type("IQ2_XS", 256, 74, "refused")],
  [18, type("IQ3_XXS", 256, 98, "refused")],
  [19, type("IQ1_S", 256, 50, "refused")],
  [20, type("IQ4_NL", 32, 18, "refused")],
  [21, type("IQ3_S", 256, 110, "refused")],
  [22, type("IQ2_S", 256, 82, "refused")],
  [23, type("IQ4_XS", 256, 136, "refused")],
  [24, type("I8", 1, 1, "as is")],
  [25, type("I16", 1, 2, "as is")],
  [26, type("I32", 1, 4, "as is")],
  [27, type("I64", 1, 8, "refused")],
  [28, type("F64", 1, 8, "refused")],
  [29, type("IQ1_M", 256, 56, "refused")],
  [30, type("BF16", 1, 2, "float16")],
  [34, type("TQ1_0", 256, 54, "refused")],
  [35, type("TQ2_0", 256, 66, "refused")],
  [39, type("MXFP4", 32, 17, "refused")],
]);
