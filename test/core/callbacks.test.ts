// The numbers under which native code knows JavaScript functions: one callback a signature, forgotten with the closure.
import { describe, expect, test } from "bun:test";
import { callClosures, liveFunctions, nativeClosure } from "../../src/core/callbacks.ts";
import { pointerAddress } from "../../src/core/scratch.ts";
import { functions as C, privateSlot } from "../../src/ffi.ts";
import { caught } from "../helpers.ts";

describe("nativeClosure", () => {
  test("hands the native arguments over, without the payload, and forgets the function with the closure", () => {
    const before = liveFunctions();
    const calls: number[][] = [];
    const closure = nativeClosure(
      "closure",
      (...args) => {
        calls.push(args);
        C.mlx_vector_array_set_data(args[0]!, pointerAddress([]), 0);
      },
      (callback, payload, destructor) => C.mlx_closure_new_func_payload(callback, payload, destructor),
    );
    expect(liveFunctions()).toBe(before + 1);
    const inputs = C.mlx_vector_array_new();
    const out = privateSlot();
    for (let i = 0; i < 3; i++) callClosures("apply", () => C.mlx_closure_apply(out.address, closure, inputs));
    expect(calls.map((args) => args.length)).toEqual([2, 2, 2]);
    expect(calls.flat().every((address) => Number.isSafeInteger(address) && address > 0)).toBe(true);
    // A copy of the closure keeps the function.
    const copy = privateSlot();
    C.mlx_closure_set(copy.address, closure);
    C.mlx_closure_free(closure);
    expect(liveFunctions()).toBe(before + 1);
    C.mlx_closure_free(copy.read());
    expect(liveFunctions()).toBe(before);
    C.mlx_vector_array_free(inputs);
    C.mlx_vector_array_free(out.read());
  });

  test("of two kinds are told apart by their numbers", () => {
    const make = (text: string): number =>
      nativeClosure(
        "closure",
        () => {
          throw new Error(text);
        },
        (callback, payload, destructor) => C.mlx_closure_new_func_payload(callback, payload, destructor),
      );
    const [a, b] = [make("a"), make("b")];
    const inputs = C.mlx_vector_array_new();
    const apply = (closure: number) => (): unknown =>
      callClosures("apply", () => C.mlx_closure_apply(privateSlot().address, closure, inputs));
    expect([caught(apply(a)).message, caught(apply(b)).message, caught(apply(a)).message]).toEqual(["a", "b", "a"]);
    for (const closure of [a, b]) C.mlx_closure_free(closure);
    C.mlx_vector_array_free(inputs);
  });
});

describe("callClosures", () => {
  test("gives back what a call returns, and the message of one that fails", () => {
    callClosures("op", () => 0);
    expect(caught(() => callClosures("op", () => 1)).message).toBe("op: the native call failed without a message");
    expect(
      caught(() => callClosures("op", () => C.mlx_closure_apply(privateSlot().address, 0, 0))).message,
    ).toStartWith("op: expected a non-empty");
  });
});
