// mx.linalg, mx.fft, mx.random and mx.fast, against constants of Python MLX 0.32.2.
import { expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";
import { expectNear, pairs } from "./near.ts";

const a23 = (): mx.Array =>
  mx.array([
    [1, 2, 3],
    [4, 5, 6],
  ]);
const x4 = (): mx.Array => mx.array([1, 2, 3, 4]);

scoped("norm: no order, a number, a word", () => {
  const a = a23();
  expectNear(mx.linalg.norm(a), "float32", 9.539392471313477);
  expectNear(mx.linalg.norm(a, "fro"), "float32", 9.539392471313477);
  expectNear(mx.linalg.norm(a, 1), "float32", 9);
  expectNear(mx.linalg.norm(a, Infinity), "float32", 15);
  expectNear(mx.linalg.norm(a, 2, 1), "float32", [3.7416574954986572, 8.774964332580566]);
  expectNear(mx.linalg.norm(a, { axis: 0, keepDims: true }), "float32", [
    [4.123105525970459, 5.385164737701416, 6.7082037925720215],
  ]);
  expectNear(mx.linalg.norm(a, "nuc"), "float32", 10.280900955200195);
  expect(mx.linalg.norm(a, { axis: [] }).shape).toEqual([2, 3]);
  expect(caught(() => mx.linalg.norm(a, untyped("inf")))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.linalg.norm(mx.ones([2, 2, 2]), 2))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.linalg.norm(a, untyped([2])))).toBeInstanceOf(TypeError);
});

scoped("factorisations give two, three or one array", () => {
  const m = mx.array([
    [0, 1],
    [2, 3],
  ]);
  const [p, l, u] = mx.linalg.lu(m);
  expect([p.dtype, p.tolist()]).toEqual(["uint32", [1, 0]]);
  expectNear(mx.take(mx.matmul(l, u), p, 0), "float32", m.tolist());
  const [q, r] = mx.linalg.qr(m);
  expectNear(mx.matmul(q, r), "float32", m.tolist());
  const [uu, s, vt] = mx.linalg.svd(m);
  expectNear(mx.matmul(mx.multiply(uu, s), vt), "float32", m.tolist());
  expectNear(mx.linalg.svd(m, false), "float32", s.tolist());
  expectNear(mx.linalg.svd(m, { computeUv: false }), "float32", s.tolist());
  const [w] = mx.linalg.eigh(
    mx.array([
      [2, 0],
      [0, 1],
    ]),
    "U",
  );
  expectNear(w, "float32", [1, 2]);
  expect(mx.linalg.eigvals(m).dtype).toBe("complex64");
  expectNear(mx.linalg.det(m), "float32", -2);
  expectNear(mx.linalg.slogdet(m)[0], "float32", -1);
  expectNear(mx.linalg.solve(m, mx.array([1, 5])), "float32", [1, 1]);
  expectNear(mx.linalg.inv(m, { stream: "cpu" }), "float32", [
    [-1.5, 0.5],
    [1, 0],
  ]);
  expect(mx.linalg.cross(mx.array([1, 2, 3]), mx.array([4, 5, 6])).tolist()).toEqual([-3, 6, -3]);
  expect(caught(() => mx.linalg.svd(m, untyped(1)))).toBeInstanceOf(TypeError);
});

scoped("fft: along one axis", () => {
  const x = x4();
  expect(pairs(mx.fft.fft(x))).toEqual([
    [10, 0],
    [-2, 2],
    [-2, 0],
    [-2, -2],
  ]);
  expect(pairs(mx.fft.fft(x, 2))).toEqual([
    [3, 0],
    [-1, 0],
  ]);
  expect(pairs(mx.fft.fft(x, { norm: "ortho" }))).toEqual([
    [5, 0],
    [-1, 1],
    [-1, 0],
    [-1, -1],
  ]);
  expect(pairs(mx.fft.rfft(x))).toEqual([
    [10, 0],
    [-2, 2],
    [-2, 0],
  ]);
  expectNear(mx.fft.irfft(mx.fft.rfft(x)), "float32", [1, 2, 3, 4]);
  expectNear(mx.fft.irfft(mx.fft.rfft(x), 3), "float32", [2, 2.845299482345581, 5.154700756072998]);
  expect(mx.fft.irfft(a23(), { axis: 0 }).shape).toEqual([2, 3]);
  expect(pairs(mx.fft.ifft(mx.fft.fft(x)))).toEqual([
    [1, 0],
    [2, 0],
    [3, 0],
    [4, 0],
  ]);
  expect(refusal(() => mx.fft.fft(x, { axis: 1 }))).toBe(
    "RangeError: fft.fft: axis 1 is out of range for an array of 1 axis.",
  );
  expect(refusal(() => mx.fft.fft(x, untyped({ norm: "none" })))).toContain("TypeError: fft.fft: norm must be");
  expect(caught(() => mx.fft.fft(x, 0))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.fft.rfft(mx.array(1)))).toBeInstanceOf(RangeError);
});

scoped("fft: along several axes", () => {
  const a = a23();
  const t = mx.ones([2, 3, 4]);
  expect(pairs(mx.fft.fft2(a))).toEqual([
    [
      [21, 0],
      [-3, 1.7321],
      [-3, -1.7321],
    ],
    [
      [-9, 0],
      [0, 0],
      [0, 0],
    ],
  ]);
  expectNear(mx.fft.irfftn(mx.fft.rfftn(a), { axes: [0, 1] }), "float32", [
    [2.25, 3.75],
    [6.75, 8.25],
  ]);
  expect(mx.fft.irfftn(t).shape).toEqual([2, 3, 6]);
  expect(mx.fft.irfftn(t, { axes: [0, 1] }).shape).toEqual([2, 4, 4]);
  expect(mx.fft.fftn(t, [2, 2], [0, 1]).shape).toEqual([2, 2, 4]);
  expect(mx.fft.fft2(t, { axes: null }).shape).toEqual([2, 3, 4]);
  expect(mx.fft.fft2(t, [2, 2]).shape).toEqual([2, 2, 2]);
  expect(mx.fft.fftn(t, { axes: [] }).shape).toEqual([2, 3, 4]);
  expect(refusal(() => mx.fft.fftn(t, [2]))).toBe("TypeError: fft.fftn: s needs axes.");
  expect(caught(() => mx.fft.fft2(mx.ones([4])))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.fft.fftn(t, { axes: [5] }))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.fft.fftn(t, [2], [0, 1]))).toBeInstanceOf(mx.MlxError);
  expect(mx.fft.fftshift(mx.arange(5)).tolist()).toEqual([3, 4, 0, 1, 2]);
  expect(mx.fft.ifftshift(mx.arange(5), 0).tolist()).toEqual([2, 3, 4, 0, 1]);
  expect(mx.fft.fftfreq(4, 0.5).tolist()).toEqual([0, 0.5, -1, -0.5]);
});

scoped("random: with a key, the numbers of Python MLX", () => {
  const key = mx.random.key(7);
  expect(mx.random.key(2 ** 40 + 5).tolist()).toEqual([256, 5]);
  expect(mx.random.key(2n ** 63n).tolist()).toEqual([2147483648, 0]);
  expect(mx.random.split(key).tolist()).toEqual([
    [966301609, 989289821],
    [1948237315, 1058547403],
  ]);
  expect(mx.random.split(key, 3).shape).toEqual([3, 2]);
  expectNear(
    mx.random.uniform({ shape: [3], key }),
    "float32",
    [0.22498463094234467, 0.42616042494773865, 0.4536093473434448],
  );
  expectNear(
    mx.random.normal([3], { key }),
    "float32",
    [-0.7554662227630615, -0.1861579269170761, -0.1165473535656929],
  );
  expectNear(
    mx.random.normal([2], { loc: 1, scale: mx.array([1, 2]), key }),
    "float32",
    [-0.6910606622695923, 4.21096134185791],
  );
  expectNear(mx.random.randint(-5, 5, [4], { key }), "int32", [-3, -3, -1, -3]);
  expectNear(mx.random.bernoulli(0.3, [4], key), "bool", [true, true, false, true]);
  expectNear(
    mx.random.truncatedNormal(-1, mx.array([0.5, 1]), { key }),
    "float32",
    [-0.9045517444610596, 0.8572514653205872],
  );
  expectNear(mx.random.gumbel([2], { key }), "float32", [-1.1288070678710938, 2.8874549865722656]);
  expectNear(mx.random.laplace([2], { loc: 1, scale: 2, key }), "float32", [5.797636985778809, -3.444075584411621]);
  const logits = mx.array([
    [0.1, 0.2, 3],
    [1, 1, 1],
  ]);
  expectNear(mx.random.categorical(logits, { key }), "uint32", [2, 1]);
  expectNear(mx.random.categorical(logits, { numSamples: 2, key }), "uint32", [
    [2, 2],
    [0, 1],
  ]);
  expect(mx.random.categorical(logits, -1, [4, 2], { key }).shape).toEqual([4, 2]);
  expectNear(mx.random.permutation(5, { key }), "uint32", [0, 1, 3, 2, 4]);
  expect(mx.random.permutation(mx.arange(6).reshape(3, 2), 0, key).shape).toEqual([3, 2]);
  expectNear(
    mx.random.multivariateNormal(mx.zeros([2]), mx.eye(2), { key }),
    "float32",
    [-1.6910606622695923, 1.6054807901382446],
  );
});

scoped("random: the global state follows the seed, as in Python", () => {
  mx.random.seed(3);
  expectNear(mx.random.uniform({ shape: [2] }), "float32", [0.5208584666252136, 0.24485553801059723]);
  expectNear(mx.random.uniform({ shape: [2] }), "float32", [0.4657380282878876, 0.031703751534223557]);
  expectNear(mx.random.permutation(4), "uint32", [0, 3, 2, 1]);
  mx.random.seed(3n);
  expectNear(mx.random.uniform({ shape: [2] }), "float32", [0.5208584666252136, 0.24485553801059723]);
});

test("random: the state outlives a tidy, and is a tree that eval takes", () => {
  mx.random.seed(1);
  const first = mx.tidy(() => mx.random.uniform().item());
  mx.eval(mx.random.state);
  mx.tidy(() => mx.random.seed(1));
  expect(mx.tidy(() => mx.random.uniform().item())).toBe(first);
  expect(mx.tidy(() => mx.random.uniform().item())).not.toBe(first);
});

scoped("random: what is refused", () => {
  for (const seed of [-1, 2n ** 64n, 1.5, 2 ** 53, NaN]) {
    expect(caught(() => mx.random.key(seed))).toBeInstanceOf(RangeError);
    expect(caught(() => mx.random.seed(seed))).toBeInstanceOf(RangeError);
  }
  expect(caught(() => mx.random.key(untyped("1")))).toBeInstanceOf(TypeError);
  expect(refusal(() => mx.random.uniform({ key: untyped(5) }))).toBe(
    "TypeError: random.uniform: key must be an Array made by mx.random.key, got 5.",
  );
  const logits = mx.zeros([3]);
  expect(refusal(() => mx.random.categorical(logits, -1, [3], 2))).toContain("exclude each other");
  expect(caught(() => mx.random.truncatedNormal(mx.zeros([2]), mx.zeros([3])))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.random.uniform({ dtype: "int32" }))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.random.permutation(-1))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.random.permutation(2.5))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.random.permutation(untyped("3")))).toBeInstanceOf(TypeError);
});

scoped("rope: the offset is an integer or an array", () => {
  const r = mx.arange(8).reshape(1, 2, 4).astype("float32");
  const plain = { traditional: false, base: 10000, scale: 1 };
  expectNear(mx.fast.rope(r, 4, { ...plain, offset: 0 }), "float32", [
    [
      [0, 1, 2, 3],
      [-2.8876166343688965, 4.929751396179199, 6.607697486877441, 7.049649238586426],
    ],
  ]);
  const moved = [
    [
      [-0.28224000334739685, 0.9095635414123535, -1.979984998703003, 3.0286455154418945],
      [1.9262404441833496, 4.7160749435424805, -6.949071884155273, 7.194347858428955],
    ],
  ];
  expectNear(mx.fast.rope(r, 4, { ...plain, offset: mx.array(3, "int32") }), "float32", moved);
  expectNear(mx.fast.rope(r, 4, { ...plain, offset: 3 }), "float32", moved);
  expectNear(mx.fast.rope(r, 2, { traditional: true, base: 100, scale: 0.5, offset: 3 }), "float32", [
    [
      [-0.9974949955940247, 0.07073719799518585, 2, 3],
      [-6.211073875427246, 1.5564556121826172, 6, 7],
    ],
  ]);
  expectNear(
    mx.fast.rope(r, 4, { traditional: false, base: null, scale: 1, offset: 0, freqs: mx.array([1, 2]) }),
    "float32",
    [
      [
        [0, 1, 2, 3],
        [-2.8876166343688965, 1.0319337844848633, 6.607697486877441, 8.540205001831055],
      ],
    ],
  );
  expect(refusal(() => mx.fast.rope(r, 4, untyped({ base: 1 })))).toContain(
    "fast.rope: traditional must be true or false",
  );
  expect(caught(() => mx.fast.rope(r, 4, untyped(undefined)))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.fast.rope(r, 4, { ...plain, offset: 1.5 }))).toBeInstanceOf(RangeError);
});

scoped("scaledDotProductAttention: no mask, a word, an array", () => {
  const q = mx.divide(mx.arange(8), 8).reshape(1, 1, 2, 4);
  const first = [0, 0.125, 0.25, 0.375];
  const second = [0.3327052891254425, 0.4577052891254425, 0.5827053189277649, 0.7077053189277649];
  const attend = (mask: "causal" | mx.Array | null): mx.Array =>
    mx.fast.scaledDotProductAttention(q, q, q, { scale: 0.5, mask });
  expectNear(attend(null), "float32", [[[first.map((value) => value + 0.27336907386779785), second]]]);
  expectNear(attend("causal"), "float32", [[[first, second]]]);
  expectNear(
    attend(
      mx.array([
        [true, false],
        [true, true],
      ]),
    ),
    "float32",
    [[[first, second]]],
  );
  expect(refusal(() => attend(untyped("other")))).toBe(
    'TypeError: fast.scaledDotProductAttention: mask must be "causal", an Array or null, got "other".',
  );
  expect(caught(() => mx.fast.scaledDotProductAttention(q, q, q, untyped({})))).toBeInstanceOf(TypeError);
  expect(
    caught(() => mx.fast.scaledDotProductAttention(q, mx.zeros([1, 0, 2, 4]), mx.zeros([1, 0, 2, 4]), { scale: 1 })),
  ).toBeInstanceOf(RangeError);
});

scoped("rmsNorm, layerNorm, crossEntropy", () => {
  const a = a23();
  expectNear(mx.fast.rmsNorm(a, mx.array([1, 2, 3]), 1e-5), "float32", [
    [0.4629095494747162, 1.8516381978988647, 4.1661858558654785],
    [0.7895418405532837, 1.9738545417785645, 3.552938461303711],
  ]);
  expectNear(mx.fast.layerNorm(a, null, null, 1e-5), "float32", [
    [-1.2247356176376343, 0, 1.2247356176376343],
    [-1.2247356176376343, 0, 1.2247356176376343],
  ]);
  expectNear(mx.fast.crossEntropy(a, mx.array([0, 2], "int32")), "float32", [2.4076058864593506, 0.4076061248779297]);
  expect(caught(() => mx.fast.rmsNorm(a, mx.ones([9]), 1e-5))).toBeInstanceOf(mx.MlxError);
});
