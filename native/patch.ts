// The edits made to the build's own copy of mlx-c. Each names what it must find and how often: when a new mlx-c
// differs, the build stops here instead of shipping half an edit.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "./tools.ts";

interface Edit {
  readonly why: string;
  /** Files below mlx/c: all sources and private headers, or one. */
  readonly file?: string;
  readonly find: RegExp;
  readonly replace: string;
  readonly count: number;
}

export const edits: readonly Edit[] = [
  {
    why: "an exception's text is handed to printf as its format: a %s in a file name reads wild memory",
    find: /\bmlx_error\(e\.what\(\)\)/g,
    replace: 'mlx_error("%s", e.what())',
    count: 652,
  },
  {
    why: "GCC 12 has no <format>, and on a Mac it raises the oldest supported system: format.h has our own",
    file: "private/io.h",
    find: /\bstd::format\(/g,
    replace: "mlxts_format(",
    count: 5,
  },
  {
    why: "comparing an empty handle throws, and here outside of any try: through C that ends the process",
    find: /\{\n(  return mlx_(?:device|stream)_get_\(lhs\) == mlx_(?:device|stream)_get_\(rhs\);)\n\}/g,
    replace:
      '{\n  try {\n  $1\n  } catch (std::exception& e) {\n    mlx_error("%s", e.what());\n    return false;\n  }\n}',
    count: 2,
  },
  {
    why: "the same in the iterators over an empty map handle: the lookup moves into the try",
    file: "map.cpp",
    find: /(  auto& cpp_map = mlx_map_string_to_(?:array|string)_get_\(map\);\n)(  try \{\n)/g,
    replace: "$2  $1",
    count: 2,
  },
  {
    why: "live handles are counted (shim/live.h)",
    find: /\bnew mlx::core::array\(/g,
    replace: "new (mlxts_live_array) mlx::core::array(",
    count: 4,
  },
  {
    why: "live handles are counted (shim/live.h)",
    find: /\bnew (?=(?:std::|mlx::core::(?!array\()|mlx_|creader_holder|cwriter_holder))/g,
    replace: "new (mlxts_live_handle) ",
    count: 100,
  },
  {
    why: "live handles are counted (shim/live.h)",
    find: /\bdelete static_cast<mlx::core::array\*>/g,
    replace: "mlxts_gone_array(), $&",
    count: 1,
  },
  {
    why: "live handles are counted (shim/live.h)",
    find: /\bdelete static_cast<(?!mlx::core::array\*>)/g,
    replace: "mlxts_gone_handle(), $&",
    count: 36,
  },
];

/** What must not be left after the edits, whatever their counts say. */
export const forbidden: readonly { readonly why: string; readonly find: RegExp }[] = [
  { why: "a call of mlx_error whose format is not a literal", find: /(?<!_)\bmlx_error\(\s*(?!")/ },
  { why: "std::format", find: /\bstd::format\b/ },
  { why: "an uncounted new", find: /(?<![\w"*/] )\bnew (?!\(mlxts_live_)(?=[\w:]+[(<{])/ },
  { why: "an uncounted delete", find: /(?<!mlxts_gone_(?:array|handle)\(\), )\bdelete\b/ },
];

/** Applies all edits to sources given by name; pure. Throws a BuildError when a count differs. */
export function patchSources(sources: ReadonlyMap<string, string>): Map<string, string> {
  const result = new Map(sources);
  for (const edit of edits) {
    let found = 0;
    for (const [name, text] of result) {
      if (edit.file !== undefined && name !== edit.file) continue;
      const matches = text.match(edit.find)?.length ?? 0;
      if (matches === 0) continue;
      found += matches;
      result.set(name, text.replace(edit.find, edit.replace));
    }
    if (found !== edit.count) {
      throw new BuildError(
        `mlx-c differs from the one this build knows: ${edit.find} was found ${found} times, expected ${edit.count} (${edit.why}).`,
      );
    }
  }
  for (const [name, text] of result) {
    for (const rule of forbidden) {
      const match = rule.find.exec(text);
      if (match) {
        const line = text.slice(0, match.index).split("\n").length;
        throw new BuildError(`mlx/c/${name}:${line} still has ${rule.why} after the edits.`);
      }
    }
  }
  return result;
}

/** Patches a folder of mlx-c sources (the one that holds CMakeLists.txt) in place. */
export function patchFolder(folder: string): void {
  const root = join(folder, "mlx", "c");
  const names = [
    ...readdirSync(root).filter((name) => name.endsWith(".cpp")),
    ...readdirSync(join(root, "private")).map((name) => `private/${name}`),
  ];
  const sources = new Map(names.map((name) => [name, readFileSync(join(root, name), "utf8")]));
  for (const [name, text] of patchSources(sources)) {
    if (text !== sources.get(name)) writeFileSync(join(root, name), text);
  }
}
