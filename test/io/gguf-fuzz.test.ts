// Damaged GGUF files: each is refused in words or loads; the process, and MLX in it, always lives on.
import { afterAll, expect, test } from "bun:test";
import { said } from "../helpers.ts";
import { floats, int32s, makeGguf, scratchFolder, text, texts, uint32 } from "./make-gguf.ts";

const folder = scratchFolder();
afterAll(folder.remove);

const seedFile = makeGguf({
  metadata: [
    ["general.architecture", text("llama")],
    ["general.alignment", uint32(32)],
    ["tokens", texts(["a", "bc", "def"])],
    ["kinds", int32s([1, 2, 3])],
  ],
  tensors: [
    { name: "a.weight", dims: [32, 2], type: 3, data: new Uint8Array(40).fill(60) },
    { name: "b.weight", dims: [4, 2], type: 0, data: floats([1, 2, 3, 4, 5, 6, 7, 8]) },
    { name: "c.weight", dims: [32], type: 8, data: new Uint8Array(34).fill(60) },
  ],
});

/** A program that damages the file in `rounds` ways, from a seed, and loads each through MLX. */
const program = (path: string, rounds: number): string => `
  import { writeFileSync, readFileSync } from "node:fs";
  const path = ${JSON.stringify(path)};
  const whole = new Uint8Array(readFileSync(path));
  let state = 7;
  const random = (below) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % below;
  const interesting = [0, 1, 2, 4, 7, 8, 9, 10, 12, 31, 32, 39, 127, 128, 255];
  let loaded = 0, refused = 0;
  const other = [];
  for (let round = 0; round < ${rounds}; round++) {
    let bytes = whole.slice();
    for (let n = 1 + random(3); n > 0; n--) bytes[random(bytes.length)] = random(2) ? interesting[random(interesting.length)] : random(256);
    if (random(8) === 0) bytes = bytes.slice(0, random(bytes.length));
    writeFileSync(path, bytes);
    try {
      const tree = mx.load(path, { returnMetadata: true });
      mx.eval(tree[0]);
      mx.dispose(tree);
      loaded++;
    } catch (error) {
      if (error instanceof mx.MlxError) refused++; else other.push(String(error));
    }
  }
  say(JSON.stringify({ loaded, refused, other, live: mx.memory().liveHandles }));`;

test("3,000 damaged files end in an error or in arrays", async () => {
  const rounds = 3000;
  const path = folder.write("damaged.gguf", seedFile);
  const [line] = await said(program(path, rounds), { timeout: 120 });
  const { loaded, refused, other, live } = JSON.parse(line!) as Record<string, number> & { other: string[] };
  expect(other).toEqual([]);
  expect(loaded! + refused!).toBe(rounds);
  expect(loaded).toBeGreaterThan(rounds / 20);
  expect(refused).toBeGreaterThan(rounds / 20);
  expect(live).toBe(0);
});
