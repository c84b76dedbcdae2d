/** Our side of bench/overhead.ts. Prints one JSON line of minima in nanoseconds. */

import * as mx from "../../src/index.ts";

const a = mx.array(1);
const b = mx.array(2);
const big = mx.random.normal([512, 512]);
mx.eval(a, b, big);

function add(n: number): void {
  for (let i = 0; i < n; i++) {
    using _c = mx.add(a, b);
  }
}

function ndim(n: number): number {
  let x = 0;
  for (let i = 0; i < n; i++) x += a.ndim;
  return x;
}

function graph50(n: number): void {
  for (let i = 0; i < n; i++) {
    mx.tidy(() => {
      let x = mx.add(a, b);
      for (let j = 0; j < 49; j++) x = j % 2 === 1 ? mx.add(x, b) : mx.multiply(x, b);
    });
  }
}

function matmul(n: number): void {
  for (let i = 0; i < n; i++) {
    using c = mx.matmul(big, big);
    mx.eval(c);
  }
}

function measure(work: (n: number) => unknown, n: number, rounds: number): number {
  work(n);
  let best = Number.POSITIVE_INFINITY;
  for (let r = 0; r < rounds; r++) {
    const start = Bun.nanoseconds();
    work(n);
    best = Math.min(best, (Bun.nanoseconds() - start) / n);
  }
  return best;
}

console.log(
  JSON.stringify({
    add: measure(add, 50000, 8),
    ndim: measure(ndim, 200000, 5),
    graph50: measure(graph50, 1000, 8),
    matmul: measure(matmul, 5, 8),
  }),
);
