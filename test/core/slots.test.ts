// The ring of out slots: whatever was written, a slot is zero when it is handed out.
import { expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { slot, slotView } from "../../src/core/slots.ts";

const read = (address: number): bigint => {
  const { view, offset } = slotView(address);
  return view.getBigUint64(offset, true);
};

function write(address: number): void {
  const { view, offset } = slotView(address);
  view.setBigUint64(offset, 0xdeadbeefdeadbeefn, true);
}

test.each([1, 2, 3, 5, 64])("%i slots of one call, written after all were taken, come back as zeros", (count) => {
  let dirty = 0;
  // Three laps, at every offset from the place where the ring starts again.
  for (let i = 0; i < (3 * 4096) / count + 3; i++) {
    if (i % 97 === 0) slot();
    const taken = Array.from({ length: count }, () => slot());
    dirty += taken.filter((address) => read(address) !== 0n).length;
    taken.forEach(write);
  }
  expect(dirty).toBe(0);
});

test("two results at the place where the ring starts again do not end up in older arrays", () => {
  mx.tidy(() => {
    const x = mx.array([5, 7, 9], { dtype: "int32" });
    const wrong: number[] = [];
    const kept: mx.Array[] = [];
    for (let i = 0; i < 6000; i++) {
      const [quotient, remainder] = mx.divmod(mx.add(x, i), 4) as [mx.Array, mx.Array];
      if (i % 7 === 0) slot();
      if (i % 50 !== 0) continue;
      kept.push(quotient, remainder);
      const sum = quotient.multiply(4).add(remainder);
      if (String(sum.tolist()) !== String([5 + i, 7 + i, 9 + i])) wrong.push(i);
    }
    expect(wrong).toEqual([]);
    expect(kept.length).toBe(240);
  });
});
