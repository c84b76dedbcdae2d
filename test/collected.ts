/**
 * Collects what was forgotten and returns the handles that are still alive.
 *
 * The engine scans its stack conservatively, so a word left there may hold a dead object through one collection:
 * other stack frames, which waiting brings, overwrite it.
 */

import * as mx from "../src/index.ts";

export async function collected(target = 0): Promise<number> {
  for (let turn = 0; turn < 50; turn++) {
    Bun.gc(true);
    mx.collectForgotten();
    if (mx.memory().liveHandles <= target) break;
    await Bun.sleep(2);
  }
  return mx.memory().liveHandles;
}
