// Many failed evaluations in one process. MLX 0.32.2 loses count of its tasks at some of them, and by itself waits for
// ever after about sixty.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { said } from "../helpers.ts";

const fixture = JSON.stringify(join(import.meta.dir, "fixtures/failures.worker.ts"));

test("six hundred failures that are waited for", async () => {
  const lines = await said(`
    const { failAndCompute } = await import(${fixture});
    say(failAndCompute(600).join(), mx.memory().liveHandles);
  `);
  expect(lines).toEqual(["600,0 0"]);
}, 40_000);

test("three hundred failures in the background, among evaluations that go on", async () => {
  const lines = await said(`
    const singular = mx.array([[1, 2], [2, 4]]);
    const x = mx.array([1, 2, 3]);
    const chain = () => {
      let y = x;
      for (let i = 0; i < 8; i++) y = mx.add(y, 1);
      return y;
    };
    let failed = 0;
    let wrong = 0;
    for (let i = 0; i < 300; i++) {
      const bad = mx.tidy(() => mx.add(mx.linalg.inv(singular, { stream: "cpu" }), 1));
      try {
        mx.asyncEval(bad);
        using good = mx.tidy(chain);
        mx.asyncEval(good);
        await bad.ready();
      } catch (error) {
        if (error instanceof mx.MlxError) failed++;
      }
      bad.dispose();
      using later = mx.tidy(chain);
      if ((await later.ready()).tolist().join() !== "9,10,11") wrong++;
    }
    say(failed, wrong);
  `);
  expect(lines).toEqual(["300 0"]);
}, 40_000);

test("failures in two Workers and the main thread at once", async () => {
  const lines = await said(`
    const { failAndCompute } = await import(${fixture});
    const work = [1, 2].map(() => {
      const worker = new Worker(${fixture});
      return new Promise((resolve, reject) => {
        worker.onmessage = (event) => (worker.terminate(), resolve(event.data));
        worker.onerror = (event) => reject(new Error(event.message));
        worker.postMessage(150);
      });
    });
    const counts = [failAndCompute(150), ...(await Promise.all(work))];
    for (const count of counts) say(count.join());
  `);
  expect(lines).toEqual(["150,0", "150,0", "150,0"]);
}, 40_000);
