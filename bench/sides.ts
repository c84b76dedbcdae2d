/** Runs the sides of a bench: interleaved, each round in fresh processes, since the machine is shared. */

export type Figures = Record<string, number>;

function figures(command: readonly string[], env: Readonly<Record<string, string>>): Figures {
  const result = Bun.spawnSync([...command], { stdout: "pipe", stderr: "pipe", env: { ...process.env, ...env } });
  if (result.exitCode !== 0) throw new Error(`${command[0]}: ${result.stderr.toString()}`);
  return JSON.parse(result.stdout.toString()) as Figures;
}

/** The minimum of each figure of each side. A side is a command that prints one JSON line of figures. */
export function minima(
  sides: Readonly<Record<string, readonly string[]>>,
  rounds: number,
  env: Readonly<Record<string, string>> = {},
): Record<string, Figures> {
  const best: Record<string, Figures> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [side, command] of Object.entries(sides)) {
      const kept = (best[side] ??= {});
      for (const [name, value] of Object.entries(figures(command, env)))
        kept[name] = Math.min(kept[name] ?? Infinity, value);
    }
  }
  return best;
}
