/**
 * Computing beside a server: the event loop stays free while a Worker evaluates.
 *
 *   bun examples/worker.ts
 *
 * MLX's CPU backend runs part of an evaluation on the calling thread, so even `await x.ready()` holds the event loop
 * there. A Worker has a thread, a default stream and a memory ledger of its own. Arrays stay in it; numbers and typed
 * arrays travel.
 */

// The Worker's own side of the channel.
declare const self: Worker;

interface Job {
  size: number;
  steps: number;
}

if (Bun.isMainThread) {
  const worker = new Worker(import.meta.url);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  const start = performance.now();
  const answer = await new Promise<number>((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<number>) => resolve(event.data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ size: 768, steps: 40 } satisfies Job);
  });
  const elapsed = performance.now() - start;
  clearInterval(timer);
  worker.postMessage(null); // lets the Worker free what it holds and end by itself
  const kept = (ticks / (elapsed / 10)) * 100;
  console.log(JSON.stringify({ answer, ms: Math.round(elapsed), ticks, kept: Math.round(kept) }));
} else {
  // Set before anything is awaited: a message that comes earlier would be lost.
  self.onmessage = async (event: MessageEvent<Job | null>) => {
    if (event.data === null) return process.exit();
    self.postMessage(await compute(event.data));
  };
}

async function compute({ size, steps }: Job): Promise<number> {
  const mx = await import("mlx-ts");
  // One core for the matrix products: the other one serves.
  mx.setBlasThreads(1);
  using result = mx.tidy(() => {
    let x = mx.ones([size, size]);
    const scale = mx.full([size, size], 1 / size);
    for (let i = 0; i < steps; i++) x = mx.sin(x.matmul(scale));
    return mx.mean(x);
  });
  return result.item() as number;
}
