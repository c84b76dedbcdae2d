// Devices: made, compared, asked for, refused.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

describe("Device", () => {
  scoped("has a type and an index", () => {
    const cpu = new mx.Device("cpu");
    expect({ type: cpu.type, index: cpu.index, text: String(cpu) }).toEqual({
      type: "cpu",
      index: 0,
      text: "Device(cpu, 0)",
    });
    const gpu = new mx.Device(mx.gpu, 3);
    expect({ type: gpu.type, index: gpu.index, text: `${gpu}` }).toEqual({
      type: "gpu",
      index: 3,
      text: "Device(gpu, 3)",
    });
    expect(Bun.inspect(gpu)).toBe("Device(gpu, 3)");
  });

  scoped("equals by type and index", () => {
    expect(new mx.Device("cpu").equals(new mx.Device("cpu", 0))).toBe(true);
    expect(new mx.Device("cpu", 1).equals(new mx.Device("cpu", 0))).toBe(false);
    expect(new mx.Device("cpu").equals(new mx.Device("gpu"))).toBe(false);
  });

  scoped("compares with Devices only", () => {
    for (const [value, text] of [
      ["cpu", '"cpu"'],
      [undefined, "undefined"],
      [null, "null"],
      [mx.defaultStream("cpu"), "a Stream"],
      [mx.array(1), "an Array"],
      [{ entry: {} }, "an object"],
    ] as const) {
      expect(refusal(() => new mx.Device("cpu").equals(untyped(value)))).toBe(
        `TypeError: equals: expected a Device made by mlx-ts, got ${text}.`,
      );
    }
    const stream = mx.defaultStream("cpu");
    expect(refusal(() => stream.equals(untyped(new mx.Device("cpu"))))).toBe(
      "TypeError: equals: expected a Stream made by mlx-ts, got a Device.",
    );
    expect(refusal(() => stream.equals(untyped(null)))).toContain("got null");
  });

  test("refuses other types and indices", () => {
    for (const [type, text] of [
      ["tpu", '"tpu"'],
      ["CPU", '"CPU"'],
      [undefined, "undefined"],
      [null, "null"],
      [0, "0"],
      [Symbol("mlx-ts.internal"), "a symbol"],
    ] as const) {
      expect(refusal(() => new mx.Device(untyped(type)))).toBe(
        `TypeError: Device: type must be "cpu" or "gpu", got ${text}.`,
      );
    }
    for (const index of [-1, 0.5, NaN, Infinity, 2 ** 40, "0", null, 1n]) {
      expect(refusal(() => new mx.Device("cpu", untyped(index)))).toStartWith(
        "RangeError: Device: index must be a small non-negative integer, got ",
      );
    }
  });

  scoped("names the operation after it was disposed", () => {
    const device = new mx.Device("cpu");
    device.dispose();
    expect(refusal(() => device.type)).toStartWith("DisposedError: type: this Device was already disposed.");
    expect(refusal(() => device.index)).toStartWith("DisposedError: index:");
    expect(refusal(() => String(device))).toStartWith("DisposedError: toString:");
    expect(refusal(() => device.equals(device))).toStartWith("DisposedError: equals:");
    expect(refusal(() => mx.isAvailable(device))).toStartWith("DisposedError: isAvailable:");
    expect(Bun.inspect(device)).toBe("Device(disposed)");
  });
});

describe("what there is", () => {
  scoped("isAvailable and deviceCount", () => {
    expect(mx.isAvailable("cpu")).toBe(true);
    expect(mx.isAvailable(new mx.Device("cpu"))).toBe(true);
    expect(mx.isAvailable(mx.cpu)).toBe(true);
    expect(mx.deviceCount("cpu")).toBeGreaterThanOrEqual(1);
    expect(mx.isAvailable("gpu")).toBe(mx.deviceCount("gpu") > 0);
    expect(refusal(() => mx.isAvailable(untyped(5)))).toBe(
      'TypeError: isAvailable: a device is "cpu", "gpu" or a Device, got 5.',
    );
    expect(refusal(() => mx.deviceCount(untyped(new mx.Device("cpu"))))).toBe(
      'TypeError: deviceCount: type must be "cpu" or "gpu", got a Device.',
    );
  });

  scoped("deviceInfo of a device, a name or the default", () => {
    const info = mx.deviceInfo("cpu");
    expect(Object.keys(info).length).toBeGreaterThan(0);
    for (const value of Object.values(info)) expect(["string", "number"]).toContain(typeof value);
    expect(typeof info.architecture).toBe("string");
    expect(mx.deviceInfo()).toEqual(mx.deviceInfo(mx.defaultDevice()));
    expect(mx.deviceInfo(new mx.Device("cpu"))).toEqual(info);
    for (let i = 0; i < 300; i++) mx.deviceInfo("cpu");
  });

  test.each(mx.isAvailable("gpu") ? [] : ["gpu"])("deviceInfo refuses %s, which is not there", (name) => {
    expect(refusal(() => mx.deviceInfo(untyped(name)))).toContain("deviceInfo: Device(gpu, 0) is not available");
  });
});
