// Reads the few attributes of Bun's JUnit report that the gate needs.

export interface JUnitReport {
  /** Tests that ran: neither skipped nor marked as to do. */
  executed: number;
  failed: number;
  skipped: number;
  /** The files that the report speaks of. */
  files: string[];
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
}

function count(tag: string, name: string): number {
  const text = attribute(tag, name);
  const value = Number(text);
  if (text === undefined || !Number.isInteger(value) || value < 0) {
    throw new Error(`JUnit report: attribute ${name} is missing or not a count in ${tag}`);
  }
  return value;
}

function unescapeXml(text: string): string {
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => names[name] ?? "");
}

/** Parses a report; throws when it has no root element or a count is missing (a report cut short). */
export function parseJUnit(xml: string): JUnitReport {
  const root = /<testsuites\s[^>]*>/.exec(xml)?.[0];
  if (root === undefined || !xml.includes("</testsuites>")) throw new Error("JUnit report: it is empty or cut short");
  const skipped = count(root, "skipped");
  const files = new Set<string>();
  for (const [tag] of xml.matchAll(/<testsuite\s[^>]*>/g)) {
    const file = attribute(tag, "file");
    if (file !== undefined) files.add(unescapeXml(file));
  }
  return { executed: count(root, "tests") - skipped, failed: count(root, "failures"), skipped, files: [...files] };
}
