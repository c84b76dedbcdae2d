/** Short words for values in error messages. */

export function describe(value: unknown, depth = 0): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
    case "bigint":
      return `${value}n`;
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "object":
      return describeObject(value, depth);
    default:
      return String(value);
  }
}

function describeObject(value: object | null, depth: number): string {
  if (value === null) return "null";
  if (Array.isArray(value)) {
    // Short and flat: a list may be deep, or hold itself.
    if (value.length > 6 || depth > 1) return `a list of ${value.length}`;
    return `[${Array.from(value, (item) => describe(item, depth + 1)).join(", ")}]`;
  }
  const name = (Object.getPrototypeOf(value) as object | null)?.constructor?.name as unknown;
  if (name === "MxArray") return "an Array";
  if (typeof name !== "string" || name === "" || name === "Object") return "an object";
  return `${/^(?:[AEIO]|U(?!int))/.test(name) ? "an" : "a"} ${name}`;
}
