// IR -> generated/enums.ts and generated/handles.ts.

import { banner, lineWidth } from "./emit-common.ts";
import type { Api, CEnum, HandleKind } from "./ir.ts";

/** `no_simplify` -> `noSimplify`. */
export function camel(name: string): string {
  return name.replace(/_+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Member names without what they all share: MLX_, and the enum's own name where every member repeats it. */
function memberNames({ cname, members }: CEnum): string[] {
  const own = `${cname.toUpperCase()}_`;
  const prefix = members.every((member) => member.name.startsWith(own)) ? own : "MLX_";
  return members.map(({ name }) => camel(name.slice(prefix.length).toLowerCase()));
}

function emitEnum(item: CEnum): string {
  const names = memberNames(item);
  const body = item.members.map((member, index) => `  ${names[index]}: ${member.value},\n`).join("");
  const variable = `${camel(item.cname.replace(/^mlx_/, ""))}Codes`;
  return `/** ${item.cname} */\nexport const ${variable} = {\n${body}} as const;\n`;
}

/** The text of generated/enums.ts. */
export function emitEnums(api: Api): string {
  return (
    banner(api, "The enums of mlx-c: member names in camelCase and the codes that C gives them.") +
    api.enums.map(emitEnum).join("\n")
  );
}

/** The functions of a handle's life that the headers declare; null where they declare none. */
export interface HandleFunctions {
  /** Takes the handle and frees it. */
  free: string;
  /** Makes an empty one, without arguments. */
  new: string | null;
  /** Lets one handle refer to what another refers to. */
  set: string | null;
  /** Its printed form, as an mlx_string. */
  tostring: string | null;
}

/** Finds a handle's functions by name and by shape; a kind without `free` is an error, for it would leak. */
export function handleFunctions(api: Api, handle: HandleKind): HandleFunctions {
  const find = (suffix: string, roles: string): string | null => {
    const name = `${handle.cname}_${suffix}`;
    const fn = api.functions.find((item) => item.name === name);
    return fn?.params.map((param) => param.role.kind).join() === roles ? name : null;
  };
  const free = find("free", "handle");
  if (free === null) throw new Error(`${handle.header}:${handle.line}: ${handle.cname} has no ${handle.cname}_free`);
  return {
    free,
    new: find("new", ""),
    set: find("set", "inOutHandle,handle"),
    tostring: find("tostring", "outHandle,handle"),
  };
}

function emitHandle(api: Api, handle: HandleKind): string {
  const pairs = Object.entries(handleFunctions(api, handle)).map(([key, name]) => `${key}: ${JSON.stringify(name)}`);
  const flat = `  ${handle.kind}: { ${pairs.join(", ")} },`;
  if (flat.length <= lineWidth) return `${flat}\n`;
  return `  ${handle.kind}: {\n${pairs.map((pair) => `    ${pair},\n`).join("")}  },\n`;
}

/** The text of generated/handles.ts. */
export function emitHandles(api: Api): string {
  const handles = [...api.handles].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  return (
    `${banner(api, "The kinds of handles and the functions of their lives; null where mlx-c has none.")}` +
    `export const handles = {\n${handles.map((handle) => emitHandle(api, handle)).join("")}} as const;\n`
  );
}

/** The text of generated/header-info.ts. */
export function emitHeaderInfo(api: Api): string {
  return (
    `${banner(api, "Which headers everything in this folder was generated from.")}` +
    "export const headerInfo = {\n" +
    `  mlxc: ${JSON.stringify(api.version)},\n  sha256: ${JSON.stringify(api.hash)},\n} as const;\n`
  );
}
