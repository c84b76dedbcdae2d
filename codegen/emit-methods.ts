// Plans -> generated/methods.ts: the operations as methods of Array, installed on its prototype, and their types.

import { banner } from "./emit-common.ts";
import { declaration, docComment, docShort, opModules } from "./emit-ops.ts";
import { interfaceOwners } from "./emit-ops.ts";
import { optionNames, overloads, placesOf } from "./emit-ops-signature.ts";
import type { Api } from "./ir.ts";
import { coreMethods, extraMethods, properties, spreads } from "./methods-table.ts";
import { camelName, declaredName } from "./op-names.ts";
import type { OpPlan, OpSet } from "./op-plan.ts";
import type { PythonApi } from "./pyi.ts";

interface Method {
  name: string;
  plan: OpPlan;
  spread: boolean;
}

/** Python's methods and those of the table, in the order of their names. An unknown name is an error. */
export function methodsOf(set: OpSet, python: PythonApi): Method[] {
  const byName = new Map<string, OpPlan>();
  for (const plan of set.plans) {
    if (plan.module !== "core") continue;
    for (const name of [plan.name, ...plan.aliases]) byName.set(name, plan);
  }
  const names = new Set(
    [...Object.keys(python.array.functions), ...extraMethods].filter((name) => !coreMethods.includes(name)),
  );
  return [...names].sort().map((name) => {
    const plan = byName.get(camelName(name));
    if (plan === undefined) throw new Error(`codegen: the method ${name} is no operation`);
    return { name: camelName(name), plan, spread: spreads.includes(name) };
  });
}

/** The text of generated/methods.ts. */
export function emitMethods(api: Api, set: OpSet, python: PythonApi): string {
  const methods = methodsOf(set, python);
  const names = optionNames(set.plans);
  const types = methods.map(({ name, plan, spread }) => interfaceText(name, plan, names.get(plan)!, spread)).join("");
  const bodies = methods.map(methodText).join("");
  const getters = Object.entries(properties)
    .map(
      ([name, { call }]) =>
        `  ${name}: { get(this: MxArray): MxArray { return ${call}(this); }, configurable: true },\n`,
    )
    .join("");
  const getterTypes = Object.entries(properties)
    .map(([name, { doc }]) => `    /** ${doc} */\n    readonly ${name}: MxArray;\n`)
    .join("");
  const content = types + bodies + getters;
  return (
    `${banner(api, "The operations as methods of Array: the same functions, with the array as first operand.")}` +
    'import { type ArrayInput, type IndexInput, MxArray, type StreamOptions } from "../src/core/call.ts";\n' +
    'import type { Dtype } from "../src/core/dtype.ts";\n' +
    'import { spread } from "../src/ops/args.ts";\n' +
    'import type { PadMode, PadWidth, TensordotAxes } from "../src/ops/types.ts";\n' +
    functionImports(set, methods, content) +
    `\ndeclare module "../src/core/array.ts" {\n  interface MxArray {\n${types}${getterTypes}  }\n}\n\n` +
    `const methods = {\n${bodies}};\n\n` +
    `for (const [name, value] of Object.entries(methods)) {\n` +
    `  Object.defineProperty(MxArray.prototype, name, { value, writable: true, configurable: true });\n}\n\n` +
    `Object.defineProperties(MxArray.prototype, {\n${getters}});\n`
  );
}

function functionImports(set: OpSet, methods: readonly Method[], content: string): string {
  const owners = interfaceOwners(set);
  const used = new Set([...methods.map(({ plan }) => plan.name), ...Object.values(properties).map(({ call }) => call)]);
  return opModules(set)
    .map(({ path, plans }) => {
      const functions = plans.filter((plan) => plan.module === "core" && used.has(plan.name)).map((plan) => plan.name);
      const interfaces = [...owners].flatMap(([key, owner]) => {
        const name = key.slice(key.indexOf(":") + 1);
        return key.startsWith("core:") && owner.path === path && new RegExp(`\\b${name}\\b`).test(content)
          ? [name]
          : [];
      });
      const items = [
        ...interfaces.sort().map((name) => `type ${name}`),
        ...functions.sort().map((name) => (declaredName(name) === name ? name : `${name} as ${declaredName(name)}`)),
      ];
      if (items.length === 0) return "";
      return `import {\n${items.map((item) => `  ${item},\n`).join("")}} from "./${path.slice("generated/".length)}";\n`;
    })
    .join("");
}

/** The overloads of a method in the merged interface. */
function interfaceText(name: string, plan: OpPlan, optionsName: string, spread: boolean): string {
  const indent = "    ";
  const all = overloads(plan, optionsName, true);
  const lines = all.map((signature, i) => {
    const doc = i === 0 ? docComment(plan, indent) : docShort(plan, indent);
    const text = declaration(name, signature, ";");
    return (
      doc +
      text
        .trimEnd()
        .split("\n")
        .map((line) => `${indent}${line}\n`)
        .join("")
    );
  });
  if (spread) {
    const list = placesOf(plan).either[0]!.name;
    lines.push(`${docShort(plan, indent)}${indent}${name}(...${list}: number[]): ${plan.returns};\n`);
    lines.push(
      `${docShort(plan, indent)}${indent}${name}(...args: [...${list}: number[], options: StreamOptions]): ${plan.returns};\n`,
    );
  }
  return lines.join("");
}

/** The method itself: it hands its arguments on, so that the function does all the checking. */
function methodText({ name, plan, spread }: Method): string {
  const { operands, either, options } = placesOf(plan);
  const rest = [
    ...operands
      .slice(1)
      .map((param) => ({ text: `${param.name}: ${param.type}${param.nullable ? " | null" : ""}`, name: param.name })),
    ...either.map((param) => ({ text: `${param.name}?: any`, name: param.name })),
    ...(plan.stream || options.length > 0
      ? [{ text: either.length + options.length > 0 ? "options?: any" : "options?: StreamOptions", name: "options" }]
      : []),
  ];
  const callee = declaredName(plan.name);
  const head = `  ${name}(this: MxArray${rest.map(({ text }) => `, ${text}`).join("")}): ${plan.returns} {\n`;
  const call = `return ${callee}(this${rest.map(({ name: arg }) => `, ${arg}`).join("")});`;
  if (!spread) return `${head}    ${call}\n  },\n`;
  const list = either[0]!.name;
  return (
    `${head}    if (typeof ${list} !== "number") ${call}\n` +
    `    const given = spread(arguments);\n    return ${callee}(this, given.list, given.options);\n  },\n`
  );
}
