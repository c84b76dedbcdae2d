// Checked by tsc, never run: what the types of runPlanned say, and what they must refuse.
import * as mx from "../../src/index.ts";
import { planRanges, type Plan } from "../../src/planner/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

declare const x: mx.Array;
declare const any: Plan;

const work = { queryRows: 10, pairCost: 1, rate: 1 };
const explicit = planRanges(work);
const packed = planRanges({ ...work, mode: "packed", limits: { maxOps: 1, maxMb: 1 } });
const part = (r0: number, r1: number, index: number): { y: mx.Array; n: number } => ({ y: x, n: r0 + r1 + index });
const one = (): mx.Array => x;
type Part = ReturnType<typeof part>;

export function given(): void {
  const list = mx.runPlanned(explicit, part);
  same<typeof list, Promise<Part[]>>(true);
  const now = mx.runPlanned(packed, part);
  same<typeof now, Part[]>(true);
  const either = mx.runPlanned(any, part);
  same<typeof either, Part[] | Promise<Part[]>>(true);

  const sum = mx.runPlanned(explicit, one, { combine: (total, piece) => total.add(piece) });
  same<typeof sum, Promise<mx.Array>>(true);
  const pieces = mx.runPlanned(packed, part, {
    initial: [] as mx.Array[],
    combine: (total, { y }, r0, r1, i) => (r0 + r1 + i > 0 ? [...total, y] : total),
  });
  same<typeof pieces, mx.Array[]>(true);
  void mx.runPlanned(explicit, one, {
    signal: new AbortController().signal,
    pending: [x],
    progress: ({ r0, r1, done, total, inFlight }) => void (r0 + r1 + done + total + inFlight),
  });
}

export function refused(): void {
  // @ts-expect-error: a step is synchronous
  void mx.runPlanned(explicit, async () => x);
  // @ts-expect-error: what is combined is synchronous too
  void mx.runPlanned(explicit, one, { combine: async (total: mx.Array) => total });
  // @ts-expect-error: a total has the form of a part, unless there is an initial one
  void mx.runPlanned(explicit, one, { combine: (_: mx.Array, y: mx.Array) => [y] });
  // @ts-expect-error: no such option
  void mx.runPlanned(explicit, one, { window: 3 });
  // @ts-expect-error: a list of ranges is no plan
  void mx.runPlanned([[0, 10]], one);
  // @ts-expect-error: the result of explicit mode is a promise
  mx.runPlanned(explicit, one)[0];
}
