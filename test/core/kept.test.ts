// Handles that are kept for the life of the thread are written down where native code can see them.
import { expect, test } from "bun:test";
import { kept, keptRegion, PLACES } from "../../src/core/kept.ts";
import { backend } from "../../src/core/native.ts";
import * as mx from "../../src/index.ts";

/** What was written down, the places of constants aside. */
function written(): bigint[] {
  const { address, bytes } = keptRegion();
  return [...new BigUint64Array(backend.view(address, bytes).slice(0))].slice(0, -PLACES);
}

test("the default stream, the closure and the seed of gradients are there, once", () => {
  const step = (): void => mx.tidy(() => void mx.grad((x: mx.Array) => mx.square(x))(mx.array(2)));
  step();
  const handles = written().filter((handle) => handle !== 0n);
  expect(handles.length).toBeGreaterThanOrEqual(3);
  step();
  expect(written().filter((handle) => handle !== 0n)).toEqual(handles);
});

test("more handles than there are places are only returned", () => {
  for (let i = 1; i <= 100; i++) expect(kept(0x7fff_0000_0000 + i)).toBe(0x7fff_0000_0000 + i);
  const handles = written();
  expect(handles).toHaveLength(64);
  expect(handles[63]).toBe(0x7fff_0000_0000n + 61n);
});
