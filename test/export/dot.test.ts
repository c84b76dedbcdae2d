// Graphs in the DOT language: Python's text but for the numbers of the nodes, names, errors.
import { afterAll, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-dot-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The nodes of operations are named by their address. */
const numbered = (text: string): string => {
  const seen = new Map<string, string>();
  return text.replace(/\b\d{4,}\b/g, (node) => {
    if (!seen.has(node)) seen.set(node, `N${seen.size + 1}`);
    return seen.get(node)!;
  });
};

scoped("gives Python's text", () => {
  const x = mx.array(3, { dtype: "int32" });
  const y = mx.add(mx.array([1, 2], { dtype: "int32" }), x);
  const path = join(folder, "graph.dot");
  mx.exportToDot(path, y);
  // What Python MLX 0.32.2 writes for the same graph.
  expect(numbered(readFileSync(path, "utf8"))).toBe(`digraph {
{ rank=source; "A"; }
{ rank=source; "B"; }
{ N1 [label ="Broadcast", shape=rectangle]; }
"B" -> N1
{ "C"; }
N1 -> "C"
{ N2 [label ="Add", shape=rectangle]; }
"A" -> N2
"C" -> N2
{ rank=sink; "D"; }
N2 -> "D"
}`);
});

scoped("names arrays, takes several outputs and trees, and a function in the place of a file", () => {
  const [x, y] = [mx.array([1]), mx.array([2])];
  let text = "";
  mx.exportToDot((dot) => void (text = dot), x.add(y), x.multiply(y), { x, 'the "y"': y });
  expect(text).toContain('"x" -> ');
  expect(text).toContain('"the \\"y\\"" -> ');
  expect(text).toContain('label ="Multiply"');
  expect(text.match(/rank=sink/g)).toHaveLength(2);
});

scoped("refuses what cannot be drawn or written, and leaves no handle", () => {
  const x = mx.array([1]).add(1);
  const bad: [() => void, string][] = [
    [
      () => mx.exportToDot(join(folder, "no", "g.dot"), x),
      `MlxError: exportToDot: ${folder}/no/g.dot cannot be written`,
    ],
    [() => mx.exportToDot(untyped(3), x), "TypeError: exportToDot: path must be a string, got 3."],
    [() => mx.exportToDot(join(folder, "g.dot")), "TypeError: exportToDot: there must be an output"],
    [
      () => mx.exportToDot(join(folder, "g.dot"), x, untyped<Record<string, mx.Array>>({ a: 1 })),
      "TypeError: exportToDot: ",
    ],
  ];
  for (const [run, message] of bad) expect(refusal(run)).toStartWith(message);
  const before = functions.mlxts_live_handles();
  for (let i = 0; i < 1000; i++) {
    mx.exportToDot(() => {}, x, { x });
    for (const [run] of bad) refusal(run);
  }
  expect(functions.mlxts_live_handles()).toBe(before);
});
