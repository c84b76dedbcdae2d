// Rings of two and three processes on this machine, what a ring is set up from, and a process without its peers. Each
// process has a time limit: one that waits for a peer that never comes waits for good.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, runProgram, said, scoped, untyped } from "../helpers.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-ring-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function hostFile(content: unknown): string {
  const path = join(folder, `hosts-${files++}.json`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** What each process of a ring says. */
async function ring(size: number, body: string): Promise<string[][]> {
  const file = hostFile((await freePorts(size)).map((port) => [`127.0.0.1:${port}`]));
  return Promise.all(
    Array.from({ length: size }, (_, rank) =>
      said(`const d = mx.distributed;\nusing group = d.init({ strict: true, backend: "ring" });\n${body}`, {
        env: { MLX_RANK: String(rank), MLX_HOSTFILE: file },
        timeout: 60,
      }),
    ),
  );
}

const exchange = `
  const rank = group.rank();
  say(rank, group.size(), String(group));
  const mine = mx.array([rank + 1, -rank]);
  attempt("sum", () => d.allSum(mine).tolist());
  attempt("sum of the default group", () => d.allSum(mine, { group: null }).tolist());
  attempt("max", () => d.allMax(mine, { group }).tolist());
  attempt("min", () => d.allMin(mine, { group }).tolist());
  attempt("gather", () => d.allGather(mine, { group }).tolist());
  attempt("gather scalars", () => d.allGather(rank, { group, stream: "cpu" }).tolist());
  attempt("bfloat16", () => String(d.allSum(mx.ones([2], { dtype: "bfloat16" }))));
`;

describe("a ring", () => {
  test("of two: collectives as Python's, neighbours, a message in each direction, what a ring cannot do", async () => {
    const [zero, one] = await ring(
      2,
      `${exchange}
      if (rank === 0) mx.eval(d.send(mx.arange(6).reshape(2, 3), 1, { group }));
      else attempt("received", () => d.recv([2, 3], "int32", 0, { group }).tolist());
      if (rank === 1) mx.eval(d.send(mx.array([2.5]), 0));
      else attempt("received", () => d.recvLike(mx.array([0]), 1).tolist());
      attempt("no such rank", () => d.send(mine, 2, { group }));
      attempt("negative", () => d.recv([1], "float32", -1, { group }));
      attempt("shape", () => d.recv([-1], "float32", 1 - rank, { group }));
      attempt("scatter", () => d.sumScatter(mx.array([1, 2])).tolist());
      attempt("split", () => group.split(0));
      attempt("sum again", () => d.allSum(mx.array([1])).tolist());
      `,
    );
    const both = [
      "sum: [3,-1]",
      "sum of the default group: [3,-1]",
      "max: [2,0]",
      "min: [1,-1]",
      "gather: [1,0,2,-1]",
      "gather scalars: [0,1]",
      'bfloat16: "array([2, 2], dtype=bfloat16)"',
    ];
    const refused = (peer: string): unknown[] =>
      [
        `no such rank: RangeError: distributed.send: dst must be a rank from 0 to 1, got 2.`,
        `negative: RangeError: distributed.recv: src must be a rank from 0 to 1, got -1.`,
        `shape: RangeError: distributed.recv: shape must not have a negative length, got [-1].`,
        `scatter: MlxError: tolist: [ring] sum_scatter not supported.`,
        `split: MlxError: split: [ring] Group split not supported.`,
        `sum again: [2]`,
      ].map((line) => line.replace("PEER", peer));
    expect(zero).toEqual(["0 2 DistributedGroup(rank 0 of 2)", ...both, "received: [2.5]", ...refused("1")] as never);
    expect(one).toEqual([
      "1 2 DistributedGroup(rank 1 of 2)",
      ...both,
      "received: [[0,1,2],[3,4,5]]",
      ...refused("0"),
    ] as never);
  }, 90_000);

  test("of three: sums, gathers, and a token that goes round", async () => {
    const all = await ring(
      3,
      `
      const rank = group.rank();
      const [left, right] = [(rank + 2) % 3, (rank + 1) % 3];
      attempt("sum", () => d.allSum(mx.full([1000], rank + 1)).sum().item());
      attempt("gather", () => d.allGather(mx.array([rank, 10 * rank])).tolist());
      attempt("max", () => d.allMax(mx.array([rank])).tolist());
      attempt("token", () => {
        if (rank === 0) {
          mx.eval(d.send(mx.array([1]), right));
          return d.recv([1], "float32", left).item();
        }
        const token = d.recv([1], "float32", left);
        mx.eval(d.send(token.multiply(2), right));
        return token.item();
      });
      attempt("gradient", () => mx.grad((w) => d.allSum(w.multiply(rank + 1)).sum())(mx.array([1, 2])).tolist());
      `,
    );
    for (const [rank, lines] of all.entries()) {
      expect(lines).toEqual([
        "sum: 6000",
        "gather: [0,0,1,10,2,20]",
        "max: [2]",
        `token: ${[4, 1, 2][rank]}`,
        // As Python MLX gives it: each process differentiates its own share.
        `gradient: [${rank + 1},${rank + 1}]`,
      ]);
    }
  }, 90_000);

  test("a peer that dies is an error for the other", async () => {
    const [port, other] = await freePorts(2);
    const file = hostFile([[`127.0.0.1:${port}`], [`127.0.0.1:${other}`]]);
    const program = `
      const d = mx.distributed;
      using group = d.init({ strict: true, backend: "ring" });
      mx.eval(d.allSum(mx.ones([2]), { group }));
      if (group.rank() === 1) process.kill(process.pid, "SIGKILL");
      attempt("sum", () => d.allSum(mx.ones([100000]), { group }).tolist().length);
      attempt("alone", () => mx.add(1, 1).item());
    `;
    const [zero, one] = await Promise.all(
      ["0", "1"].map((rank) => runProgram(program, { env: { MLX_RANK: rank, MLX_HOSTFILE: file }, timeout: 30 })),
    );
    expect(one!.signal).toBe("SIGKILL");
    expect(zero!.output).toContain("sum: MlxError: tolist: [ring] connection to a peer was lost\n");
    expect(zero!.output).toContain("alone: 2");
    expect(zero!.code).toBe(0);
  }, 60_000);

  test("rank 0 without its peer waits for good, and can be ended from outside", async () => {
    const [port, other] = await freePorts(2);
    const file = hostFile([[`127.0.0.1:${port}`], [`127.0.0.1:${other}`]]);
    const program = `say("waiting"); mx.distributed.init({ strict: true, backend: "ring" }); say("connected");`;
    const { output, timedOut } = await runProgram(program, {
      env: { MLX_RANK: "0", MLX_HOSTFILE: file },
      timeout: 4,
    });
    expect(timedOut).toBe(true);
    expect(output.trim()).toBe("waiting");
  }, 30_000);
});

describe("alone", () => {
  test("what is built in", () => {
    expect(mx.distributed.isAvailable()).toBe(true);
    expect(mx.distributed.isAvailable("ring")).toBe(true);
    expect(mx.distributed.isAvailable("nccl")).toBe(false);
    expect(refusal(() => mx.distributed.isAvailable(untyped("tcp")))).toBe(
      'TypeError: distributed.isAvailable: backend must be one of any, mpi, ring, nccl, jaccl, got "tcp".',
    );
  });

  scoped("a group of one: what Python gives", () => {
    const d = mx.distributed;
    using group = d.init();
    expect([group.rank(), group.size()]).toEqual([0, 1]);
    const x = mx.array([1, 2]);
    expect(group).toBeInstanceOf(mx.distributed.Group);
    expect(mx.distributed.allMax(x).tolist()).toEqual([1, 2]);
    expect(mx.distributed.allMin(x).tolist()).toEqual([1, 2]);
    expect(mx.distributed.allGather(x).tolist()).toEqual([1, 2]);
    expect(mx.distributed.sumScatter(x).tolist()).toEqual([1, 2]);
    expect(d.allSum(x).tolist()).toEqual([1, 2]);
    expect(refusal(() => d.send(x, 0))).toStartWith("MlxError: distributed.send: Cannot send to a singleton group");
    expect(refusal(() => d.recv([2], "float32", 0))).toBe(
      "MlxError: distributed.recv: Cannot recv from a singleton group",
    );
    expect(refusal(() => mx.distributed.recvLike(x, 0))).toStartWith(
      "MlxError: distributed.recvLike: Cannot recv from a singleton",
    );
    expect(refusal(() => group.split(0))).toBe("MlxError: split: Cannot split the distributed group further.");
    expect(refusal(() => d.allSum(x, { group: untyped({}) }))).toStartWith(
      "TypeError: distributed.allSum: group must be a group made by distributed.init, got ",
    );
    expect(refusal(() => d.allSum(x, untyped({ grp: group })))).toContain('unknown option "grp"');
    group.dispose();
    expect(refusal(() => d.allSum(x, { group }))).toStartWith("DisposedError: distributed.allSum: ");
    expect(refusal(() => group.rank())).toStartWith("DisposedError: rank: ");
  });

  scoped("10,000 groups and collectives leave no handle", () => {
    const x = mx.array([1, 2]);
    mx.eval(mx.distributed.allSum(x));
    const before = functions.mlxts_live_handles();
    for (let i = 0; i < 10_000; i++) {
      using group = mx.distributed.init();
      using y = mx.distributed.allSum(x, { group });
      if (i % 100 === 0) mx.eval(y);
      if (i % 10 === 0) refusal(() => mx.distributed.send(x, 0, { group }));
    }
    expect(functions.mlxts_live_handles()).toBe(before);
  });
});

describe("settings that MLX would hang or crash at", () => {
  const two = (): string => hostFile([["127.0.0.1:1"], ["127.0.0.1:2"]]);
  const cases: [what: string, rank: string, file: () => string, message: string][] = [
    ["a negative rank", "-1", two, 'MLX_RANK must be a whole number, 0 or more, got "-1"'],
    ["a rank that is no number", "first", two, 'MLX_RANK must be a whole number, 0 or more, got "first"'],
    ["a rank behind the last", "2", two, "MLX_RANK is 2, and FILE lists 2 processes: ranks begin at 0"],
    ["no file", "0", () => join(folder, "none.json"), "MLX_HOSTFILE names FILE, which does not exist"],
    ["no JSON", "0", () => hostFile("[["), "FILE cannot be read as JSON: "],
    ["no list", "0", () => hostFile({ a: 1 }), "FILE must hold a list with the addresses of each rank"],
    ["nobody", "0", () => hostFile([]), "FILE lists 0 processes: a ring has at least two"],
    ["a ring of one", "0", () => hostFile([["127.0.0.1:1"]]), "FILE lists 1 processes: a ring has at least two"],
    [
      "a rank without addresses",
      "0",
      () => hostFile([["127.0.0.1:1"], []]),
      "FILE: the entry of rank 1 must be a list",
    ],
    [
      "no port",
      "0",
      () => hostFile([["127.0.0.1:1"], ["127.0.0.1"]]),
      'FILE: the entry of rank 1 must have the form "address:port", got "127.0.0.1"',
    ],
    ["port 0", "0", () => hostFile([["127.0.0.1:0"], ["127.0.0.1:2"]]), "FILE: the entry of rank 0 must have the form"],
    ["a number", "0", () => hostFile([[1], [2]]), "FILE: the entry of rank 0 must have the form"],
  ];

  test("each is refused with its reason, for the ring and for any backend, also when the first use asks", async () => {
    const given = cases.map(([what, rank, file]) => ({ what, rank, file: file() }));
    const lines = await said(
      `for (const { what, rank, file } of ${JSON.stringify(given)}) {
        process.env.MLX_RANK = rank;
        process.env.MLX_HOSTFILE = file;
        attempt(what, () => mx.distributed.init({ backend: "ring" }));
        attempt(what, () => mx.distributed.init());
        attempt(what, () => mx.distributed.allSum(1));
      }
      delete process.env.MLX_RANK;
      delete process.env.MLX_HOSTFILE;
      attempt("afterwards", () => mx.distributed.allSum(mx.array([1])).tolist());`,
      { timeout: 60 },
    );
    for (const [i, [what, , , message]] of cases.entries()) {
      const expected = `${what}: MlxError: distributed.init: ${message.replace(/\bFILE\b/, given[i]!.file)}`;
      for (const line of lines.slice(3 * i, 3 * i + 3)) expect(line).toStartWith(expected);
    }
    expect(lines.at(-1)).toBe("afterwards: [1]");
    expect(lines).toHaveLength(3 * cases.length + 1);
  }, 90_000);
});
