// Failing calls leave nothing behind: 10,000 of each error path, before the native call, in it, at evaluation, in a
// callback.
import * as mx from "../../src/index.ts";
import { type Finding, leakCases, measureLoop } from "./measure.ts";

const bounds = { iterations: 10_000, warm: 2000, growth: 20 };

const x = mx.keep(mx.zeros([2, 3]));
const y = mx.keep(mx.zeros([4]));
const small = mx.keep(mx.array(new Uint8Array([1, 2])));
const gone = mx.zeros([1]);
mx.eval(x, y, small, gone);
gone.dispose();

/** Measures calls of which each must throw an error whose text matches. */
function failing(call: () => unknown, message: RegExp): () => Finding[] {
  return () => {
    let unexpected = "";
    const findings = measureLoop(bounds, () => {
      try {
        call();
        unexpected ||= "it did not throw";
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        if (!message.test(text)) unexpected ||= `it threw ${text}`;
      }
    });
    return [
      ...findings,
      { ok: unexpected === "", text: unexpected === "" ? `each call threw ${message}` : unexpected },
    ];
  };
}

// Arguments that the types refuse, as a caller without types passes them.
const untyped = <T>(value: unknown): T => value as T;

await leakCases({
  "shapes that do not broadcast": failing(() => mx.add(x, y), /broadcast/i),
  "shapes that do not broadcast, with scalars made before": failing(() => mx.where(1, x, y), /broadcast/i),
  "a matmul of wrong shapes": failing(() => x.matmul(y), /matmul/i),
  "a list with a wrong item": failing(() => mx.concatenate([x, untyped("text"), y]), /text|must be/),
  "a failing call on a list": failing(() => mx.concatenate([x, y]), /concatenate/),
  "a scalar that does not fit": failing(() => mx.add(small, 300), /300/),
  "a disposed operand": failing(() => mx.add(x, gone), /dispos/i),
  "a disposed operand after a scalar": failing(() => mx.where(1, 2.5, gone), /dispos/i),
  "an unknown option": failing(() => mx.sum(x, untyped({ axes: 0 })), /option/),
  "a fractional axis": failing(() => mx.sum(x, { axis: 0.5 }), /axis/),
  "an axis out of range": failing(() => mx.sum(x, { axis: 9 }), /axis/i),
  "a ragged list": failing(() => mx.array(untyped([[1, 2], [3]])), /ragged/),
  "a wrong shape for data": failing(() => mx.array(new Float32Array(6), { shape: [4] }), /shape/),
  "an unknown dtype": failing(() => mx.zeros([2], { dtype: untyped("float31") }), /dtype/),
  "a file that does not exist": failing(() => mx.load("no-such-file.npy"), /^(?!.*not a function).*no-such-file/),
  "an error inside grad": failing(() => mx.tidy(() => mx.grad((_: mx.Array) => mx.add(x, y))(x)), /broadcast/i),
  "an exception inside grad": failing(
    () =>
      mx.grad((a: mx.Array) => {
        a.multiply(2);
        throw new Error("from the callback");
      })(x),
    /from the callback/,
  ),
  "an exception inside tidy": failing(
    () =>
      mx.tidy(() => {
        mx.add(x, 1);
        throw new Error("from the scope");
      }),
    /from the scope/,
  ),
  "reading a value of many elements": failing(() => x.item(), /element/),
});
