// Matrices whose elements the factorisations cannot count in 32 bits: refused before MLX ends the process.
import { expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped } from "../helpers.ts";

const { linalg } = mx;

/** A matrix of this shape that holds one element. */
const broadcast = (rows: number, columns: number): mx.Array => mx.broadcastTo(mx.array(1), [rows, columns]);

const factorisations: Record<string, (a: mx.Array) => unknown> = {
  inv: (a) => linalg.inv(a, { stream: "cpu" }),
  triInv: (a) => linalg.triInv(a),
  cholesky: (a) => linalg.cholesky(a),
  choleskyInv: (a) => linalg.choleskyInv(a),
  lu: (a) => linalg.lu(a),
  luFactor: (a) => linalg.luFactor(a),
  qr: (a) => linalg.qr(a),
  eig: (a) => linalg.eig(a),
  eigvals: (a) => linalg.eigvals(a),
  eigh: (a) => linalg.eigh(a),
  eigvalsh: (a) => linalg.eigvalsh(a),
  det: (a) => linalg.det(a),
  slogdet: (a) => linalg.slogdet(a),
  pinv: (a) => linalg.pinv(a),
  svd: (a) => linalg.svd(a),
  "svd without vectors": (a) => linalg.svd(a, false),
  solve: (a) => linalg.solve(a, mx.ones([65536])),
  solveTriangular: (a) => linalg.solveTriangular(a, mx.ones([65536])),
  "norm nuc": (a) => linalg.norm(a, "nuc"),
  "norm 2": (a) => linalg.norm(a, 2, [0, 1]),
};

for (const [name, factorise] of Object.entries(factorisations)) {
  scoped(`${name} refuses 65536 x 65536`, () => {
    const message = refusal(() => factorise(broadcast(65536, 65536)));
    expect(message).toStartWith("RangeError: linalg.");
    expect(message).toContain("holds matrices of 65536 x 65536: MLX counts");
  });
}

scoped("tall matrices are fine where no factor is square in the longer side", () => {
  const tall = mx.random.normal([50_000, 2]);
  const [q, r] = linalg.qr(tall);
  expect([q.shape, r.shape]).toEqual([
    [50_000, 2],
    [2, 2],
  ]);
  expect(refusal(() => linalg.svd(tall))).toContain("matrices of 50000 x 2");
  expect(refusal(() => linalg.pinv(tall))).toContain("matrices of 50000 x 2");
  expect(mx.allclose(q.matmul(r), tall, { atol: 1e-4 }).item()).toBe(true);
});

test("vectors and norms of other orders are not counted", () => {
  mx.tidy(() => {
    expect(linalg.norm(mx.ones([3]), 2).item()).toBeCloseTo(Math.sqrt(3), 6);
    expect(linalg.norm(broadcast(65536, 2), "fro").shape).toEqual([]);
  });
});
