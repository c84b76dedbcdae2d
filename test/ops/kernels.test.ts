// Custom GPU kernels. Without a GPU they are refused, since MLX would make them in silence; how they are made is
// checked with MLX's own functions, of which only the question for a GPU and the run itself are replaced.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped, untyped } from "../helpers.ts";

const make = { metalKernel: mx.fast.metalKernel, cudaKernel: mx.fast.cudaKernel };

describe.each(["metalKernel", "cudaKernel"] as const)("%s", (name) => {
  const kernel = make[name];
  const platform = name === "metalKernel" ? "Metal" : "CUDA";

  scoped("is refused where there is no such GPU", () => {
    expect(refusal(() => kernel("twice", ["x"], ["y"], "y[0] = 2 * x[0];"))).toBe(
      `MlxError: fast.${name}: ${platform} is not available: this build of MLX or this machine has none`,
    );
  });

  scoped("refuses names that are none, an empty source, unknown options", () => {
    const source = "y[0] = 1;";
    const bad: [() => unknown, string][] = [
      [() => kernel("two words", ["x"], ["y"], source), 'name must be a name as C has them, got "two words".'],
      [() => kernel("k", untyped("x"), ["y"], source), 'inputNames must be a list of names, got "x".'],
      [() => kernel("k", ["x"], ["1"], source), 'outputNames[0] must be a name as C has them, got "1".'],
      [() => kernel("k", ["x"], [], source), "a kernel has a source and an output."],
      [() => kernel("k", ["x"], ["y"], ""), "a kernel has a source and an output."],
      [() => kernel("k", ["x"], ["y"], "a\0b"), "source contains a NUL character"],
      [
        () => kernel("k", ["x"], ["y"], source, untyped({ headers: "" })),
        'unknown option "headers". Did you mean "header"?',
      ],
      [
        () => kernel("k", ["x"], ["y"], source, { ensureRowContiguous: untyped(1) }),
        "ensureRowContiguous must be true",
      ],
    ];
    for (const [run, message] of bad) expect(refusal(run)).toStartWith(`TypeError: fast.${name}: ${message}`);
  });

  test("passes everything on to MLX, checks each call, and leaves no handle", async () => {
    const family = name === "metalKernel" ? "metal" : "cuda";
    const lines = await said(`
      const { functions: C, handleOf } = await import(${JSON.stringify(new URL("../../src/ffi.ts", import.meta.url).pathname)});
      mx.eval(mx.zeros([1]));
      const prefix = "mlx_fast_${family}_kernel_";
      const log = [];
      if (${name === "cudaKernel"}) {
        // The one function that builds without CUDA refuse: Metal's handle stands in.
        C.mlx_fast_cuda_kernel_new = (...args) => C.mlx_fast_metal_kernel_new(...args.slice(0, 6), false);
        C.mlx_fast_cuda_kernel_free = (handle) => C.mlx_fast_metal_kernel_free(handle);
      }
      // A build without the GPU has these functions too: they are called, and what they get is written down.
      for (const name of Object.keys(C).filter((key) => key.startsWith(prefix) && !key.endsWith("_free"))) {
        const own = C[name];
        C[name] = (...args) => {
          log.push([name.slice(prefix.length), ...args.filter((arg) => typeof arg === "boolean" || Math.abs(arg) < 4096)]);
          return own(...args);
        };
      }
      C.mlx_${family}_is_available = (out) => {
        // What a machine with the GPU answers: any native call that writes true will do.
        return C.mlx_device_is_available(out, device);
      };
      const device = C.mlx_device_new_type(0, 0);
      C[prefix + "apply"] = (out, kernel, inputs, config, on) => {
        log.push(["apply", kernel > 4096, C.mlx_vector_array_size(inputs), config > 4096]);
        return C.mlx_split(out, handleOf(pair, "test"), 2, 0, on);
      };
      const pair = mx.array([3, 4]);
      const before = C.mlxts_live_handles();
      {
        using kernel = mx.fast.${name}("k", ["x", "s"], ["y", "z"], "source", { header: "// h" });
        const call = {
          inputs: [mx.array([1, 2]), 5], outputShapes: [[2], [3, 4]], outputDtypes: ["float32", "int8"],
          grid: [6, 2, 1], threadgroup: [3, 1, 1], template: [["T", "float16"], ["N", 7], ["B", true]],
          initValue: 0, verbose: true,
        };
        mx.tidy(() => say(JSON.stringify(kernel(call).map((y) => y.item()))));
        for (const one of log) say(JSON.stringify(one));
        log.length = 0;
        const bad = (change) => attempt(Object.keys(change)[0], () => mx.tidy(() => kernel({ ...call, ...change })));
        bad({ inputs: [1] });
        bad({ outputShapes: [[2]] });
        bad({ outputShapes: [[2], [-1]] });
        bad({ outputDtypes: ["float32", "float"] });
        bad({ grid: [1, 2] });
        bad({ grid: [1, 2, 0] });
        bad({ threadgroup: undefined });
        bad({ template: { T: 1 } });
        bad({ template: [["a b", 1]] });
        bad({ template: [["N", 1.5]] });
        bad({ initValue: "0" });
        bad({ threads: 3 });
        say(log.filter(([name]) => name === "apply").length);
        call.inputs[0].dispose();
        kernel.dispose();
        attempt("disposed", () => kernel(call));
      }
      say(C.mlxts_live_handles() - before);
    `);
    const [result, ...rest] = lines;
    expect(result).toBe("[3,4]");
    const end = rest.findIndex((line) => line.startsWith("inputs: "));
    const last = name === "metalKernel" ? [true, false] : [true, 0];
    expect(rest.slice(0, end).map((line) => JSON.parse(line) as unknown)).toEqual([
      ["new", ...last],
      ["config_new"],
      ["config_add_output_arg", 1, 10],
      ["config_add_output_arg", 2, 5],
      ["config_set_grid", 6, 2, 1],
      ["config_set_thread_group", 3, 1, 1],
      ["config_add_template_arg_dtype", 9],
      ["config_add_template_arg_int", 7],
      ["config_add_template_arg_bool", true],
      ["config_set_init_value", 0],
      ["config_set_verbose", true],
      ["apply", true, 2, true],
    ]);
    const prefix = `fast.${name}:`;
    expect(rest.slice(end)).toEqual([
      `inputs: TypeError: ${prefix} inputs must be a list of 2, one for each name, got [1].`,
      expect.stringContaining(`outputShapes: TypeError: ${prefix} outputShapes must be a list of 2`),
      `outputShapes: RangeError: ${prefix} outputShapes[1] must not have a negative length, got [-1].`,
      expect.stringContaining(`outputDtypes: TypeError: ${prefix} outputDtypes[1] must be a dtype, got "float".`),
      expect.stringContaining(`grid: TypeError: ${prefix} grid must be a list of three numbers of threads`),
      `grid: RangeError: ${prefix} grid must be positive in each direction, got [1, 2, 0].`,
      expect.stringContaining(`threadgroup: TypeError: ${prefix} threadgroup must be a list of three`),
      expect.stringContaining(`template: TypeError: ${prefix} template must be a list of pairs`),
      `template: TypeError: ${prefix} the name of template[0] must be a name as C has them, got "a b".`,
      `template: RangeError: ${prefix} the value of template[0] must be a 32-bit integer, got 1.5.`,
      `initValue: TypeError: ${prefix} initValue must be a number, got "0".`,
      expect.stringContaining(`threads: TypeError: ${prefix} unknown option "threads".`),
      "0",
      expect.stringContaining(
        `disposed: DisposedError: ${prefix} this Fast${platform === "CUDA" ? "Cuda" : "Metal"}Kernel was`,
      ),
      "0",
    ]);
  });
});
