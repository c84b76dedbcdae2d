// Streams: defaults, scopes of withStream, what is refused, and that each thread has its own.
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { functions } from "../../src/ffi.ts";
import { caught, refusal, said, scoped, untyped } from "../helpers.ts";

// What the default stream's handle costs is made once and kept.
mx.tidy(() => void mx.add(1, 1));

afterEach(() => {
  using device = mx.defaultDevice();
  expect(String(device)).toBe("Device(cpu, 0)");
});

describe("newStream", () => {
  scoped("makes another stream each time", () => {
    const [a, b] = [mx.newStream("cpu"), mx.newStream(new mx.Device("cpu"))];
    expect(a.equals(b)).toBe(false);
    expect(a.equals(a)).toBe(true);
    expect(a.index).not.toBe(b.index);
    expect(String(a)).toBe(`Stream(Device(cpu, 0), ${a.index})`);
    expect(Bun.inspect(a)).toBe(String(a));
    expect(String(a.device)).toBe("Device(cpu, 0)");
    expect(mx.add(1, 2, { stream: a }).item()).toBe(3);
    expect(mx.add(mx.add(1, 2, { stream: a }), 1, { stream: b }).item()).toBe(4);
  });

  test("refuses devices that are not there, and what is no device", () => {
    expect(refusal(() => mx.newStream("gpu"))).toBe(
      "MlxError: newStream: Device(gpu, 0) is not available: this build of MLX or this machine has no such device",
    );
    for (const value of ["tpu", undefined, null, 0, {}, []]) {
      expect(refusal(() => mx.newStream(untyped(value)))).toStartWith(
        'TypeError: newStream: a device is "cpu", "gpu" or a Device, got ',
      );
    }
  });

  test("a Stream cannot be made by hand", () => {
    const Any = untyped<new (...args: unknown[]) => unknown>(mx.Stream);
    expect(refusal(() => new Any("cpu"))).toBe(
      'TypeError: Stream cannot be made with "new". Use the function of mlx-ts that returns one.',
    );
  });
});

describe("the default stream", () => {
  scoped("is one of its device, and its handles are independent", () => {
    const [a, b] = [mx.defaultStream("cpu"), mx.defaultStream(new mx.Device("cpu", 0))];
    expect(a.equals(b)).toBe(true);
    a.dispose();
    expect(b.index).toBeGreaterThanOrEqual(0);
    expect(mx.add(1, 1).item()).toBe(2);
    expect(refusal(() => mx.defaultStream("gpu"))).toContain("Device(gpu, 0) is not available");
  });

  scoped("can be replaced, again and again, without leaving a handle", () => {
    const original = mx.defaultStream("cpu");
    const [a, b] = [mx.newStream("cpu"), mx.newStream("cpu")];
    const before = functions.mlxts_live_handles();
    for (let i = 0; i < 100; i++) mx.setDefaultStream(i % 2 === 0 ? a : b);
    expect(functions.mlxts_live_handles()).toBe(before);
    expect(mx.defaultStream("cpu").equals(b)).toBe(true);
    b.dispose();
    expect(mx.add(1, 1).item()).toBe(2);
    mx.setDefaultStream(original);
    expect(mx.defaultStream("cpu").equals(original)).toBe(true);
  });

  scoped("setDefaultStream wants a live Stream", () => {
    for (const value of ["cpu", new mx.Device("cpu"), undefined, 0]) {
      expect(refusal(() => mx.setDefaultStream(untyped(value)))).toStartWith(
        "TypeError: setDefaultStream: expected a Stream, got ",
      );
    }
    const gone = mx.newStream("cpu");
    gone.dispose();
    expect(refusal(() => mx.setDefaultStream(gone))).toStartWith("DisposedError: setDefaultStream: this Stream was");
  });

  test("setDefaultDevice refuses a device that is not there, and keeps the old one", () => {
    expect(refusal(() => mx.setDefaultDevice("gpu"))).toContain("setDefaultDevice: Device(gpu, 0) is not available");
    expect(refusal(() => mx.setDefaultDevice(untyped("x")))).toStartWith("TypeError: setDefaultDevice: a device is");
    mx.setDefaultDevice("cpu");
    mx.tidy(() => expect(mx.add(1, 1).item()).toBe(2));
  });
});

describe("the stream option", () => {
  scoped("takes streams and devices", () => {
    const one = mx.array([1, 2]);
    for (const stream of [
      mx.newStream("cpu"),
      mx.defaultStream("cpu"),
      new mx.Device("cpu"),
      "cpu",
      undefined,
    ] as const) {
      expect(mx.add(one, 1, { stream }).tolist()).toEqual([2, 3]);
    }
  });

  scoped("refuses the rest, before anything else", () => {
    const one = mx.array([1, 2]);
    for (const stream of ["tpu", 0, null, {}, one, []]) {
      expect(refusal(() => mx.add(one, 1, { stream: untyped(stream) }))).toStartWith(
        'TypeError: add: stream must be a Stream, a Device, "cpu" or "gpu", got ',
      );
    }
    expect(refusal(() => mx.add(one, 1, { stream: "gpu" }))).toBe(
      "MlxError: add: Device(gpu, 0) is not available: this build of MLX or this machine has no such device",
    );
    const gone = mx.newStream("cpu");
    gone.dispose();
    expect(refusal(() => mx.add(one, 1, { stream: gone }))).toStartWith("DisposedError: add: this Stream was already");
    const device = new mx.Device("cpu");
    device.dispose();
    expect(refusal(() => mx.add(one, 1, { stream: device }))).toStartWith("DisposedError: add: this Device was");
  });
});

describe("withStream", () => {
  scoped("sets the stream inside, and restores it after", () => {
    const stream = mx.newStream("cpu");
    const other = mx.newStream("cpu");
    const result = mx.withStream(stream, () => {
      const inner = mx.withStream(other, () => mx.add(1, 2));
      return mx.add(inner, 1);
    });
    expect(result.item()).toBe(4);
    expect(mx.withStream("cpu", () => 5)).toBe(5);
  });

  scoped("restores it when fn throws, the very object", () => {
    const mine = new Error("mine");
    expect(
      caught(() =>
        mx.withStream(mx.newStream("cpu"), () => {
          throw mine;
        }),
      ),
    ).toBe(mine);
    expect(mx.add(1, 1).item()).toBe(2);
  });

  scoped("survives what happens to the Stream inside", () => {
    const stream = mx.newStream("cpu");
    const result = mx.withStream(stream, () => {
      stream.dispose();
      mx.collectForgotten();
      return mx.add(mx.array([1, 2]), 1);
    });
    expect(result.tolist()).toEqual([2, 3]);
    // A Stream that nobody holds but the call.
    expect(
      mx.withStream(mx.newStream("cpu"), () => {
        for (let i = 0; i < 300; i++) mx.array(i).dispose();
        mx.collectForgotten();
        return mx.add(1, 1).item();
      }),
    ).toBe(2);
  });

  scoped("survives other defaults inside", () => {
    const original = mx.defaultStream("cpu");
    mx.withStream(mx.newStream("cpu"), () => {
      mx.setDefaultStream(mx.newStream("cpu"));
      mx.setDefaultDevice("cpu");
      expect(mx.add(1, 1).item()).toBe(2);
    });
    expect(mx.add(1, 1).item()).toBe(2);
    mx.setDefaultStream(original);
  });

  test("refuses promises and what is no function or stream", () => {
    expect(
      refusal(() =>
        mx.withStream(
          "cpu",
          untyped(async () => 1),
        ),
      ),
    ).toBe(
      'TypeError: withStream: the function returned a promise, but the stream is in force only until it returns. Make it synchronous, or own arrays by "using" across await.',
    );
    expect(refusal(() => mx.withStream("cpu", untyped(5)))).toBe("TypeError: withStream: expected a function, got 5.");
    expect(refusal(() => mx.withStream(untyped("x"), () => 1))).toStartWith("TypeError: withStream: stream must be a");
    expect(refusal(() => mx.withStream("gpu", () => 1))).toContain("withStream: Device(gpu, 0) is not available");
    const gone = mx.newStream("cpu");
    gone.dispose();
    expect(refusal(() => mx.withStream(gone, () => 1))).toStartWith("DisposedError: withStream:");
  });
});

describe("synchronize", () => {
  scoped("waits for a stream, a device or the default", () => {
    const stream = mx.newStream("cpu");
    mx.asyncEval(mx.add(mx.array([1]), 1, { stream }));
    mx.synchronize(stream);
    mx.synchronize("cpu");
    mx.synchronize();
    expect(refusal(() => mx.synchronize("gpu"))).toContain("synchronize: Device(gpu, 0) is not available");
    expect(refusal(() => mx.synchronize(untyped(5)))).toStartWith("TypeError: synchronize: stream must be");
  });
});

describe("another thread", () => {
  test("has streams, defaults and errors of its own", async () => {
    const file = JSON.stringify(join(import.meta.dir, "fixtures/streams.worker.ts"));
    const lines = await said(`
      const mine = mx.defaultStream("cpu");
      const worker = new Worker(${file});
      const answer = await new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage("go");
      });
      say(JSON.stringify(answer));
      say(mx.defaultStream("cpu").equals(mine), mx.add(1, 1).item());
      worker.terminate();
    `);
    expect(lines).toEqual(['[45,"MlxError",true]', "true 2"]);
  });
});
