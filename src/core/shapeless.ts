/** Traces whose graph will be used with other shapes: what is built there must not depend on a length. */

let traces = 0;

/** Whether such a trace is being made. */
export function shapelessTrace(): boolean {
  return traces > 0;
}

/** Runs a function whose graph is made for all shapes, where `shapeless` says so. */
export function traceShapes<T>(shapeless: boolean, trace: () => T): T {
  if (!shapeless) return trace();
  traces++;
  try {
    return trace();
  } finally {
    traces--;
  }
}
