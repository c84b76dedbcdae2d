// What the operations on shapes, orders and sums do, in our own words.

import type { Docs } from "./docs.ts";

const axis = "axis counts from the end where it is negative; an MlxError says when it is out of range.";
const reduces =
  "Over all elements by default, over one axis or a list of axes otherwise; keepDims leaves those axes with length 1. An axis may be negative. Throws an MlxError for an axis that is out of range or named twice.";
const scans =
  "Along one axis, or over the flat array without one. reverse runs from the end; without inclusive each place leaves itself out. Throws an MlxError for an axis that is out of range.";
const sorts =
  "Along the last axis by default, or over the flat array where axis is null. Throws an MlxError for an axis that is out of range.";
const empty = "An empty array gives an MlxError.";

export const shapeDocs: Docs = {
  reshape: [
    "The same elements in another shape, in row-major order.",
    "One length may be -1: it is what is left. Throws an MlxError where the number of elements does not fit, a RangeError for lengths that are no 32-bit integers.",
  ],
  flatten: [
    "Merges the axes from startAxis to endAxis into one.",
    `Both count from the end where negative; an MlxError says when they are out of range or in the wrong order.`,
  ],
  unflatten: ["Splits one axis into several.", `One length of shape may be -1. ${axis}`],
  squeeze: [
    "Removes axes of length 1: all of them, or the given ones.",
    "Throws an MlxError for an axis that is longer or out of range.",
  ],
  expand_dims: [
    "Inserts axes of length 1.",
    "axis says where they are in the result. Throws an MlxError for places that are out of range or named twice.",
  ],
  flip: ["Reverses the order of the elements along all axes, or the given ones.", `Keeps shape and dtype. ${axis}`],
  unstack: ["Splits an array along an axis into arrays without it.", axis],
  moveaxis: [
    "Moves one axis to another place; the others keep their order.",
    "Both count from the end where negative; an MlxError says when they are out of range.",
  ],
  swapaxes: [
    "Exchanges two axes.",
    "Both count from the end where negative; an MlxError says when they are out of range.",
  ],
  transpose: [
    "Reorders the axes; reverses them by default.",
    "axes names each axis once. Throws an MlxError where it does not.",
  ],
  broadcast_to: [
    "The array repeated along axes of length 1 to a larger shape, without copying.",
    "Throws an MlxError for a shape that it does not broadcast to.",
  ],
  concatenate: [
    "Joins arrays along an existing axis; flattens them first where axis is null.",
    "The other axes must agree; dtypes promote each other. Throws an MlxError for shapes that do not, and an error for an axis that is out of range, also with one array.",
  ],
  stack: [
    "Joins arrays of the same shape along a new axis.",
    "Throws an MlxError for different shapes, an empty list, or an axis that is out of range.",
  ],
  split: [
    "Cuts an array along an axis: into equal parts, or at the given indices.",
    "A number must divide the axis. Throws an MlxError where it does not, or for an axis that is out of range.",
  ],
  repeat: [
    "Repeats each element along an axis, or of the flat array without one.",
    "Throws an MlxError for a negative number of repeats.",
  ],
  tile: [
    "Repeats the whole array along its axes.",
    "A number of repetitions for the last axis, or one for each; axes are added in front where there are more.",
  ],
  roll: [
    "Shifts the elements along axes; those that leave at one end enter at the other.",
    "Without an axis the flat array is shifted. One shift goes for all axes of a list. Throws an MlxError for an axis that is out of range.",
  ],
  pad: [
    "Adds elements at the ends of the axes.",
    "padWidth is one number for all ends, [before, after] for all axes, or such a pair for each axis; none may be negative. constantValues takes the dtype of the array. Throws a TypeError for another form, an MlxError for widths that do not fit the mode.",
  ],
  as_strided: [
    "A view of the elements by strides, which are counted in elements.",
    "An array that is not in row-major order is copied first. Without strides the view is in row-major order. Throws a RangeError for a view that reaches outside of the array.",
  ],
  contiguous: [
    "The array in row-major order in memory; copied only where it is not.",
    "With allowColMajor, column-major order counts as well.",
  ],
  diagonal: [
    "The elements on a diagonal of two axes.",
    "The diagonal becomes the last axis. offset moves it up (positive) or down. Throws an MlxError for fewer than two axes, or axes that are the same.",
  ],
  diag: [
    "A matrix with a vector on its diagonal, or the diagonal of a matrix.",
    "k moves the diagonal up (positive) or down. Throws an MlxError for more than two axes.",
  ],
  trace: [
    "The sum of the elements on a diagonal of two axes.",
    "Without a dtype the sum is of the array's own, as `mx.sum` gives it. Throws an MlxError for fewer than two axes.",
  ],
  tril: [
    "The array with zeros above the k-th diagonal of its last two axes.",
    "Keeps shape and dtype. Throws an MlxError for fewer than two axes.",
  ],
  triu: [
    "The array with zeros below the k-th diagonal of its last two axes.",
    "Keeps shape and dtype. Throws an MlxError for fewer than two axes.",
  ],
  slice: [
    "A part of the array whose start is itself an array.",
    "startIndices has a start for each of axes; sliceSize has a length for each axis of a. Plain starts out of range throw a RangeError; those in an Array are moved so that the part lies inside.",
  ],
  slice_update: [
    "The array with a part replaced whose start is itself an array.",
    "startIndices has a start for each of axes. The update takes the dtype of the array where it is a scalar. Plain starts out of range throw a RangeError; those in an Array are moved so that the part lies inside.",
  ],
  take: [
    "The elements at the given places along an axis, or of the flat array without one.",
    "The indices' axes replace the axis. Negative indices count from the end. An index out of range throws a RangeError; in an Array that is yet to be computed it is limited to the axis.",
  ],
  take_along_axis: [
    "One element for each index, along one axis of arrays of the same number of axes.",
    "Without an axis the flat array is taken. An index out of range throws a RangeError; in an Array that is yet to be computed it is limited to the axis.",
  ],
  put_along_axis: [
    "The array with values put at the given places along one axis.",
    "The values broadcast to the indices and take the dtype of the array; without an axis the flat array is meant. An index out of range throws a RangeError; in an Array that is yet to be computed it is limited to the axis.",
  ],
  searchsorted: [
    "Where values would be inserted into a sorted sequence to keep it sorted.",
    "The sequence has one axis; the result is uint32 with the shape of the values. side says on which side of equal elements. Throws an MlxError for a sequence of more axes.",
  ],
  sum: ["The sum of the elements.", `bool and small integers give int32 or uint32. ${reduces}`],
  prod: ["The product of the elements.", `bool and small integers give int32 or uint32. ${reduces}`],
  mean: ["The mean of the elements.", `Integers give float32. ${reduces}`],
  median: [
    "The middle element in order, or the mean of the two middle ones.",
    `Integers give float32. ${reduces} ${empty}`,
  ],
  var: [
    "The variance of the elements: the mean squared distance from the mean.",
    `The sum is divided by the count less ddof. Integers give float32. ${reduces}`,
  ],
  std: [
    "The standard deviation of the elements: the root of the variance.",
    `The sum is divided by the count less ddof. Integers give float32. ${reduces}`,
  ],
  min: ["The smallest element; NaN where one is NaN.", `${reduces} ${empty}`],
  max: ["The largest element; NaN where one is NaN.", `${reduces} ${empty}`],
  all: ["Whether all elements are true.", `Gives bool. ${reduces}`],
  any: ["Whether one element is true.", `Gives bool. ${reduces}`],
  count_nonzero: ["How many elements are not zero.", `Gives int32. ${reduces}`],
  logsumexp: ["The logarithm of the sum of the exponentials, without overflow.", `Integers give float32. ${reduces}`],
  softmax: [
    "Exponentials divided by their sum, without overflow.",
    "Over all elements by default, over one axis or a list of axes otherwise. precise computes 16-bit floats in float32. Integers give float32. Throws an MlxError for an axis that is out of range or named twice.",
  ],
  argmin: [
    "The index of the smallest element, as uint32.",
    `Of the flat array, or along one axis; keepDims leaves it with length 1. ${empty}`,
  ],
  argmax: [
    "The index of the largest element, as uint32.",
    `Of the flat array, or along one axis; keepDims leaves it with length 1. ${empty}`,
  ],
  cumsum: ["The sums of the elements so far.", scans],
  cumprod: ["The products of the elements so far.", scans],
  cummax: ["The largest of the elements so far.", scans],
  cummin: ["The smallest of the elements so far.", scans],
  logcumsumexp: ["The logarithms of the sums of the exponentials so far.", scans],
  diff: [
    "The differences of neighbouring elements, taken n times.",
    "The axis gets shorter by n. Throws an MlxError for a negative n, or an array without axes.",
  ],
  sort: ["The elements in ascending order, NaN last.", sorts],
  argsort: ["The indices, as uint32, that put the elements in ascending order.", sorts],
  partition: ["The elements with the kth in its sorted place, smaller ones before it and larger ones behind.", sorts],
  argpartition: ["The indices, as uint32, of `mx.partition`.", sorts],
  topk: ["The k largest elements, in no particular order.", sorts],
};
