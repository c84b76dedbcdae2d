/** checkpoint: gradients that compute the values in between once more instead of keeping them. */

import { applyClosure, Closure } from "../core/closure.ts";
import { check } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { NativeHandle } from "../core/kinds.ts";
import { C } from "../core/native.ts";
import { requireFunction } from "../core/scope.ts";
import { privateSlot } from "../core/slots.ts";
import { type Form, formOf, resultForm } from "./trees.ts";

/**
 * A function with the values of `fn`, whose gradient runs `fn` again instead of keeping what it computed in between:
 * less memory for more time. Arguments and results are trees of arrays; gradients reach only what is passed as an
 * argument.
 *
 * MLX can neither batch such a gradient nor differentiate it forwards: `vmap` and `jvp` of `grad(checkpoint(fn))` throw an
 * MlxError. Put `vmap` inside: `grad(checkpoint((x) => mx.sum(vmap(fn)(x))))`. Python: mx.checkpoint.
 */
export function checkpoint<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
  requireFunction(fn, "checkpoint");
  return (...args: A) => {
    const input = formOf(args, "checkpoint: the arguments");
    let output: Form | null = null;
    using closure = new Closure((traced) => {
      const form = resultForm(fn(...(input.rebuild(traced) as A)), "checkpoint");
      output ??= form;
      return form.arrays;
    });
    const made = privateSlot();
    check(C.mlx_checkpoint(made.address, handleOf(closure, "checkpoint")), "checkpoint");
    using transform = new NativeHandle("closure", made.read());
    const values = applyClosure("checkpoint", handleOf(transform, "checkpoint"), input.arrays);
    return (output as Form | null)!.rebuild(values) as R;
  };
}
