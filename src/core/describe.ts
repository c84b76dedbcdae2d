/** Short words for values in error messages. */

export function describe(value: unknown): string {
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
      return describeObject(value);
    default:
      return String(value);
  }
}

function describeObject(value: object | null): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length <= 6 ? `[${value.map(describe).join(", ")}]` : `a list of ${value.length}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name as string | undefined;
  if (name === "MxArray") return "an Array";
  return name === undefined || name === "Object" ? "an object" : `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}
