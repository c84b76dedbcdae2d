// Arrays that the storage tests export.
import * as mx from "../../src/index.ts";

/** The numbers from 0 in a shape, computed. */
export function numbers(...shape: number[]): mx.Array {
  const size = shape.reduce((product, length) => product * length, 1);
  return mx.tidy(() => computed(mx.arange(size, { dtype: "float32" }).reshape(shape)));
}

export function computed(array: mx.Array): mx.Array {
  mx.eval(array);
  return array;
}
