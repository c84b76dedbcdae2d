// Runs vectors against families and compares.

export interface Vector {
  readonly name: string;
  readonly kind?: string;
  /** Whatever the file holds: each family knows its own. */
  readonly inputs: any;
  readonly expected: Readonly<Record<string, unknown>>;
}

/** What a family computes from the inputs: at least the expected fields. Null for a vector that is information only. */
export type Family = ((inputs: Vector["inputs"], vector: Vector) => Readonly<Record<string, unknown>>) | null;

export interface Outcome {
  readonly passed: string[];
  readonly failed: { readonly name: string; readonly problem: string }[];
  readonly skipped: string[];
}

/** Numbers that cannot be re-derived: kept as prose. */
const prose = "NOT-REDERIVABLE";

function differences(expected: Vector["expected"], actual: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(expected).flatMap((field) => {
    if (!(field in actual)) return [`${field}: expected ${JSON.stringify(expected[field])}, which nothing computes`];
    if (Bun.deepEquals(expected[field], actual[field], true)) return [];
    return [`${field}: expected ${JSON.stringify(expected[field])}, got ${JSON.stringify(actual[field])}`];
  });
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

function problemsOf(vector: Vector, family: NonNullable<Family>): string[] {
  try {
    if (!isObject(vector.expected) || !isObject(vector.inputs)) return ["inputs and expected have to be objects"];
    if (Object.keys(vector.expected).length === 0) return ["nothing is expected"];
    return differences(vector.expected, family(vector.inputs, vector));
  } catch (error) {
    return [`threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`];
  }
}

/** Executes every vector whose family computes anything. */
export function runVectors(vectors: readonly Vector[], families: Readonly<Record<string, Family>>): Outcome {
  const outcome: Outcome = { passed: [], failed: [], skipped: [] };
  for (const vector of vectors) {
    const name = isObject(vector) ? String(vector.name) : JSON.stringify(vector);
    const word = name.split("/", 1)[0]!;
    if (word === prose) {
      outcome.skipped.push(name);
      continue;
    }
    const family = Object.hasOwn(families, word) ? families[word] : undefined;
    if (family === undefined) {
      outcome.failed.push({ name, problem: `the family "${word}" is not known` });
      continue;
    }
    if (family === null) {
      outcome.skipped.push(name);
      continue;
    }
    const problems = problemsOf(vector, family);
    if (problems.length === 0) outcome.passed.push(name);
    else outcome.failed.push({ name, problem: problems.join("\n") });
  }
  return outcome;
}
