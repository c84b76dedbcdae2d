/**
 * Several processes that compute together: each takes a part of the data, and the gradients are summed over the ring.
 *
 *   bun examples/ring.ts [processes]
 *
 * A process whose peers do not come waits for good, in native code that nothing inside it can interrupt. So the one that
 * starts them gives them a time limit, and ends the others when one fails.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mx from "mlx-ts";

const LIMIT_MS = 60_000;

if (process.env["MLX_RANK"] === undefined) {
  const size = Bun.argv[2] ?? "2";
  if (/^[1-9]\d*$/.test(size)) await start(Number(size));
  else {
    console.log("usage: bun examples/ring.ts [processes]\n  processes   how many compute together (default: 2)");
    if (size !== "--help") process.exitCode = 1;
  }
} else work();

/** One rank: a step of gradient descent on its own share of the data, the same weights everywhere. */
function work(): void {
  using group = mx.distributed.init({ strict: true, backend: "ring" });
  const [rank, size] = [group.rank(), group.size()];
  // The line 3 x + 2 at the points x = 0, 1/12, ... 11/12; this rank has every size-th of them.
  const points = mx.keep(mx.tidy(() => mx.divide(mx.arange(rank, 12, size), 12)));
  const loss = (w: mx.Array): mx.Array => {
    const predicted = mx.add(mx.multiply(points, w.get(0)), w.get(1));
    return mx.sum(mx.square(mx.subtract(predicted, mx.add(mx.multiply(points, 3), 2))));
  };
  const gradient = mx.grad(loss);
  let weights = mx.zeros([2]);
  for (let i = 0; i < 150; i++) {
    const next = mx.tidy(() => {
      const summed = mx.distributed.allSum(gradient(weights), { group });
      const updated = mx.subtract(weights, mx.multiply(summed, 0.06));
      mx.eval(updated);
      return updated;
    });
    weights.dispose();
    weights = next;
  }
  const [slope, offset] = weights.tolist() as [number, number];
  console.log(`rank ${rank} of ${size}: ${slope.toFixed(2)} x + ${offset.toFixed(2)}`);
  mx.dispose([points, weights]);
}

async function start(size: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ring-"));
  const hosts = join(folder, "hosts.json");
  const ports = await freePorts(size);
  writeFileSync(hosts, JSON.stringify(ports.map((port) => [`127.0.0.1:${port}`])));
  const children = ports.map((_, rank) =>
    Bun.spawn([process.execPath, import.meta.path], {
      env: { ...process.env, MLX_RANK: String(rank), MLX_HOSTFILE: hosts },
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
  const end = (): void => children.forEach((child) => child.kill("SIGKILL"));
  const limit = setTimeout(end, LIMIT_MS);
  try {
    await Promise.all(
      children.map(async (child, rank) => {
        if ((await child.exited) !== 0)
          throw new Error(`rank ${rank} ended with ${child.exitCode ?? child.signalCode}`);
      }),
    );
  } finally {
    clearTimeout(limit);
    end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ports that are free now; another program could still take one before the ring does. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
