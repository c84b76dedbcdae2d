// A small, fixed part of the fuzzer of file formats: `bun run fuzz:io` runs as much of it as you like.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { formats } from "../fuzz/io-inputs.ts";
import { describeEnd, runProcess } from "../../scripts/gate/process.ts";

const fuzzer = join(import.meta.dir, "../fuzz/io.ts");

test.each(formats)(
  "300 damaged files of the format %s: refused in words or loaded, in bounds",
  async (format) => {
    const result = await runProcess([process.execPath, fuzzer, "--count", "300", "--formats", format, "--seed", "20"], {
      cwd: join(import.meta.dir, "../.."),
      timeout: 100,
    });
    expect(describeEnd(result, 100)).toBeNull();
    const [, loaded, refused] = /: (\d+) loaded, (\d+) refused, 0 findings/.exec(result.output)!.map(Number);
    expect(loaded! + refused!).toBe(300);
    // Neither is the fuzzer blind nor the loader deaf.
    expect(loaded).toBeGreaterThan(6);
    expect(refused).toBeGreaterThan(60);
    expect(result.output).toEndWith("300 passed, 0 failed\n");
  },
  120_000,
);
