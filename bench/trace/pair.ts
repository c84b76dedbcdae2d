// One process of bench/trace.ts: loads both builds and times them in turns. Prints one JSON line.
import { opHook, setOpHook } from "../../src/core/hooks.ts";
import type { Handle } from "../../src/core/handle.ts";

interface Side {
  add(n: number): number;
  addRecorded(n: number): number;
  recordOnce(): void;
}

const [withTest = "", without = "", order = "0", rounds = "400"] = process.argv.slice(2);
const testedFirst = Number(order) % 2 === 0;
const first = (await import(testedFirst ? withTest : without)) as Side;
const second = (await import(testedFirst ? without : withTest)) as Side;
const sides = [first, second];
const [tested, bare] = testedFirst ? [first, second] : [second, first];

const median = (list: number[]): number => list.toSorted((x, y) => x - y)[list.length >> 1]!;

/** Medians of both sides over rounds in turns, and of the difference between neighbours. */
function compare(n: number): { tested: number; bare: number; difference: number } {
  for (const side of sides) side.add(100_000);
  const figures = { tested: [] as number[], bare: [] as number[], difference: [] as number[] };
  for (let round = 0; round < Number(rounds); round++) {
    const pair = new Map<Side, number>();
    // Each goes first in every other round.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) pair.set(side, side.add(n));
    figures.tested.push(pair.get(tested)!);
    figures.bare.push(pair.get(bare)!);
    figures.difference.push(pair.get(tested)! - pair.get(bare)!);
  }
  return { tested: median(figures.tested), bare: median(figures.bare), difference: median(figures.difference) };
}

/** The comparison alone, in a loop with nothing else in it: nanoseconds, the loop's own taken off. */
function testAlone(): number {
  const handle = null as unknown as Handle;
  // As in a program that has been traced: a variable that was never written would be compiled as a constant.
  setOpHook(() => undefined);
  setOpHook(null);
  let sum = 0;
  const plain = (n: number): void => {
    for (let i = 0; i < n; i++) sum = (sum + i) | 0;
  };
  const tests = (n: number): void => {
    for (let i = 0; i < n; i++) {
      sum = (sum + i) | 0;
      if (opHook !== null) opHook("add", handle);
    }
  };
  const n = 2_000_000;
  const differences: number[] = [];
  for (let round = 0; round < 40; round++) {
    const start = Bun.nanoseconds();
    plain(n);
    const middle = Bun.nanoseconds();
    tests(n);
    // The first rounds compile.
    if (round >= 5) differences.push((Bun.nanoseconds() - middle - (middle - start)) / n);
  }
  return median(differences);
}

const before = compare(3000);
tested.recordOnce();
const after = compare(3000);
const recorded = Math.min(...Array.from({ length: 8 }, () => tested.addRecorded(20_000)));
console.log(JSON.stringify({ before, after, recorded, alone: testAlone() }));
