// The shim's functions, called as they are: what each answers, and that nothing crashes on an empty handle, an
// unevaluated array or a text full of printf's conversions.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { backend } from "../../src/core/native.ts";
import { constantAddress, int32Address, textAddress } from "../../src/core/scratch.ts";
import { functions as C, loadLibrary, privateSlot, readSlot, slot } from "../../src/ffi.ts";

let stream = 0;
const made: number[] = [];

beforeAll(() => {
  loadLibrary();
  stream = C.mlx_default_cpu_stream_new();
});

afterAll(() => {
  for (const array of made) C.mlx_array_free(array);
  C.mlx_stream_free(stream);
});

/** Calls with a fresh out slot; what was written is an array that the file frees at its end. */
function result(call: (out: number) => number): number {
  const out = slot();
  expect(call(out)).toBe(0);
  const array = readSlot(out);
  made.push(array);
  return array;
}

function scalar(value: number): number {
  const array = C.mlx_array_new_float32(value);
  made.push(array);
  return array;
}

/** bun:ffi gives null for a NULL pointer. */
function address(pointer: number | null): number {
  return pointer ?? 0;
}

function message(): string | null {
  return text(C.mlxts_error_take());
}

function text(pointer: number | null): string | null {
  return address(pointer) === 0 ? null : backend.text(address(pointer));
}

const lazySum = (): number => result((out) => C.mlx_add(out, scalar(2), scalar(3), stream));

describe("errors", () => {
  test("a message is kept for the thread and taken once", () => {
    expect(message()).toBeNull();
    expect(C.mlx_load(slot(), textAddress("no-such-file.npy"), stream)).not.toBe(0);
    expect(message()).toContain("no-such-file.npy");
    expect(message()).toBeNull();
  });

  test("the last of several is the one that is kept", () => {
    for (const name of ["first.npy", "second.npy"]) C.mlx_load(slot(), textAddress(name), stream);
    expect(message()).toContain("second.npy");
    expect(message()).toBeNull();
  });

  test("printf conversions in a file name are only text", () => {
    const name = "%s%s%s%s%n%d.npy";
    expect(C.mlx_load(slot(), textAddress(name), stream)).not.toBe(0);
    expect(message()).toContain(name);
  });

  test("the place in mlx-c is relative, with no folder of the build", () => {
    C.mlx_load(slot(), textAddress("nothing.npy"), stream);
    expect(message()).toMatch(/ at mlx\/c\/io\.cpp:\d+$/);
  });

  test("functions of mlx-c that throw outside of a try in the original", () => {
    expect(C.mlx_device_equal(0, 0)).toBe(false);
    expect(message()).toContain("mlx_device");
    expect(C.mlx_stream_equal(0, stream)).toBe(false);
    expect(message()).toContain("mlx_stream");
  });

  test("a Worker has messages of its own", async () => {
    C.mlx_load(slot(), textAddress("mine.npy"), stream);
    const worker = new Worker(new URL("fixtures/error-worker.ts", import.meta.url).href);
    const theirs = await new Promise((done, fail) => {
      worker.onmessage = (event) => done(event.data);
      worker.onerror = fail;
    });
    worker.terminate();
    expect(theirs).toEqual([null, expect.stringContaining("theirs.npy")]);
    expect(message()).toContain("mine.npy");
  });
});

test("versions", () => {
  const versions = JSON.parse(text(C.mlxts_versions()) ?? "") as Record<string, unknown>;
  expect(versions).toEqual({ mlx: "0.32.2", headers: "0.32.2", mlxc: "0.7.0", abi: 1 });
});

describe("closures", () => {
  test("a payload is a number that JavaScript holds exactly", () => {
    expect(C.mlxts_closure_payload(1, 7)).toBe(2 ** 32 + 7);
    const largest = C.mlxts_closure_payload(2 ** 20 - 1, 2 ** 32 - 1);
    expect(largest).toBe(2 ** 52 - 1);
    expect(Number.isSafeInteger(largest)).toBe(true);
  });

  test("destroyed ids wait for their owner, in portions", () => {
    const [mine, other] = [C.mlxts_owner_new(), C.mlxts_owner_new()];
    expect(other).toBe(mine + 1);
    for (let id = 0; id < 5; id++) C.mlxts_closure_dtor(C.mlxts_closure_payload(mine, id));
    C.mlxts_closure_dtor(C.mlxts_closure_payload(other, 99));
    const memory = new ArrayBuffer(16);
    const ids = new DataView(memory);
    const drain = (owner: number, capacity: number): number[] => {
      const count = C.mlxts_closure_drain(owner, backend.address(memory), capacity);
      return Array.from({ length: count }, (_, index) => ids.getUint32(index * 4, true));
    };
    const got = [...drain(mine, 4), ...drain(mine, 4)];
    expect(got.sort()).toEqual([0, 1, 2, 3, 4]);
    expect(drain(mine, 4)).toEqual([]);
    expect(drain(other, 4)).toEqual([99]);
    C.mlxts_owner_free(mine);
    C.mlxts_closure_dtor(C.mlxts_closure_payload(mine, 1));
    expect(drain(mine, 4)).toEqual([]);
    expect(C.mlxts_closure_drain(other, 0, 4)).toBe(0);
    C.mlxts_owner_free(other);
  });

  test("mlx-c hands the payload to the destructor when the last closure is freed", () => {
    const owner = C.mlxts_owner_new();
    const callback = backend.callback(() => 0, { args: ["ptr", "ptr", "ptr"], returns: "i32" });
    const payload = C.mlxts_closure_payload(owner, 5);
    const destructor = backend.symbolAddress("mlxts_closure_dtor");
    const closure = C.mlx_closure_new_func_payload(callback.pointer, payload, destructor);
    const memory = new ArrayBuffer(4);
    expect(C.mlxts_closure_drain(owner, backend.address(memory), 1)).toBe(0);
    C.mlx_closure_free(closure);
    expect(C.mlxts_closure_drain(owner, backend.address(memory), 1)).toBe(1);
    expect(new DataView(memory).getUint32(0, true)).toBe(5);
    callback.close();
    C.mlxts_owner_free(owner);
  });
});

describe("looking into an array", () => {
  const storage = [
    ["mlxts_array_data", 0],
    ["mlxts_array_buffer", 0],
    ["mlxts_array_native_buffer", 0],
    ["mlxts_array_storage_id", 0],
    ["mlxts_array_buffer_size", -1],
    ["mlxts_array_offset", -1],
    ["mlxts_array_data_size", -1],
    ["mlxts_array_flags", -1],
    ["mlxts_array_storage_use_count", -1],
  ] as const;

  test("an empty handle", () => {
    for (const [name, absent] of storage) expect(address(C[name](0)), name).toBe(absent);
    expect(C.mlxts_array_id(0)).toBe(0);
    expect(address(C.mlxts_array_primitive(0))).toBe(0);
    expect(C.mlxts_array_primitive_id(0)).toBe(0);
    const minusOne = [
      "mlxts_array_status",
      "mlxts_array_use_count",
      "mlxts_array_is_tracer",
      "mlxts_array_num_inputs",
      "mlxts_array_num_outputs",
    ] as const;
    for (const name of minusOne) expect(C[name](0), name).toBe(-1);
    for (const name of ["mlxts_array_input", "mlxts_array_output"] as const) {
      expect(C[name](slot(), 0, 0)).toBe(1);
      expect(message()).toContain("of an array with 0");
    }
  });

  test("an unevaluated array has a graph and no storage, and stays unevaluated", () => {
    const sum = lazySum();
    for (const [name, absent] of storage) expect(address(C[name](sum)), name).toBe(absent);
    expect(C.mlxts_array_status(sum)).toBe(0);
    expect(text(C.mlxts_array_primitive(sum))).toBe("Add");
    expect(C.mlxts_array_primitive_id(sum)).not.toBe(0);
    expect(C.mlxts_array_num_inputs(sum)).toBe(2);
    expect(C.mlxts_array_num_outputs(sum)).toBe(1);
    expect(C.mlxts_array_is_tracer(sum)).toBe(0);
    const same = result((out) => C.mlxts_array_output(out, sum, 0));
    expect(C.mlxts_array_id(same)).toBe(C.mlxts_array_id(sum));
    const input = result((out) => C.mlxts_array_input(out, sum, 1));
    expect(C.mlxts_array_id(input)).not.toBe(C.mlxts_array_id(sum));
    for (const index of [-1, 2, 2 ** 40]) {
      expect(C.mlxts_array_input(slot(), sum, index)).toBe(1);
      expect(message()).toStartWith(`input ${index} of an array with 2 of them`);
    }
    expect(C.mlxts_array_status(sum)).toBe(0);
  });

  test("after evaluation: storage, and the graph is gone", () => {
    const sum = lazySum();
    expect(C.mlx_array_eval(sum)).toBe(0);
    expect(C.mlxts_array_status(sum)).toBeGreaterThan(0);
    expect(address(C.mlxts_array_primitive(sum))).toBe(0);
    expect(C.mlxts_array_num_inputs(sum)).toBe(0);
    expect(new DataView(backend.view(C.mlxts_array_data(sum), 4)).getFloat32(0, true)).toBe(5);
    expect(C.mlxts_array_data(sum)).toBe(C.mlxts_array_buffer(sum) + C.mlxts_array_offset(sum));
    expect(C.mlxts_array_flags(sum)).toBe(7);
    expect(C.mlxts_array_data_size(sum)).toBe(1);
    expect(C.mlxts_array_buffer_size(sum)).toBeGreaterThanOrEqual(4);
  });

  test("a view shares the storage at an offset; handles of one array are counted", () => {
    const all = result((out) => C.mlx_arange(out, 0, 24, 1, 10, stream));
    const tail = result((out) =>
      C.mlx_slice(out, all, int32Address([12]), 1, int32Address([24]), 1, int32Address([1]), 1, stream),
    );
    expect(C.mlx_array_eval(tail)).toBe(0);
    expect(C.mlxts_array_storage_id(tail)).toBe(C.mlxts_array_storage_id(all));
    expect(C.mlxts_array_offset(tail) - C.mlxts_array_offset(all)).toBe(48);
    expect(C.mlxts_array_data_size(tail)).toBe(12);
    expect(C.mlxts_array_storage_use_count(tail)).toBe(2);
    const before = C.mlxts_array_use_count(tail);
    const again = privateSlot();
    expect(C.mlx_array_set(again.address, tail)).toBe(0);
    expect(C.mlxts_array_use_count(tail)).toBe(before + 1);
    expect(C.mlxts_array_id(again.read())).toBe(C.mlxts_array_id(tail));
    C.mlx_array_free(again.read());
    expect(C.mlxts_array_use_count(tail)).toBe(before);
  });

  test("several outputs of one operation", () => {
    const x = result((out) => C.mlx_arange(out, 0, 6, 1, 10, stream));
    const q = slot();
    const r = slot();
    const square = result((out) => C.mlx_reshape(out, x, int32Address([3, 2]), 2, stream));
    expect(C.mlx_linalg_qr(q, r, square, stream)).toBe(0);
    made.push(readSlot(q), readSlot(r));
    expect(C.mlxts_array_num_outputs(readSlot(q))).toBe(2);
    const other = result((out) => C.mlxts_array_output(out, readSlot(q), 1));
    expect(C.mlxts_array_id(other)).toBe(C.mlxts_array_id(readSlot(r)));
    expect(C.mlxts_array_primitive_id(readSlot(q))).toBe(C.mlxts_array_primitive_id(readSlot(r)));
  });
});

describe("files in memory", () => {
  test("what the writer collects, the reader loads, after the caller's bytes are gone", () => {
    const saved = lazySum();
    const writer = C.mlxts_writer_to_memory(textAddress("out.npy"));
    expect(writer).not.toBe(0);
    expect(C.mlxts_writer_size(writer)).toBe(0);
    expect(C.mlx_save_writer(writer, saved)).toBe(0);
    const size = C.mlxts_writer_size(writer);
    expect(size).toBeGreaterThan(64);
    const bytes = backend.view(C.mlxts_writer_data(writer), size).slice(0);
    expect(C.mlx_io_writer_free(writer)).toBe(0);
    expect(new TextDecoder().decode(bytes.slice(1, 6))).toBe("NUMPY");

    const reader = C.mlxts_reader_from_memory(backend.address(bytes), size, textAddress("in.npy"));
    new Uint8Array(bytes).fill(0);
    const loaded = result((out) => C.mlx_load_reader(out, reader, stream));
    C.mlx_io_reader_free(reader);
    expect(C.mlx_array_eval(loaded)).toBe(0);
    expect(new DataView(backend.view(C.mlxts_array_data(loaded), 4)).getFloat32(0, true)).toBe(5);
  });

  test("bytes that are no file are a message with the label", () => {
    const bytes = new ArrayBuffer(3);
    const reader = C.mlxts_reader_from_memory(backend.address(bytes), 3, textAddress("short %s.npy"));
    expect(C.mlx_load_reader(slot(), reader, stream)).not.toBe(0);
    expect(message()).toContain("short %s.npy");
    C.mlx_io_reader_free(reader);
  });

  test("no bytes, no label, no writer", () => {
    expect(address(C.mlxts_reader_from_memory(0, 8, 0))).toBe(0);
    expect(message()).toContain("no bytes");
    const empty = C.mlxts_reader_from_memory(0, 0, 0);
    expect(empty).not.toBe(0);
    C.mlx_io_reader_free(empty);
    expect(address(C.mlxts_writer_data(0))).toBe(0);
    expect(C.mlxts_writer_size(0)).toBe(0);
  });
});

describe("counting", () => {
  test("handles are counted up when made and down when freed", () => {
    const [handles, arrays] = [C.mlxts_live_handles(), C.mlxts_live_arrays()];
    const one = C.mlx_array_new_float32(1);
    expect(C.mlxts_live_arrays()).toBe(arrays + 1);
    const vector = C.mlx_vector_array_new_value(one);
    const string = privateSlot();
    C.mlx_version(string.address);
    expect(C.mlxts_live_arrays()).toBe(arrays + 1);
    expect(C.mlxts_live_handles()).toBe(handles + 3);
    C.mlx_string_free(string.read());
    C.mlx_vector_array_free(vector);
    C.mlx_array_free(one);
    expect(C.mlxts_live_handles()).toBe(handles);
    expect(C.mlxts_live_arrays()).toBe(arrays);
  });

  test("every kind of handle that can be made empty-handed comes back to zero", () => {
    const before = C.mlxts_live_handles();
    const device = C.mlx_device_new_type(0, 0);
    const own = C.mlx_stream_new_device(device);
    const map = C.mlx_map_string_to_array_new();
    const strings = C.mlx_vector_string_new();
    const gguf = C.mlx_io_gguf_new();
    const writer = C.mlxts_writer_to_memory(0);
    const closure = C.mlx_closure_new();
    expect(C.mlxts_live_handles()).toBeGreaterThanOrEqual(before + 4);
    C.mlx_closure_free(closure);
    C.mlx_io_writer_free(writer);
    C.mlx_io_gguf_free(gguf);
    C.mlx_vector_string_free(strings);
    C.mlx_map_string_to_array_free(map);
    C.mlx_stream_free(own);
    C.mlx_device_free(device);
    expect(C.mlxts_live_handles()).toBe(before);
  });
});

describe("BLAS and environment", () => {
  test("threads can be set and read, within reason", () => {
    const before = C.mlxts_blas_get_threads();
    expect(before).toBeGreaterThanOrEqual(1);
    if (text(C.mlxts_blas_name())?.startsWith("OpenBLAS") === true) {
      expect(C.mlxts_blas_set_threads(1)).toBe(0);
      expect(C.mlxts_blas_get_threads()).toBe(1);
      expect(C.mlxts_blas_set_threads(before)).toBe(0);
      expect(C.mlxts_blas_get_threads()).toBe(before);
    }
    for (const wrong of [0, -1]) {
      expect(C.mlxts_blas_set_threads(wrong)).toBe(1);
      expect(message()).toContain(`at least 1, got ${wrong}`);
    }
  });

  test("setenv", () => {
    expect(C.mlxts_setenv(constantAddress("MLX_TS_TEST_NAME"), constantAddress("value"))).toBe(0);
    expect(C.mlxts_setenv(constantAddress("MLX_TS_TEST_NAME"), 0)).toBe(0);
    expect(C.mlxts_setenv(constantAddress("has=sign"), constantAddress("value"))).toBe(1);
    expect(message()).toContain("has=sign");
    expect(C.mlxts_setenv(0, 0)).toBe(1);
    expect(message()).toContain("no name");
  });

  test("memory for JavaScript's buffers", () => {
    const memory = C.mlxts_allocate(16);
    expect(memory).not.toBe(0);
    new Uint8Array(backend.view(memory, 16)).fill(7);
    C.mlxts_release(memory);
    C.mlxts_release(0);
    C.mlxts_release_buffer(C.mlxts_allocate(0), 0);
    expect(address(C.mlxts_allocate(2 ** 52))).toBe(0);
  });
});
