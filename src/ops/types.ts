/** Types of arguments that several operations share. */

/** How many elements to add: before and after every axis alike, (before, after) for every axis, or a pair for each. */
export type PadWidth = number | readonly [number] | readonly [number, number] | readonly (readonly [number, number])[];

/** What padding is filled with: a value, the edge element, or the array mirrored without or with its edge. */
export type PadMode = "constant" | "edge" | "reflect" | "symmetric";

/** Which part of a convolution is kept: all of it, the length of the longer operand, or where both overlap fully. */
export type ConvolveMode = "full" | "same" | "valid";

/** Where a Fourier transform is divided: by n on the way back, by the root of n on both, by n on the way there. */
export type FftNorm = "backward" | "ortho" | "forward";

/** The order of a norm: a p-norm by number, the Frobenius norm ("fro", "f") or the nuclear norm ("nuc") by name. */
export type NormOrder = number | "fro" | "f" | "nuc";

/** Which triangle of a symmetric matrix is read. */
export type Triangle = "L" | "U";

/** The formats of quantized matrices. */
export type QuantizationMode = "affine" | "mxfp4" | "mxfp8" | "nvfp4";

/** How many axes to contract, or the axes of each operand. */
export type TensordotAxes = number | readonly [readonly number[], readonly number[]];
