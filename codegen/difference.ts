// Where two texts part: enough to see what drifted, not a whole diff.

const shown = 3;

/** The first lines that differ, as a diff shows them: `-` is in the file, `+` is what codegen gives. */
export function firstDifference(file: string, generated: string): string {
  const before = file.split("\n");
  const after = generated.split("\n");
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let tail = 0;
  const limit = Math.min(before.length, after.length) - start;
  while (tail < limit && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const part = (sign: string, lines: readonly string[]): string[] => {
    const changed = lines.slice(start, lines.length - tail);
    const more = changed.length > shown ? [`${sign} ... ${changed.length - shown} more lines`] : [];
    return [...changed.slice(0, shown).map((line) => `${sign} ${line}`), ...more];
  };
  return [`  @@ line ${start + 1} @@`, ...part("  -", before), ...part("  +", after)].join("\n");
}
