// Evaluation, and what a failed one leaves behind: nothing that took part in it may be read. MLX itself may hang on a
// failing evaluation, so those run in processes of their own.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { caught, refusal, runProgram, said, scoped, untyped } from "../helpers.ts";

describe("eval and asyncEval", () => {
  scoped("compute trees of any form", () => {
    const a = mx.array([1, 2]);
    const tree = {
      list: [mx.add(a, 1), [mx.multiply(a, 2)]],
      map: new Map([["x", mx.subtract(a, 1)]]),
      set: new Set([mx.negative(a)]),
      text: "not an array",
      none: null,
    };
    mx.eval(tree, a, [undefined, 5]);
    expect(tree.list[0]!).toBeInstanceOf(mx.Array);
    const computed = [tree.list[0], untyped<mx.Array[][]>(tree.list)[1]![0], tree.map.get("x"), [...tree.set][0]];
    expect(computed.map((array) => (array as mx.Array).tolist())).toEqual([
      [2, 3],
      [2, 4],
      [0, 1],
      [-1, -2],
    ]);
    mx.asyncEval(mx.add(a, 3), { deep: [mx.add(a, 4)] });
    mx.asyncEval();
    mx.eval();
    mx.eval({}, [], "text", null, undefined);
  });

  scoped("take other handles in a tree for what they are", () => {
    const tree = [mx.newStream("cpu"), new mx.Device("cpu"), new mx.Closure(([x]) => x!), mx.add(1, 2)];
    mx.eval(tree);
    mx.asyncEval(tree, mx.defaultStream("cpu"));
    expect((tree[3] as mx.Array).item()).toBe(3);
  });

  scoped("refuse disposed arrays, by name, before anything is computed", () => {
    const gone = mx.array(1);
    gone.dispose();
    expect(refusal(() => mx.eval([mx.array(1), { gone }]))).toStartWith("DisposedError: eval: this Array was already");
    expect(refusal(() => mx.asyncEval(gone))).toStartWith("DisposedError: asyncEval:");
  });

  scoped("walk trees that hold themselves", () => {
    const cycle: Record<string, unknown> = { array: mx.add(1, 1) };
    cycle.self = cycle;
    mx.eval(cycle);
    mx.asyncEval(cycle);
    expect((cycle.array as mx.Array).item()).toBe(2);
  });

  scoped("give a chain of a thousand operations", () => {
    let x = mx.array(0, "int32");
    for (let i = 0; i < 1000; i++) x = mx.add(x, 1);
    mx.eval(x);
    expect(x.item()).toBe(1000);
  });

  scoped("keep the event loop's order: eval is synchronous", () => {
    const x = mx.add(mx.array(1), 1);
    mx.eval(x);
    expect(x.isAvailable).toBe(true);
  });
});

/** Names, in a program, the arrays around a singular inverse. */
const graph = `
  const matrix = mx.array([[1, 2], [2, 4]]);
  const before = mx.add(matrix, 1);
  mx.eval(before);
  const failed = mx.linalg.inv(matrix, { stream: "cpu" });
  const middle = mx.add(failed, 1);
  const output = mx.multiply(middle, 2);
  const unevaluated = mx.add(middle, failed);
  const innocent = mx.multiply(matrix, 3);
  const all = { matrix, before, failed, middle, output, unevaluated, innocent };
`;

const reason = "[Inverse::eval_cpu] LU factorization failed with error code 2";
const poisoned = (operation: string): string =>
  `MlxError: ${operation}: this array has no value, its evaluation failed: ${reason}`;

describe("a failed evaluation", () => {
  test("throws MLX's words, and everything that took part is refused, the rest is not", async () => {
    const lines = await said(`${graph}
      attempt("eval", () => mx.eval(output));
      for (const [name, array] of Object.entries(all)) attempt(name, () => array.tolist());
    `);
    expect(lines).toEqual([
      `eval: MlxError: eval: ${reason}`,
      "matrix: [[1,2],[2,4]]",
      "before: [[2,3],[3,5]]",
      `failed: ${poisoned("tolist")}`,
      `middle: ${poisoned("tolist")}`,
      `output: ${poisoned("tolist")}`,
      `unevaluated: ${poisoned("tolist")}`,
      "innocent: [[3,6],[6,12]]",
    ]);
  });

  test("is remembered by every way to use its arrays", async () => {
    const uses: [operation: string, use: string][] = [
      ["toTypedArray", "failed.toTypedArray()"],
      ["toString", "String(middle)"],
      ["tolist", "JSON.stringify(output)"],
      ["isAvailable", "output.isAvailable"],
      ["eval", "mx.eval(innocent, [middle])"],
      ["asyncEval", "mx.asyncEval(failed)"],
      ["array", "mx.array(failed)"],
      ["array", "mx.array([failed, [[1, 2], [3, 4]]])"],
      ["apply", "new mx.Closure(([x]) => x).apply([failed])"],
      ["closure", "new mx.Closure(() => failed).apply([matrix])"],
      ["grad", "mx.grad((x) => x.sum())(failed)"],
    ];
    const lines = await said(`${graph}
      attempt("read", () => output.tolist());
      ${uses.map(([operation, use]) => `attempt("${operation}", () => ${use});`).join("\n")}
      attempt("add", () => mx.add(failed, 1));
      attempt("concatenate", () => mx.concatenate([innocent, failed]));
      attempt("where", () => mx.where(true, 1, failed));
      attempt("sum", () => failed.sum());
      attempt("matmul", () => innocent.matmul(failed));
      attempt("item", () => mx.linalg.inv(mx.zeros([1, 1]), { stream: "cpu" }).item());
      say(failed.shape, failed.dtype, failed.ndim, failed);
      failed.dispose();
      attempt("disposed", () => mx.add(failed, 1));
    `);
    expect(lines[0]).toBe(`read: MlxError: tolist: ${reason}`);
    expect(lines.slice(1, 1 + uses.length)).toEqual(uses.map(([operation]) => `${operation}: ${poisoned(operation)}`));
    const rest = lines.slice(1 + uses.length);
    for (const operation of ["add", "concatenate", "where", "sum", "matmul"]) {
      expect(rest.shift()).toBe(
        `${operation}: MlxError: ${operation}: an operand has no value, its evaluation failed: ${reason}`,
      );
    }
    expect(rest.shift()).toStartWith("item: MlxError: item: [Inverse::eval_cpu] LU factorization failed");
    expect(rest.slice(0, 1).join(" ")).toBe(`[ 2, 2 ] float32 2 Array(no value: ${reason})`);
    expect(rest.at(-1)).toStartWith("disposed: DisposedError: add:");
  });

  test("does not touch what is made afterwards, nor what was asked for before", async () => {
    const lines = await said(`
      const done = mx.add(mx.array([1, 2]), 1);
      mx.asyncEval(done);
      mx.eval(done);
      ${graph}
      attempt("eval", () => mx.eval(output));
      const after = mx.add(matrix, 10);
      attempt("after", () => after.tolist());
      attempt("done", () => done.tolist());
      const fine = mx.linalg.inv(mx.array([[2, 0], [0, 4]]), { stream: "cpu" });
      attempt("fine", () => fine.tolist());
      attempt("done again", () => mx.add(done, innocent).shape);
    `);
    expect(lines).toEqual([
      `eval: MlxError: eval: ${reason}`,
      "after: [[11,12],[12,14]]",
      "done: [2,3]",
      "fine: [[0.5,0],[0,0.25]]",
      "done again: [2,2]",
    ]);
  });

  test("of one array among several: all of that call are refused, since MLX does not say which", async () => {
    const lines = await said(`${graph}
      const beside = mx.add(matrix, 100);
      attempt("eval", () => mx.eval(innocent, output, beside));
      attempt("output", () => output.tolist());
      attempt("matrix", () => matrix.tolist());
      attempt("before", () => before.tolist());
    `);
    expect(lines[0]).toBe(`eval: MlxError: eval: ${reason}`);
    expect(lines[1]).toBe(`output: ${poisoned("tolist")}`);
    expect(lines.slice(2)).toEqual(["matrix: [[1,2],[2,4]]", "before: [[2,3],[3,5]]"]);
  });

  test("in the background surfaces later, and no wrong number is ever read", async () => {
    const lines = await said(`${graph}
      attempt("asyncEval", () => mx.asyncEval(output));
      await Bun.sleep(100);
      for (const name of ["output", "middle", "failed", "unevaluated"]) attempt(name, () => all[name].tolist());
    `);
    for (const line of lines.slice(1)) expect(line).toContain("MlxError: ");
    expect(lines.filter((line) => line.includes(reason)).length).toBeGreaterThanOrEqual(4);
  });

  test.each([1, 2, 3, 4])("on any stream, read in any order: no wrong number, seed %i", async (seed) => {
    const file = JSON.stringify(join(import.meta.dir, "fixtures/background.ts"));
    const lines = await said(`await import(${file});`, { args: [String(seed)] });
    expect(lines).toEqual(["0 wrong, 180 refused, 30 of 30 right"]);
  });

  test("rejects ready()", async () => {
    const lines = await said(`${graph}
      const settled = await output.ready().then(() => "resolved", (error) => error.name + ": " + error.reason);
      say(settled);
      attempt("output", () => output.tolist());
    `);
    expect(lines[0]).toContain(reason);
    expect(lines[1]).toContain("MlxError: tolist");
  });

  test("inside of a closure comes out as the same object", async () => {
    const lines = await said(`${graph}
      let inner;
      const closure = new mx.Closure(([x]) => {
        try {
          mx.linalg.inv(x, { stream: "cpu" }).tolist();
        } catch (error) {
          inner = error;
          throw error;
        }
        return x;
      });
      try {
        closure.apply([matrix]);
      } catch (error) {
        say(error === inner, error.message);
      }
      attempt("matrix", () => matrix.tolist());
    `);
    expect(lines).toEqual([`true tolist: ${reason}`, "matrix: [[1,2],[2,4]]"]);
  });

  test("leaves a process that ends by itself", async () => {
    const result = await runProgram(`${graph} mx.eval(output);`);
    expect(result.timedOut).toBe(false);
    expect(result.signal).toBeNull();
    expect(result.code).toBe(1);
    expect(result.output).toContain(reason);
  });

  test("again and again costs no handle", async () => {
    const lines = await said(
      `
      const functions = (await import("./src/ffi.ts")).functions;
      mx.tidy(() => mx.eval(mx.add(1, 1)));
      const start = functions.mlxts_live_handles();
      let thrown = 0;
      for (let i = 0; i < 20; i++) {
        try {
          mx.tidy(() => mx.linalg.inv(mx.zeros([2, 2]), { stream: "cpu" }).tolist());
        } catch (error) {
          if (error instanceof mx.MlxError) thrown++;
        }
      }
      say(thrown, functions.mlxts_live_handles() - start);
    `,
      { timeout: 60 },
    );
    expect(lines).toEqual(["20 0"]);
  });
});

describe("more memory than there is", () => {
  // The AddressSanitizer would end the process instead of failing the allocation.
  const env = { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ""}:allocator_may_return_null=1` };

  test("is an error, in every way to ask for it, and the process goes on", async () => {
    const lines = await said(
      `
      const side = 1 << 20;
      const wide = mx.add(mx.random.normal([side, 1]), mx.random.normal([1, side]));
      attempt("outer sum", () => mx.eval(wide));
      attempt("random", () => mx.random.normal([side, side]).sum().item());
      attempt("copy", () => mx.eval(mx.contiguous(mx.broadcastTo(mx.array(1), [side, side]))));
      attempt("background", () => {
        const huge = mx.random.normal([side, side]);
        mx.asyncEval(huge);
        mx.eval(huge);
      });
      attempt("view", () => mx.broadcastTo(mx.array(7), [side, side]).size);
      attempt("after", () => mx.add(mx.array([1, 2]), 1).tolist());
      attempt("refused", () => wide.tolist());
    `,
      { env },
    );
    const failed = /^\w+( \w+)?: MlxError: (eval|item|asyncEval): .*allocate/i;
    for (const line of lines.slice(0, 4)) expect(line).toMatch(failed);
    expect(lines.slice(4, 6)).toEqual(["view: 1099511627776", "after: [2,3]"]);
    expect(lines[6]).toStartWith("refused: MlxError: tolist: this array has no value");
  });

  test("leaves the global random state as if nothing had been", async () => {
    const lines = await said(
      `
      const draw = () => JSON.stringify(mx.random.uniform({ shape: [2] }).tolist());
      const fails = () => {
        try {
          mx.eval(mx.random.normal([1 << 20, 1 << 20]));
        } catch (error) {
          return error instanceof mx.MlxError;
        }
        return false;
      };
      mx.random.seed(7);
      const numbers = Array.from({ length: 600 }, draw);
      mx.random.seed(7);
      const again = Array.from({ length: 3 }, draw);
      say(fails());
      again.push("used up");
      while (again.length < 599) again.push(draw());
      say(again.every((text, i) => text === numbers[i] || i === 3), fails(), draw() === numbers[599]);
      // A state that came from elsewhere.
      mx.random.seed(3);
      const other = Array.from({ length: 4 }, draw);
      const symbol = Object.getOwnPropertySymbols(Object.getPrototypeOf(mx.random.state))[0];
      mx.random.state[symbol].set([mx.random.key(3)]);
      say(draw() === other[0], fails(), draw() === other[2], draw() === other[3]);
    `,
      { env },
    );
    expect(lines).toEqual(["true", "true true false", "true true true true"]);
  });

  test("costs nothing when it is tried again and again", async () => {
    const lines = await said(
      `
      const { functions } = await import("./src/ffi.ts");
      let thrown = 0;
      const step = () => {
        try {
          mx.tidy(() => mx.eval(mx.contiguous(mx.broadcastTo(mx.random.normal([4]), [1 << 20, 1 << 18, 4]))));
        } catch (error) {
          if (error instanceof mx.MlxError) thrown++;
        }
      };
      step();
      const before = functions.mlxts_live_handles();
      for (let i = 0; i < 100; i++) step();
      say(thrown, functions.mlxts_live_handles() - before);
    `,
      { env },
    );
    expect(lines).toEqual(["101 0"]);
  });
});

test("the error has the operation and MLX's own words apart", () => {
  const error = caught(() => mx.reshape(mx.zeros([4]), [3])) as mx.MlxError;
  expect(error).toBeInstanceOf(mx.MlxError);
  expect(error.operation).toBe("reshape");
  expect(error.reason).toBe("[reshape] Cannot reshape array of size 4 into shape (3).");
});
