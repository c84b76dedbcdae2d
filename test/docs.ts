// Finds the code blocks of the documentation, for docs.test.ts.

export interface Block {
  file: string;
  /** Line of the opening fence. */
  line: number;
  source: string;
  /** Why the block is not run; null for a block that is. */
  reason: string | null;
}

/** The ```ts blocks of a Markdown text. A block is left out only by the info string `ts no-run reason=...`. */
export function findBlocks(file: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const open = /^(\s*)(`{3,}|~{3,})\s*(\S*)\s*(.*)$/.exec(lines[at] ?? "");
    if (open === null) continue;
    const [, indent = "", fence = "", language = "", info = ""] = open;
    const start = at + 1;
    at = start;
    while (at < lines.length && (lines[at] ?? "").trim() !== fence) at++;
    if (at === lines.length) throw new Error(`${file}:${start}: the code block is never closed`);
    if (language !== "ts" && language !== "typescript") continue;
    const source = lines.slice(start, at).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    blocks.push({ file, line: start, source: source.join("\n"), reason: reasonOf(info, `${file}:${start}`) });
  }
  return blocks;
}

function reasonOf(info: string, where: string): string | null {
  const rest = info.trim();
  if (rest === "") return null;
  const reason = /^no-run reason=(.+)$/.exec(rest)?.[1]?.trim();
  if (reason === undefined) throw new Error(`${where}: write "ts", or "ts no-run reason=WHY", not "ts ${rest}"`);
  return reason;
}

/**
 * The outputs that a block promises, in order: the comment behind a console.log, on the same line or alone on the
 * next, and what stands after `// =>` anywhere.
 */
export function promisedOutputs(source: string): string[] {
  const promise = /(?:\bconsole\.log\(.*\);\s*\/\/(?:\s*=>)?|\/\/\s*=>)\s*(\S.*)$/gm;
  return [...source.matchAll(promise)].map(([, text]) => text?.trim() ?? "");
}
