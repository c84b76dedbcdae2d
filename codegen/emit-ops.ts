// Plans -> generated/ops*.ts: one exported function each, with its overloads, its documentation and its body.

import { banner, lineWidth } from "./emit-common.ts";
import { bodyLines, ModuleText } from "./emit-ops-body.ts";
import { optionNames, optionsInterface, overloads, placesOf } from "./emit-ops-signature.ts";
import type { Api } from "./ir.ts";
import { docs } from "./docs.ts";
import { declaredName } from "./op-names.ts";
import type { OpPlan, OpSet } from "./op-plan.ts";

/**
 * One generated module. Functions whose bodies are written by hand are in a module of their own, above src/ops, so
 * that those bodies may call the others.
 */
export interface OpModule {
  path: string;
  what: string;
  plans: readonly OpPlan[];
}

/** Which plans go into which file. */
export function opModules(set: OpSet): OpModule[] {
  const of = (module: string, byHand: boolean): OpPlan[] =>
    set.plans.filter((plan) => plan.module === module && (plan.body.kind === "byHand") === byHand);
  const modules = [...new Set(set.plans.map((plan) => plan.module))];
  return modules.flatMap((module): OpModule[] => {
    const stem = module === "core" ? "ops" : `ops-${module}`;
    const space = module === "core" ? "mx" : `mx.${module}`;
    return [
      { path: `generated/${stem}.ts`, what: `${space}: operations that the rules express.`, plans: of(module, false) },
      {
        path: `generated/${stem}-byhand.ts`,
        what: `${space}: the signatures and options of operations whose bodies are in src/ops.`,
        plans: of(module, true),
      },
    ].filter(({ plans }) => plans.length > 0);
  });
}

/** Words of a text as `  * ` lines of a documentation comment. */
export function docLines(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + 3 + line.length + 1 + word.length > lineWidth) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((part) => `${indent} * ${part}`);
}

/** The documentation of an operation: what it does, the rest that docs.ts says, defaults, Python's form. */
export function docComment(plan: OpPlan, indent: string): string {
  const doc = docs[plan.python];
  if (doc === undefined) throw new Error(`codegen: docs.ts does not describe ${plan.python}`);
  const [summary, detail] = doc;
  const defaults = plan.params
    .filter((param) => !param.required)
    .map((param) => `${param.name} ${param.defaultText ?? "null"}`);
  const python = `mx.${plan.python}(${plan.signature})`;
  const parts = [
    docLines(summary, indent),
    docLines(detail, indent),
    docLines(`${defaults.length === 0 ? "" : `Defaults: ${defaults.join(", ")}. `}Python: \`${python}\`.`, indent),
  ];
  return `${indent}/**\n${parts.map((part) => part.join("\n")).join(`\n${indent} *\n`)}\n${indent} */\n`;
}

/** The first sentence of an operation's documentation, for its further overloads. */
export function docShort(plan: OpPlan, indent: string): string {
  return shortDoc(docs[plan.python]?.[0] ?? "", indent);
}

/** A documentation comment of one paragraph. */
export function shortDoc(text: string, indent: string): string {
  const flat = `${indent}/** ${text} */`;
  if (flat.length <= lineWidth) return `${flat}\n`;
  return `${indent}/**\n${docLines(text, indent).join("\n")}\n${indent} */\n`;
}

/** `export function sum(a: ArrayInput, ...): MxArray;`, broken at the parameters where it is too long. */
export function declaration(head: string, signature: string, tail: string): string {
  const flat = `${head}${signature}${tail}`;
  if (flat.length <= lineWidth) return `${flat}\n`;
  const close = signature.lastIndexOf("): ");
  const params = splitParams(signature.slice(1, close));
  return `${head}(\n${params.map((param) => `  ${param},\n`).join("")}${signature.slice(close)}${tail}\n`;
}

function splitParams(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const char = text[i];
    if (char === "<" || char === "(" || char === "[" || char === "{") depth++;
    else if (char === ">" || char === ")" || char === "]" || char === "}") depth--;
    if ((char === "," && depth === 0) || i === text.length) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return parts;
}

/** One function with all its overloads. */
function functionText(plan: OpPlan, optionsName: string, module: ModuleText): string {
  const declared = declaredName(plan.name);
  const exported = declared === plan.name ? "export " : "";
  const all = overloads(plan, optionsName, false);
  const { operands, either, options } = placesOf(plan);
  const body = bodyLines(plan, module)
    .map((line) => `  ${line}\n`)
    .join("");
  const trailing = plan.stream || options.length > 0;
  const loose = either.length > 0 || options.length > 0;
  let text = docComment(plan, "");
  if (!loose) {
    text += declaration(`${exported}function ${declared}`, all[0]!, " {");
  } else {
    text += all
      .map(
        (signature, i) =>
          (i === 0 ? "" : docShort(plan, "")) + declaration(`${exported}function ${declared}`, signature, ";"),
      )
      .join("");
    const params = [
      ...operands.map((param) => `${param.name}: ${param.type}${param.nullable ? " | null" : ""}`),
      ...either.map((param) => `${param.name}?: unknown`),
      ...(trailing ? ["options?: unknown"] : []),
    ];
    text += declaration(`${exported}function ${declared}`, `(${params.join(", ")}): ${plan.returns}`, " {");
  }
  text += `${body}}\n`;
  if (declared !== plan.name) text += `export { ${declared} as ${plan.name} };\n`;
  for (const alias of plan.aliases) text += `export { ${declared} as ${alias} };\n`;
  return text;
}

/** The named types that a text mentions, of those that a module may import. */
function mentioned(text: string, names: readonly string[]): string[] {
  return names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
}

const funnelTypes = ["ArrayInput", "IndexInput", "MxArray", "StreamOptions"];
const ownTypes = [
  "ConvolveMode",
  "FftNorm",
  "NormOrder",
  "PadMode",
  "PadWidth",
  "QuantizationMode",
  "TensordotAxes",
  "Triangle",
];

function importLine(names: readonly string[], from: string): string {
  if (names.length === 0) return "";
  const flat = `import { ${names.join(", ")} } from "${from}";`;
  if (flat.length <= lineWidth) return `${flat}\n`;
  return `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}";\n`;
}

/** The text of one generated module, and the option interfaces that it declares. */
export function emitOpModule(
  api: Api,
  set: OpSet,
  { path, what, plans }: OpModule,
): { text: string; functions: string[]; interfaces: string[] } {
  const names = optionNames(set.plans);
  const owners = interfaceOwners(set);
  const module = new ModuleText();
  const bodies = plans.map((plan) => functionText(plan, names.get(plan)!, module));
  const interfaces = plans.filter((plan) => owners.get(keyOf(plan, names))?.plan === plan);
  const declared = interfaces.map((plan) => names.get(plan)!);
  const content = [
    ...interfaces.map(
      (plan) => `${shortDoc(`The options of ${listed(plan, names)}.`, "")}${optionsInterface(plan, names.get(plan)!)}`,
    ),
    ...bodies,
  ].join("\n");
  const foreign = new Map<string, string[]>();
  for (const plan of plans) {
    const name = names.get(plan)!;
    const owner = owners.get(keyOf(plan, names));
    const known = owner === undefined ? [] : (foreign.get(owner.path) ?? []);
    if (owner !== undefined && owner.path !== path && !known.includes(name)) foreign.set(owner.path, [...known, name]);
  }
  const all = `${content}${module.lists}`;
  const values = [...module.funnel].sort().map((name) => (name === "C" ? "C" : `${name} as $${name}`));
  const imports =
    importLine([...mentioned(all, funnelTypes).map((t) => `type ${t}`), ...values], "../src/core/call.ts") +
    (mentioned(all, ["Dtype"]).length > 0 ? 'import type { Dtype } from "../src/core/dtype.ts";\n' : "") +
    importLine(
      [...module.helpers].sort().map((name) => `${name} as $${name}`),
      "../src/ops/args.ts",
    ) +
    importLine(
      [...module.guards].sort().map((name) => `${name} as $${name}`),
      "../src/ops/empty.ts",
    ) +
    [...module.bodies]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([file, used]) =>
        importLine(
          [...used].sort().map((name) => `${name}Body as $${name}Body`),
          `../src/ops/${file}`,
        ),
      )
      .join("") +
    (module.usesKeys ? 'import { keyOrNext as $keyOrNext } from "../src/ops/random-state.ts";\n' : "") +
    importLine(
      mentioned(all, ownTypes).map((t) => `type ${t}`),
      "../src/ops/types.ts",
    ) +
    [...foreign]
      .map(([from, types]) =>
        importLine(
          types.map((t) => `type ${t}`),
          `./${from.slice("generated/".length)}`,
        ),
      )
      .join("");
  const aliases = plans.flatMap((plan) => plan.aliases);
  return {
    text: `${banner(api, what)}${imports}\n${module.lists}${module.lists === "" ? "" : "\n"}${content}`,
    functions: [...plans.map((plan) => plan.name), ...aliases].sort(),
    interfaces: declared.sort(),
  };
}

/** `sum, prod and mean`: the operations that share an interface. */
function listed(plan: OpPlan, names: ReadonlyMap<OpPlan, string>): string {
  const name = names.get(plan);
  const same = [...names].filter(([other, its]) => its === name && other.module === plan.module);
  const all = same.map(([other]) => `\`mx.${other.python}\``);
  const last = all.pop()!;
  return all.length === 0 ? last : `${all.join(", ")} and ${last}`;
}

function keyOf(plan: OpPlan, names: ReadonlyMap<OpPlan, string>): string {
  return `${plan.module}:${names.get(plan)!}`;
}

/** The module that declares each options interface: that of the first operation which has it. */
export function interfaceOwners(set: OpSet): Map<string, { path: string; plan: OpPlan }> {
  const names = optionNames(set.plans);
  const owners = new Map<string, { path: string; plan: OpPlan }>();
  for (const { path, plans } of opModules(set)) {
    for (const plan of plans) {
      const key = keyOf(plan, names);
      if (names.get(plan) !== "StreamOptions" && !owners.has(key)) owners.set(key, { path, plan });
    }
  }
  return owners;
}
