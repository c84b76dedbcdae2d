// What the elementwise operations do, in our own words: a sentence, then shapes, dtypes and errors.

import type { Docs } from "./docs.ts";

const floats = "Keeps the shape. Integers and bool give float32.";
const keeps = "Keeps shape and dtype.";
const both =
  "The operands broadcast against each other and promote each other's dtype; a scalar takes the dtype beside it. Throws an MlxError for shapes that do not broadcast.";
const compares = `Gives bool. ${both}`;
const tests = "Keeps the shape and gives bool.";
const bits =
  "For integers and bool. The operands broadcast against each other and promote each other's dtype. Throws an MlxError for floats and for shapes that do not broadcast.";

export const elementwiseDocs: Docs = {
  abs: [
    "The absolute value of each element.",
    "Keeps the shape. complex64 gives its modulus in float32, other dtypes stay.",
  ],
  sign: [
    "The sign of each element: -1, 0 or 1.",
    "Keeps shape and dtype. A complex element is divided by its modulus.",
  ],
  positive: ["The array itself, as the unary plus.", keeps],
  negative: ["The negative of each element.", `${keeps} Throws an MlxError for bool.`],
  add: ["The sum of two arrays, element by element.", both],
  subtract: ["The difference of two arrays, element by element.", both],
  multiply: ["The product of two arrays, element by element.", both],
  divide: ["The quotient of two arrays, element by element.", `Integers give float32. ${both}`],
  divmod: [
    "The floored quotient and the remainder of a division, element by element.",
    `${both} Throws an MlxError for complex64.`,
  ],
  floor_divide: [
    "The quotient rounded down to an integer, element by element.",
    `${both} Throws an MlxError for complex64.`,
  ],
  remainder: [
    "The remainder of the floored division; of floats it has the sign of the divisor.",
    `${both} Throws an MlxError for complex64.`,
  ],
  power: ["The first operand to the power of the second, element by element.", `Integers stay integers. ${both}`],
  arctan2: [
    "The angle, in radians from -pi to pi, of the point with ordinate a and abscissa b.",
    "Integers give float32. The Arrays broadcast against each other and promote each other's dtype. Throws a TypeError for scalars, as Python does, and an MlxError for shapes that do not broadcast.",
  ],
  logaddexp: ["The logarithm of the sum of two exponentials, without overflow.", `Integers give float32. ${both}`],
  maximum: ["The larger of two elements; NaN where either is NaN.", both],
  minimum: ["The smaller of two elements; NaN where either is NaN.", both],
  equal: ["Whether two elements are equal.", compares],
  not_equal: ["Whether two elements differ.", compares],
  less: ["Whether an element of a is less than that of b.", compares],
  less_equal: ["Whether an element of a is at most that of b.", compares],
  greater: ["Whether an element of a is greater than that of b.", compares],
  greater_equal: ["Whether an element of a is at least that of b.", compares],
  array_equal: [
    "Whether two arrays have the same shape and equal elements.",
    "Gives one bool, false for different shapes. With equalNan, NaN equals NaN.",
  ],
  allclose: [
    "Whether all elements are close: |a - b| <= atol + rtol * |b|.",
    "Gives one bool. Infinities are close to themselves; NaN to NaN with equalNan. The operands broadcast; throws an MlxError where they cannot.",
  ],
  isclose: [
    "Whether each pair of elements is close: |a - b| <= atol + rtol * |b|.",
    "Gives bool. Infinities are close to themselves; NaN to NaN with equalNan. The operands broadcast; throws an MlxError where they cannot.",
  ],
  logical_not: ["The negation of each element as a truth value.", tests],
  logical_and: ["Whether both elements are true.", compares],
  logical_or: ["Whether one element is true.", compares],
  logical_xor: ["Whether exactly one element is true.", compares],
  bitwise_and: ["The bits that both elements have.", bits],
  bitwise_or: ["The bits that either element has.", bits],
  bitwise_xor: ["The bits that exactly one element has.", bits],
  bitwise_invert: ["Each element with all bits flipped; bool is negated.", `${keeps} Throws an MlxError for floats.`],
  left_shift: ["The bits of a moved left by b places.", `bool counts as uint8. ${bits}`],
  right_shift: ["The bits of a moved right by b places.", `bool counts as uint8. ${bits}`],
  trunc: ["Each element without its fraction.", `${keeps} Throws an MlxError for complex64.`],
  floor: ["Each element rounded down to an integer.", `${keeps} Throws an MlxError for complex64.`],
  ceil: ["Each element rounded up to an integer.", `${keeps} Throws an MlxError for complex64.`],
  round: [
    "Each element rounded to a number of decimals, halves to even.",
    "Keeps shape and dtype. Negative decimals round to tens, hundreds and so on. Throws a RangeError for decimals past 32 bits.",
  ],
  square: ["The square of each element.", keeps],
  sqrt: ["The square root of each element; NaN below zero.", floats],
  rsqrt: ["One divided by the square root of each element.", floats],
  reciprocal: ["One divided by each element.", floats],
  exp: ["The exponential of each element.", floats],
  expm1: ["The exponential less one, exact near zero.", `${floats} Throws an MlxError for complex64.`],
  log: ["The natural logarithm of each element.", floats],
  log2: ["The logarithm of each element to base 2.", floats],
  log10: ["The logarithm of each element to base 10.", floats],
  log1p: ["The natural logarithm of one plus each element, exact near zero.", floats],
  erf: ["The error function of each element.", `${floats} Throws an MlxError for complex64.`],
  erfinv: [
    "The inverse of the error function, for elements between -1 and 1.",
    `${floats} Throws an MlxError for complex64.`,
  ],
  sigmoid: ["The logistic function 1 / (1 + exp(-a)).", `${floats} Throws an MlxError for complex64.`],
  sin: ["The sine of each element in radians.", floats],
  cos: ["The cosine of each element in radians.", floats],
  tan: ["The tangent of each element in radians.", floats],
  arcsin: ["The angle in radians whose sine is the element.", floats],
  arccos: ["The angle in radians whose cosine is the element.", floats],
  arctan: ["The angle in radians whose tangent is the element.", floats],
  sinh: ["The hyperbolic sine of each element.", floats],
  cosh: ["The hyperbolic cosine of each element.", floats],
  tanh: ["The hyperbolic tangent of each element.", floats],
  arcsinh: ["The inverse hyperbolic sine of each element.", floats],
  arccosh: ["The inverse hyperbolic cosine of each element.", floats],
  arctanh: ["The inverse hyperbolic tangent of each element.", floats],
  degrees: ["Angles from radians to degrees.", floats],
  radians: ["Angles from degrees to radians.", floats],
  isnan: ["Whether each element is NaN.", tests],
  isinf: ["Whether each element is an infinity.", tests],
  isfinite: ["Whether each element is neither infinite nor NaN.", tests],
  isposinf: ["Whether each element is positive infinity.", tests],
  isneginf: ["Whether each element is negative infinity.", tests],
  conjugate: ["The complex conjugate of each element.", keeps],
  real: ["The real part of each element.", "Keeps the shape; complex64 gives float32, other dtypes stay."],
  imag: ["The imaginary part of each element.", "Keeps the shape; complex64 gives float32, real dtypes give zeros."],
  stop_gradient: ["The same values, through which no gradient flows.", keeps],
  nan_to_num: [
    "NaN and infinities replaced by numbers.",
    "Keeps shape and dtype. Without posinf and neginf the infinities become the dtype's largest and smallest numbers.",
  ],
  clip: [
    "Each element limited to a range.",
    "The bounds broadcast against the array; scalar bounds take its dtype. Either bound may be null, and a TypeError is thrown when both are.",
  ],
  where: [
    "Elements of x where the condition is true, of y elsewhere.",
    "All three broadcast against each other. x and y promote each other's dtype, and a scalar takes the dtype beside it. Throws an MlxError for shapes that do not broadcast.",
  ],
  astype: [
    "The elements in another dtype.",
    "Keeps the shape. Floats lose their fraction on the way to integers. Throws a TypeError for what is no dtype.",
  ],
  view: [
    "The same bytes read as another dtype.",
    "The last axis grows or shrinks with the size of an element. Throws an MlxError where it cannot.",
  ],
  to_fp8: [
    "The elements as 8-bit floats (e4m3), stored in uint8.",
    "Keeps the shape. Throws an MlxError for integers and complex64.",
  ],
  from_fp8: [
    "Numbers from 8-bit floats (e4m3) stored in uint8.",
    "Keeps the shape. Throws an MlxError for another dtype than uint8.",
  ],
};
