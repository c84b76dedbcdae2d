// The form of a parity file: one JSON value a line, gzip; a header, then cases. Values that JavaScript's JSON would
// blur (2.0 against 2) keep their Python type here; what they become in a call is decided in literals.ts.

/** A Python float whose value is integral: 2.0, written with a fraction or an exponent. */
export class PyFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export interface ArrayValue {
  dtype: string;
  shape: number[];
  data: unknown[];
}

export interface Header {
  mlx: string;
  format: number;
  set: string;
  cases: number;
}

export interface Case {
  id: string;
  kind: string;
  /** Of an error case: the kind whose form it has. */
  form?: string;
  fn?: string;
  seed?: number;
  rtol?: number;
  atol?: number;
  expect?: unknown;
  [field: string]: unknown;
}

/** Parses one line; integral numbers that were written as floats become PyFloat. */
export function parseLine(line: string): unknown {
  return JSON.parse(line, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || !Number.isInteger(value)) return value;
    const source = context?.source;
    if (source === undefined) throw new Error("this runtime's JSON.parse does not give the source text of numbers");
    return /[.eE]/.test(source) ? new PyFloat(value) : value;
  });
}

/** Reads a whole file: the header and the cases, whose number must be the one the header promises. */
export async function readCases(path: string): Promise<{ header: Header; cases: Case[] }> {
  const bytes = await Bun.file(path).bytes();
  const text = new TextDecoder().decode(path.endsWith(".gz") ? Bun.gunzipSync(bytes) : bytes);
  const [first, ...rest] = text.trimEnd().split("\n");
  const header = JSON.parse(first ?? "") as Header;
  if (header.format !== 1) throw new Error(`${path}: format ${header.format} is not known; this reader knows format 1`);
  const cases = rest.map((line) => parseLine(line) as Case);
  if (cases.length !== header.cases) {
    throw new Error(`${path}: the header promises ${header.cases} cases, the file has ${cases.length}`);
  }
  const ids = new Set(cases.map((one) => one.id));
  if (ids.size !== cases.length) throw new Error(`${path}: case ids are not unique`);
  return { header, cases };
}

/** The value under the single `$` key of an object, or undefined when the object is not of that form. */
export function tagged(value: unknown): { tag: string; body: unknown } | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const keys = Object.keys(value);
  const tag = keys[0];
  if (keys.length !== 1 || tag === undefined || !tag.startsWith("$")) return undefined;
  return { tag, body: (value as Record<string, unknown>)[tag] };
}

/** A JSON number of any kind as a double: plain, PyFloat, or one of the three words. */
export function toNumber(value: unknown): number {
  if (value instanceof PyFloat) return value.value;
  if (typeof value === "number") return value;
  if (value === "nan") return Number.NaN;
  if (value === "inf") return Number.POSITIVE_INFINITY;
  if (value === "-inf") return Number.NEGATIVE_INFINITY;
  throw new Error(`not a number: ${JSON.stringify(value)}`);
}

/** What this harness, or the library, cannot do: never a pass, not even for an error case. */
export class Unsupported extends Error {
  override name = "Unsupported";
}
