// What the operations that make, multiply, transform and draw arrays do, in our own words.

import type { Docs } from "./docs.ts";

const window = "Gives float32 of shape [M]; M below 1 gives an empty array.";
const shape = "shape is a list of lengths, or one number for a single axis. Throws an MlxError for a negative length.";
const conv =
  "The input is [N, ..., C_in], the weight [C_out, ..., C_in / groups]: channels come last. Both are floating-point. Throws an MlxError for sizes that do not go together.";
const packed =
  "The matrix is packed as `mx.quantize` packs it; groupSize, bits and mode must be those it was packed with.";
const square =
  "a is [..., n, n] of float32 or float64. Throws an MlxError for another shape or dtype. Runs on the CPU stream only.";
const matrix =
  "a is [..., m, n] of float32 or float64. Throws an MlxError for another shape or dtype. Runs on the CPU stream only.";
const norm = 'norm says where it is divided: "backward", "ortho" or "forward".';
const one = `Along one axis, cut or filled with zeros to n elements. Gives complex64. ${norm} Throws a RangeError for an axis that is out of range, an MlxError for n below 1.`;
const many = `Along the given axes, cut or filled with zeros to the lengths of s. Gives complex64. ${norm} Throws a RangeError for an axis that is out of range, a TypeError for s without axes.`;
const real =
  "The input counts as real: an imaginary part is dropped without a word. The last axis has n / 2 + 1 elements.";
const inverse = "The result is real. Without a length the last axis gets 2 * (length - 1) elements.";
const draws = "Without a key the global state is used and moves on.";

export const moreDocs: Docs = {
  zeros: ["An array of zeros.", shape],
  ones: ["An array of ones.", shape],
  zeros_like: ["Zeros in the shape of another array.", "Without a dtype the array's own."],
  ones_like: ["Ones in the shape of another array.", "Without a dtype the array's own."],
  full: [
    "An array filled with a value that broadcasts to its shape.",
    `${shape} Without a dtype a number gives float32, a bigint int64, a boolean bool, an Array its own. As in Python the dtype types a scalar weakly (2.5 beside int32 gives float32) and an Array keeps its own.`,
  ],
  full_like: [
    "An array in the shape of another, filled with a value that broadcasts to it.",
    "Without a dtype that of the array a.",
  ],
  eye: [
    "A matrix of n rows and m columns with ones on its k-th diagonal.",
    "m is n where it is null. Throws an MlxError for negative sizes.",
  ],
  identity: ["A square matrix with ones on its diagonal.", "Throws an MlxError for a negative size."],
  tri: [
    "A matrix of n rows and m columns with ones on and below its k-th diagonal.",
    "m is n where it is null. Throws an MlxError for negative sizes.",
  ],
  linspace: [
    "Evenly spaced numbers from start to stop.",
    "num of them; endpoint says whether stop is the last. Throws an MlxError for a negative num, a RangeError where an integer dtype cannot hold an element.",
  ],
  bartlett: ["The Bartlett window: a triangle.", window],
  hanning: ["The Hann window: a raised cosine.", window],
  hamming: ["The Hamming window: a raised cosine on a pedestal.", window],
  blackman: ["The Blackman window: a sum of three cosines.", window],
  matmul: [
    "The matrix product over the last two axes.",
    "The axes before them broadcast. A vector counts as a row on the left and as a column on the right. Throws an MlxError for shapes that do not fit, for scalars, and for integers.",
  ],
  addmm: [
    "alpha times the matrix product of a and b, plus beta times c.",
    "c broadcasts to the product. Throws an MlxError for shapes that do not fit.",
  ],
  inner: [
    "The sums of products over the last axis of both.",
    "Throws an MlxError where the last axes differ, and for integers.",
  ],
  outer: ["The products of all pairs of elements of two flattened arrays.", "The result is [a.size, b.size]."],
  vecdot: [
    "The sums of products along one axis.",
    "a is conjugated. The operands broadcast; throws an MlxError where they cannot, or for an axis that is out of range.",
  ],
  kron: ["The Kronecker product: each element of a times all of b.", "The lengths of each axis multiply."],
  tensordot: [
    "The sums of products over several axes.",
    "axes is how many: the last of a with the first of b; or a list of axes for each operand. Throws a TypeError for another form, an MlxError for lengths that differ.",
  ],
  block_masked_mm: [
    "A matrix product whose blocks may be masked out.",
    "blockSize is the length of a block's sides; Metal has 32 and 64. maskOut covers the blocks of the result, maskLhs and maskRhs those of the operands.",
  ],
  segmented_mm: [
    "Matrix products over segments of the inner axis.",
    "segments is [..., 2]: where each begins and ends.",
  ],
  gather_mm: [
    "Matrix products of matrices that are picked by index.",
    "lhsIndices and rhsIndices pick among the matrices of a and b; null takes them in order. sortedIndices says that they are sorted, which is faster.",
  ],
  hadamard_transform: [
    "The Walsh-Hadamard transform of the last axis.",
    "Its length is m * 2^k with m of 1, 12, 20 or 28. The default scale is 1 / sqrt(length). Throws an MlxError for another length.",
  ],
  convolve: [
    "The convolution of two vectors.",
    'mode "full" keeps all of it, "same" the length of the longer, "valid" where both overlap fully. Throws a RangeError for more than one axis and for empty operands, a TypeError for another mode.',
  ],
  conv1d: ["A convolution along one axis, without flipping the weight.", conv],
  conv2d: [
    "A convolution along two axes, without flipping the weight.",
    `stride, padding and dilation are one integer or a pair. ${conv}`,
  ],
  conv3d: [
    "A convolution along three axes, without flipping the weight.",
    `stride, padding and dilation are one integer or three. ${conv}`,
  ],
  conv_transpose1d: ["The transposed convolution along one axis.", conv],
  conv_transpose2d: [
    "The transposed convolution along two axes.",
    `stride, padding, dilation and outputPadding are one integer or a pair. ${conv}`,
  ],
  conv_transpose3d: [
    "The transposed convolution along three axes.",
    `stride, padding, dilation and outputPadding are one integer or three. ${conv}`,
  ],
  conv_general: [
    "A convolution along any number of axes, with dilation of the input too.",
    `stride, padding and the dilations are one integer or one for each axis; padding may also be a list for the beginnings and one for the ends. ${conv}`,
  ],
  quantized_matmul: ["The product of x with a quantized matrix.", `With transpose, with its transpose. ${packed}`],
  dequantize: ["The numbers of a quantized matrix.", packed],
  gather_qmm: [
    "Products with quantized matrices that are picked by index.",
    `lhsIndices and rhsIndices pick among the matrices of x and w; null takes them in order. ${packed}`,
  ],
  gather_qqmm: [
    "Products of x, quantized on the way, with quantized matrices that are picked by index.",
    `lhsIndices and rhsIndices pick among the matrices of x and w; null takes them in order. ${packed}`,
  ],
  qqmm: ["The product of x, quantized on the way, with a quantized matrix.", packed],
  depends: ["The same arrays, evaluated only after others.", "Gives an Array for an Array, a list for a list."],

  "linalg.norm": [
    "A norm of vectors or matrices.",
    'Without ord the 2-norm of the vectors, or of all elements where axis is null too. One axis means vectors, two mean matrices. ord is a number p, "fro" (or "f") or "nuc". Throws an MlxError for an order that does not go with the number of axes. Some orders of matrices run on the CPU stream only.',
  ],
  "linalg.qr": ["An orthogonal matrix Q and an upper triangular matrix R with a = QR.", matrix],
  "linalg.inv": ["The inverse of square matrices.", `${square} A singular matrix fails when the result is evaluated.`],
  "linalg.tri_inv": ["The inverse of triangular matrices, upper or lower.", square],
  "linalg.cholesky": [
    "A triangular matrix L with a = LL^T, or the upper one.",
    `${square} A matrix that is not positive definite gives meaningless numbers without an error.`,
  ],
  "linalg.cholesky_inv": [
    "The inverse of a matrix from its Cholesky factor.",
    `${square} upper says which factor it is.`,
  ],
  "linalg.pinv": ["The pseudo-inverse of matrices.", matrix],
  "linalg.cross": [
    "The cross product of vectors along an axis.",
    "The axis has 2 or 3 elements in the operands, which broadcast, and 3 in the result. Throws an MlxError for another length.",
  ],
  "linalg.eigvals": ["The eigenvalues of square matrices, as complex64.", square],
  "linalg.eig": ["The eigenvalues and, in columns, the eigenvectors of square matrices, as complex64.", square],
  "linalg.eigvalsh": [
    "The eigenvalues of symmetric matrices, in ascending order.",
    `UPLO says which triangle is read. ${square}`,
  ],
  "linalg.eigh": [
    "The eigenvalues, in ascending order, and the eigenvectors, in columns, of symmetric matrices.",
    `UPLO says which triangle is read. ${square}`,
  ],
  "linalg.lu": [
    "Row order, lower and upper matrix of the LU factorisation.",
    `The row order is uint32, one index for each row. ${matrix}`,
  ],
  "linalg.lu_factor": ["The LU factorisation in one matrix, and its row exchanges.", matrix],
  "linalg.solve": ["The solution x of ax = b.", `b is [..., n] or [..., n, k]. ${square}`],
  "linalg.solve_triangular": ["The solution x of ax = b for a triangular a, upper or lower.", square],
  "linalg.det": ["The determinant of square matrices.", square],
  "linalg.slogdet": ["The sign and the logarithm of the absolute value of the determinant.", square],

  "fft.fft": ["The discrete Fourier transform.", one],
  "fft.ifft": ["The inverse of the discrete Fourier transform.", one],
  "fft.rfft": ["The first half of the Fourier transform of real data.", `${real} ${one}`],
  "fft.irfft": [
    "Real data from the first half of its Fourier transform.",
    `${inverse} ${one.replace("complex64", "float32")}`,
  ],
  "fft.fft2": ["The Fourier transform over two axes.", many],
  "fft.ifft2": ["The inverse of the Fourier transform over two axes.", many],
  "fft.fftn": ["The Fourier transform over several axes, all by default.", many],
  "fft.ifftn": ["The inverse of the Fourier transform over several axes, all by default.", many],
  "fft.rfft2": ["Half of the Fourier transform of real data over two axes.", `${real} ${many}`],
  "fft.irfft2": [
    "Real data from half of its Fourier transform over two axes.",
    `${inverse} ${many.replace("complex64", "float32")}`,
  ],
  "fft.rfftn": ["Half of the Fourier transform of real data over several axes, all by default.", `${real} ${many}`],
  "fft.irfftn": [
    "Real data from half of its Fourier transform over several axes, all by default.",
    `${inverse} ${many.replace("complex64", "float32")}`,
  ],
  "fft.fftfreq": [
    "The frequencies that the elements of a transform of n samples stand for.",
    "In cycles per unit of d, the distance of the samples. Throws an MlxError for n below 1.",
  ],
  "fft.rfftfreq": [
    "The frequencies that the elements of a real transform of n samples stand for.",
    "In cycles per unit of d, the distance of the samples. Throws an MlxError for n below 1.",
  ],
  "fft.fftshift": ["Moves the zero frequency to the middle of the axes.", "All axes, or the given ones."],
  "fft.ifftshift": [
    "Moves the zero frequency from the middle of the axes back to their beginning.",
    "All axes, or the given ones.",
  ],

  "random.split": [
    "Independent keys from one.",
    "num of them, as a uint32 array of shape [num, 2]. Throws an MlxError for what is no key.",
  ],
  "random.uniform": [
    "Numbers evenly distributed from low to below high.",
    `The bounds broadcast to the shape; the dtype is float32, float16 or bfloat16. ${draws} Throws an MlxError for shapes or a dtype that do not fit.`,
  ],
  "random.normal": [
    "Normally distributed numbers of mean loc and standard deviation scale.",
    `Without them 0 and 1; Arrays broadcast to the shape. The dtype is floating-point or complex64. ${draws} Throws an MlxError for another.`,
  ],
  "random.multivariate_normal": [
    "Normally distributed vectors of a mean and a covariance matrix.",
    `mean is [..., n], cov [..., n, n]; the shape comes before n. float32 only, on the CPU stream only. ${draws}`,
  ],
  "random.randint": [
    "Integers evenly distributed from low to below high.",
    `The bounds broadcast to the shape; the dtype is an integer one. ${draws} Throws an MlxError for shapes or a dtype that do not fit, a RangeError for plain bounds that the dtype cannot hold.`,
  ],
  "random.bernoulli": [
    "True with probability p.",
    `p is floating-point and broadcasts to the shape, which is its own by default. Gives bool. ${draws} Throws an MlxError for other dtypes of p, also the integers 0 and 1.`,
  ],
  "random.truncated_normal": [
    "Normally distributed numbers between two bounds.",
    `The bounds broadcast to the shape, which is theirs by default. ${draws}`,
  ],
  "random.gumbel": ["Numbers of the standard Gumbel distribution.", draws],
  "random.categorical": [
    "Indices drawn with the probabilities of unnormalised logarithms.",
    `Along one axis of logits, which the result lacks; shape gives the whole shape of the result, numSamples draws along a new last axis, and both together throw a TypeError. Gives uint32. ${draws}`,
  ],
  "random.laplace": ["Numbers of the Laplace distribution around loc, of width scale.", draws],
  "random.permutation": [
    "The integers below x in random order, or the rows of an array.",
    `axis says what counts as a row. ${draws} Throws an MlxError for an axis that is out of range.`,
  ],

  "fast.rms_norm": [
    "Divides by the root of the mean square over the last axis, and multiplies by the weight.",
    "The weight has the length of the last axis, or is null. eps is added to the mean square. Throws an MlxError for another length.",
  ],
  "fast.layer_norm": [
    "Takes the mean away over the last axis, divides by the standard deviation, multiplies by the weight and adds the bias.",
    "Both have the length of the last axis, or are null. eps is added to the variance. Throws an MlxError for another length.",
  ],
  "fast.cross_entropy": [
    "The cross entropy of logits and target classes along the last axis.",
    "targets are class indices in the shape of the logits without their last axis.",
  ],
  "fast.rope": [
    "Rotates pairs of features by angles that grow with the position.",
    "a is [..., T, D]; the first dims features are rotated, neighbours with traditional, halves otherwise. Give base or freqs and leave the other null. offset is the position of the first row: an integer, or an Array with one for all or one for each batch. Throws an MlxError for shapes and dtypes that do not fit.",
  ],
  "fast.scaled_dot_product_attention": [
    "Softmax attention: each query takes the mean of the values, weighted by its likeness to the keys.",
    'q is [B, H, T, D], k and v are [B, H_kv, S, D] with H_kv dividing H. mask is "causal", an Array that is added or, of bool, says what is seen, or null. sinks adds a logit for each head that takes no value. Throws an MlxError for shapes that do not fit, a TypeError for another word.',
  ],
};
