import { expect, test } from "bun:test";
import { minimumBun, requireRuntime, runtimeProblem } from "../../src/backend/runtime.ts";

test.each([minimumBun, "1.4.10", "1.10.0", "2.0.0", "1.5.0-canary.1"])("Bun %s is new enough", (bun) => {
  expect(runtimeProblem({ bun, node: "24.0.0" })).toBeNull();
});

test.each(["1.4.4", "1.3.99", "0.8.1"])("Bun %s is told to upgrade, both versions named", (bun) => {
  const problem = runtimeProblem({ bun, node: "24.0.0" });
  expect(problem).toContain(`this is Bun ${bun}`);
  expect(problem).toContain(minimumBun);
  expect(problem).toContain("bun upgrade");
});

test("Node.js and browsers are named", () => {
  expect(runtimeProblem({ node: "20.1.0" })).toContain("this is Node.js 20.1.0");
  expect(runtimeProblem(undefined)).toContain("a browser");
  expect(runtimeProblem({})).toContain("a browser");
});

test("this Bun will do", () => {
  expect(requireRuntime).not.toThrow();
});
