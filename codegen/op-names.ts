// Python's names in TypeScript's spelling.

/** Python keywords whose words are not parted by an underscore. */
const words: Readonly<Record<string, string>> = { keepdims: "keepDims" };

/** `take_along_axis` -> `takeAlongAxis`; `from_` -> `from`; `keepdims` -> `keepDims`. */
export function camelName(python: string): string {
  return words[python] ?? python.replace(/_$/, "").replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `take_along_axis` -> `TakeAlongAxis`, the stem of a type's name. */
export function pascalName(python: string): string {
  const name = camelName(python);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Names that JavaScript reserves: they can be exported, but no function can be declared by them. */
const reserved: Readonly<Record<string, string>> = { var: "variance" };

/** The name under which a function is declared; it differs from its public name only where that is a reserved word. */
export function declaredName(name: string): string {
  return reserved[name] ?? name;
}
