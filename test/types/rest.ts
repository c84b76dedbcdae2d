// Checked by tsc, never run: exported functions, kernels, groups, streams, printing.
import * as mx from "../../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

declare const x: mx.Array;

export function accepted(): void {
  mx.exportFunction("f", (a: mx.Array) => a, [x]);
  mx.exportFunction("f", (a: mx.Array, { b }: { b: mx.Array }) => [a, b], [x], { kwargs: { b: x }, shapeless: true });
  using imported = mx.importFunction("f", { trusted: true });
  same<ReturnType<typeof imported>, mx.Array[]>(true);
  same<typeof imported.metadata, string>(true);
  imported();
  imported(x, x);
  imported(x, { b: x });
  using exporter = mx.exporter("f", (...all: mx.Array[]) => all, { metadata: "text" });
  exporter.add(x, x, { b: x });
  mx.exportToDot("f", x, x, { x });
  mx.exportToDot((text: string) => void text, x);

  const kernel = mx.fast.metalKernel("k", ["a"], ["b"], "source", { header: "", atomicOutputs: true });
  const outputs = kernel({
    inputs: [x, 1],
    outputShapes: [x.shape],
    outputDtypes: [x.dtype],
    grid: [1, 1, 1],
    threadgroup: [1, 1, 1],
    template: [
      ["T", "float16"],
      ["N", 3],
      ["B", true],
    ],
    stream: "gpu",
  });
  same<typeof outputs, mx.Array[]>(true);

  using group = mx.distributed.init({ strict: true, backend: "ring" });
  same<ReturnType<typeof group.rank>, number>(true);
  mx.distributed.allSum(1, { group, stream: "cpu" });
  mx.distributed.recv([2], "float32", 0);

  using local = mx.newThreadLocalStream("cpu");
  mx.add(x, 1, { stream: local });
  mx.withStream(local, () => x.add(1));
  using _ = mx.printoptions({ precision: 3 });
  const [path, report] = mx.einsumPath("ij->i", x);
  same<typeof path, number[][]>(true);
  same<typeof report, string>(true);
}

export function refused(): void {
  // @ts-expect-error a function of a promise
  mx.exportFunction("f", async (a: mx.Array) => a, [x]);
  // @ts-expect-error a number as an example
  mx.exportFunction("f", (a: mx.Array) => a, [1]);
  // @ts-expect-error an unknown option
  mx.exportFunction("f", (a: mx.Array) => a, [x], { shapless: true });
  // @ts-expect-error a result that is no Array
  mx.exporter("f", () => 1);
  // @ts-expect-error another suffix of the options
  mx.fast.metalKernel("k", ["a"], ["b"], "source", { sharedMemory: 4 });
  // @ts-expect-error no threadgroup
  mx.fast.cudaKernel("k", ["a"], ["b"], "source")({ inputs: [], outputShapes: [], outputDtypes: [], grid: [1, 1, 1] });
  // @ts-expect-error a backend that does not exist
  mx.distributed.isAvailable("tcp");
  // @ts-expect-error a dtype that does not exist
  mx.distributed.recv([2], "float", 0);
  // @ts-expect-error a group is made by init
  mx.distributed.allSum(x, { group: 1 });
  // @ts-expect-error an exporter is made by mx.exporter
  new mx.FunctionExporter("f", () => x, {});
  // @ts-expect-error text for a number of digits
  mx.setPrintoptions("3");
}
