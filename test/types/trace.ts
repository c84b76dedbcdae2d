// What the types of mlx-ts/trace say. Checked by the type checker alone.
import * as mx from "mlx-ts";
import { metalLimits, simulate } from "mlx-ts/planner";
import * as trace from "mlx-ts/trace";

const n: number = trace.span("a", () => 1);
const p: Promise<string> = trace.span("a", async () => "b", { step: 1 });
const x: mx.Array = trace.captureGpu("a.gputrace", () => mx.array(1));
// @ts-expect-error: a misspelt option
trace.record({ file: "a" });
// @ts-expect-error: a name is text
trace.mark(1);
using t: trace.Recording = trace.record({ fine: true, limit: 10, path: undefined });
const file: trace.TraceFile = t.toJSON();
const names: string[] = t.ops().map(({ name }) => name);
// A recording's steps are what the simulator takes.
simulate(t.steps(), { limits: metalLimits("applegpu_g13s") });
// @ts-expect-error: made by record alone
new trace.Recording({});
export { file, n, names, p, x };
