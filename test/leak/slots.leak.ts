// Every way of passing memory to native code, 200,000 times with a value that is checked: the JIT is known to drop
// stores before native calls and to reuse stale loads after them, and one wrong value is a wrong pointer.
import { functions as C } from "../../src/ffi.ts";
import * as args from "../../src/core/args.ts";
import { Closure } from "../../src/core/closure.ts";
import { fromBfloat16Bits } from "../../src/core/half.ts";
import { handleOf } from "../../src/core/handle.ts";
import { backend } from "../../src/core/native.ts";
import { newScalar } from "../../src/core/scalar.ts";
import { constantAddress, int64Address, pointerAddress } from "../../src/core/scratch.ts";
import { privateSlot, readSlot, readSlotF64, readSlotI32, readSlotU32, slot, slotView } from "../../src/core/slots.ts";
import { defaultStreamHandle } from "../../src/core/stream.ts";
import * as mx from "../../src/index.ts";
import { countWrong, leakCases } from "./measure.ts";

const N = 200_000;

function itemInt(array: number): number {
  if (C.mlx_array_eval(array) !== 0) return Number.NaN;
  const out = slot();
  C.mlx_array_item_int32(out, array);
  return readSlotI32(out);
}

function itemDouble(array: number): number {
  if (C.mlx_array_eval(array) !== 0) return Number.NaN;
  const out = slot();
  C.mlx_array_item_float64(out, array);
  return readSlotF64(out);
}

function itemSingle(array: number): number {
  if (C.mlx_array_eval(array) !== 0) return Number.NaN;
  const out = slot();
  C.mlx_array_item_float32(out, array);
  const { view, offset } = slotView(out);
  return view.getFloat32(offset, true);
}

/** The first element, read at its address: an array made from data needs no evaluation. */
function element(array: number, dtype: mx.Dtype): number {
  const view = new DataView(backend.view(C.mlx_array_data_uint8(array), 8));
  switch (dtype) {
    case "bool":
    case "uint8":
      return view.getUint8(0);
    case "int8":
      return view.getInt8(0);
    case "uint16":
      return view.getUint16(0, true);
    case "int16":
      return view.getInt16(0, true);
    case "uint32":
      return view.getUint32(0, true);
    case "int32":
      return view.getInt32(0, true);
    case "uint64":
      return Number(view.getBigUint64(0, true));
    case "int64":
      return Number(view.getBigInt64(0, true));
    case "float16":
      return view.getFloat16(0, true);
    case "bfloat16":
      return fromBfloat16Bits(view.getUint16(0, true));
    case "float64":
      return view.getFloat64(0, true);
    default:
      return view.getFloat32(0, true);
  }
}

await leakCases({
  "out slot of the ring: handles": () => {
    const stream = defaultStreamHandle();
    return countWrong(N, (i) => {
      const x = C.mlx_array_new_int(i);
      const out = slot();
      const status = C.mlx_negative(out, x, stream);
      const negative = readSlot(out);
      const right = status === 0 && negative !== x && itemInt(negative) === -i;
      C.mlx_array_free(negative);
      C.mlx_array_free(x);
      return right;
    });
  },

  "out slot of the ring: int32, float64 and bool": () =>
    countWrong(N, (i) => {
      const whole = C.mlx_array_new_int(i - 100_000);
      const real = C.mlx_array_new_float64(i / 3);
      const out = slot();
      C._mlx_array_is_row_contiguous(out, whole);
      const flag = readSlotU32(out) & 0xff;
      const right = itemInt(whole) === i - 100_000 && itemDouble(real) === i / 3 && flag === 1;
      C.mlx_array_free(whole);
      C.mlx_array_free(real);
      return right;
    }),

  "private slot around a closure that calls operations": () => {
    const stream = defaultStreamHandle();
    let now = 0;
    using closure = new Closure(([x]) => {
      // Enough calls in the callback for the ring to come round while the outer result is still to be written.
      const out = slot();
      C.mlx_negative(out, handleOf(x as mx.Array, "test"), stream);
      C.mlx_array_free(readSlot(out));
      return mx.array(now, { dtype: "int32" });
    });
    return countWrong(N, (i) => {
      now = i;
      const input = C.mlx_array_new_int(-i);
      const vector = C.mlx_vector_array_new_value(input);
      const out = privateSlot();
      const status = C.mlx_closure_apply(out.address, handleOf(closure, "test"), vector);
      const results = out.read();
      const first = slot();
      C.mlx_vector_array_get(first, results, 0);
      const result = readSlot(first);
      const right = status === 0 && itemInt(result) === i;
      for (const array of [result, input]) C.mlx_array_free(array);
      for (const list of [results, vector]) C.mlx_vector_array_free(list);
      return right;
    });
  },

  "int32 lists": () => {
    const stream = defaultStreamHandle();
    const int32 = args.dtype("int32", "test", "dtype");
    return countWrong(N, (i) => {
      const shape = [1 + (i % 7), 1 + (i % 5), 1 + (i % 11)].slice(0, 1 + (i % 3));
      const out = slot();
      C.mlx_zeros(out, args.ints(shape, "test", "shape"), shape.length, int32, stream);
      const array = readSlot(out);
      const address = C.mlx_array_shape(array);
      const right =
        C.mlx_array_ndim(array) === shape.length &&
        shape.every((size, axis) => backend.readI32(address, axis * 4) === size);
      C.mlx_array_free(array);
      return right;
    });
  },

  "int64 lists": () => {
    const stream = defaultStreamHandle();
    const base = mx.array(
      new Int32Array(64).map((_, i) => i),
      { shape: [64] },
    );
    return countWrong(N, (i) => {
      const stride = 1 + (i % 9);
      const offset = i % 10;
      const out = slot();
      const handle = handleOf(base, "test");
      C.mlx_as_strided(out, handle, args.ints([2], "test", "shape"), 1, int64Address([stride * 5]), 1, offset, stream);
      const view = readSlot(out);
      C.mlx_array_eval(view);
      const data = C.mlx_array_data_int32(view);
      const right =
        backend.readI32(data, 0) === offset && backend.readI32(data, stride * 5 * 4) === offset + stride * 5;
      C.mlx_array_free(view);
      return right;
    });
  },

  "lists of handles": () =>
    countWrong(N, (i) => {
      const parts = [C.mlx_array_new_int(i), C.mlx_array_new_int(i + 1), C.mlx_array_new_int(-i)];
      const vector = C.mlx_vector_array_new_data(pointerAddress(parts), parts.length);
      let right = C.mlx_vector_array_size(vector) === parts.length;
      for (const [at, value] of [i, i + 1, -i].entries()) {
        const out = slot();
        C.mlx_vector_array_get(out, vector, at);
        const part = readSlot(out);
        right &&= itemInt(part) === value;
        C.mlx_array_free(part);
      }
      for (const part of parts) C.mlx_array_free(part);
      C.mlx_vector_array_free(vector);
      return right;
    }),

  "scalars of every dtype": () => {
    const dtypes = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"] as const;
    const floats = ["float16", "bfloat16", "float32", "float64"] as const;
    return countWrong(N, (i) => {
      const dtype = [...dtypes, ...floats][i % 13] ?? "int32";
      const value = dtype === "bool" ? i & 1 : (i >> 4) & 0x7f;
      const array = newScalar(value, dtype);
      const right = element(array, dtype) === value;
      C.mlx_array_free(array);
      return right;
    });
  },

  "text: short words that are kept, and long ones in the ring": () =>
    countWrong(N, (i) => {
      const text =
        i % 2 === 0
          ? `word-${i % 50}`
          : `${"a longer text, past the words that are kept "}${i} é ${"x".repeat(i % 300)}`;
      const address = i % 4 === 0 ? constantAddress(text) : args.str(text, "test", "text");
      const string = C.mlx_string_new_data(address);
      const right = backend.text(C.mlx_string_data(string)) === text;
      C.mlx_string_free(string);
      return right;
    }),

  "optional floats": () => {
    const stream = defaultStreamHandle();
    const infinite = C.mlx_array_new_float32(Number.POSITIVE_INFINITY);
    return countWrong(N, (i) => {
      const value = i % 3 === 0 ? null : (i - 100_000) / 4;
      const out = slot();
      const none = args.optionalFloat(null, "test", "neginf");
      C.mlx_nan_to_num(out, infinite, 0, args.optionalFloat(value, "test", "posinf"), none, stream);
      const array = readSlot(out);
      const got = itemSingle(array);
      C.mlx_array_free(array);
      return got === (value ?? 3.4028234663852886e38);
    });
  },

  "optional integers and dtypes": () => {
    const stream = defaultStreamHandle();
    const x = mx.array(new Float32Array(64).fill(1), { shape: [1, 64] });
    return countWrong(N, (i) => {
      const groups = i % 2 === 0 ? 32 : 64;
      const out = slot();
      const group = args.optionalInt(i % 4 === 3 ? null : groups, "test", "groupSize");
      const bits = args.optionalInt(4, "test", "bits");
      C.mlx_quantize(out, handleOf(x, "test"), group, bits, args.str("affine", "test", "mode"), 0, stream);
      const parts = readSlot(out);
      const second = slot();
      C.mlx_vector_array_get(second, parts, 1);
      const scales = readSlot(second);
      const quantized = C.mlx_array_size(scales) === 64 / groups;
      C.mlx_array_free(scales);
      C.mlx_vector_array_free(parts);

      const dtype = i % 3 === 0 ? null : i % 3 === 1 ? "float32" : "uint8";
      const sum = slot();
      const ones = C.mlx_array_new_bool(true);
      C.mlx_cumsum(sum, ones, false, true, args.optionalDtype(dtype, "test", "dtype"), stream);
      const summed = readSlot(sum);
      const right = C.mlx_array_dtype(summed) === args.dtype(dtype ?? "int32", "test", "dtype");
      for (const array of [summed, ones]) C.mlx_array_free(array);
      return quantized && right;
    });
  },
});
