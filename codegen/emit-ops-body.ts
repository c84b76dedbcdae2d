// The body of one operation: the trailing options, the conversions, the native call.

import { lineWidth, list as listText } from "./emit-common.ts";
import { placesOf } from "./emit-ops-signature.ts";
import type { Conversion, NativeArg, NativeCall, OpParam, OpPlan } from "./op-plan.ts";

/** Collects what a generated module needs beside its functions. */
export class ModuleText {
  /** Names that the module takes from the call funnel. */
  readonly funnel: Set<string> = new Set();
  /** Names that it takes from src/ops/args.ts. */
  readonly helpers: Set<string> = new Set();
  /** Bodies by the file of src/ops that has them. */
  readonly bodies: Map<string, Set<string>> = new Map();
  usesKeys: boolean = false;
  /** Names that it takes from src/ops/empty.ts. */
  readonly guards: Set<string> = new Set();
  readonly #lists = new Map<string, string>();

  /** A constant list of option names, one for all operations with the same. */
  list(names: readonly string[]): string {
    const text = `[${names.map((name) => JSON.stringify(name)).join(", ")}]`;
    const known = this.#lists.get(text);
    if (known !== undefined) return known;
    const name = `options${this.#lists.size + 1}`;
    this.#lists.set(text, name);
    return name;
  }

  /** `$int`: a function of the funnel under a name that no parameter can hide. */
  call(name: string): string {
    this.funnel.add(name);
    return `$${name}`;
  }

  help(name: string): string {
    this.helpers.add(name);
    return `$${name}`;
  }

  /** The conversion of random keys, which has a file of its own. */
  key(): string {
    this.usesKeys = true;
    return "$keyOrNext";
  }

  guard(name: string): string {
    this.guards.add(name);
    return `$${name}`;
  }

  get lists(): string {
    return [...this.#lists.values()]
      .map((name, i) =>
        listText("", `const ${name}: readonly string[] = `, [...this.#lists.keys()][i]!.slice(1, -1).split(", "), ";"),
      )
      .join("");
  }
}

/** The lines that find the options object behind the positional arguments, and take the parameters out of it. */
export function optionLines(plan: OpPlan, module: ModuleText): string[] {
  const { either, options } = placesOf(plan);
  if (either.length + options.length === 0) {
    if (!plan.stream) return [];
    return [`if (options !== undefined) ${module.help("onlyStream")}(options, ${text(plan)});`];
  }
  const names = [...either, ...options].map((param) => param.name).concat(plan.stream ? ["stream"] : []);
  const list = module.list(names);
  const lines = options.map((param) => `let ${param.name}: unknown;`);
  const branch = (condition: string, at: string, count: number, after: readonly string[]): string[] => {
    const taken = count < either.length || options.length > 0 || (plan.stream && at !== "options");
    return [
      `${condition} {`,
      ...(after.length === 0 ? [] : [`  ${module.help("nothingAfter")}(${after.join(" ?? ")}, ${text(plan)});`]),
      `  ${taken ? "const given = " : ""}${module.help("trailing")}(${at}, ${text(plan)}, ${list}, ${count});`,
      ...either.slice(count).map((param) => `  ${param.name} = given.${param.name};`),
      ...options.map((param) => `  ${param.name} = given.${param.name};`),
      ...(plan.stream && at !== "options" ? ["  options = given;"] : []),
    ];
  };
  either.forEach((param, i) => {
    const after = [...either.slice(i + 1).map((later) => later.name), ...(plan.stream ? ["options"] : [])];
    const condition = `${i === 0 ? "" : "} else "}if (${module.call("isOptions")}(${param.name}))`;
    lines.push(...branch(condition, param.name, i, after));
  });
  if (plan.stream || options.length > 0) {
    lines.push(
      ...branch(`${either.length === 0 ? "" : "} else "}if (options !== undefined)`, "options", either.length, []),
    );
  }
  lines.push("}");
  return lines;
}

function text(plan: OpPlan): string {
  return JSON.stringify(plan.python.includes(".") ? `${plan.module}.${plan.name}` : plan.name);
}

/** Optional integers that MLX divides by. */
const counts: ReadonlySet<string> = new Set(["group_size", "bits"]);

/** A converted value as an expression. Defaults that need no conversion are written out. */
function converted(plan: OpPlan, module: ModuleText, param: OpParam, convert: Conversion): string {
  const at = `${text(plan)}, ${JSON.stringify(param.name)}`;
  const { name, defaultText } = param;
  const absent = param.nullable ? `${name} === undefined || ${name} === null` : `${name} === undefined`;
  const value =
    defaultText === undefined
      ? name
      : param.nullable
        ? `${name} ?? ${defaultText}`
        : `${absent} ? ${defaultText} : ${name}`;
  const simple = (fn: string): string =>
    defaultText === undefined
      ? `${module.call(fn)}(${name}, ${at})`
      : `${absent} ? ${defaultText} : ${module.call(fn)}(${name}, ${at})`;
  switch (convert.kind) {
    case "int":
    case "float":
    case "bool":
      return simple(convert.kind);
    case "string":
      return `${module.call("str")}(${value}, ${at})`;
    case "dtype":
      return `${module.call("dtype")}(${value}, ${at})`;
    case "array":
      return `${module.call("input")}(${param.place === "operand" ? name : `(${value}) as ArrayInput`}, ${at})`;
    case "nullableArray":
      return `${module.call("nullable")}(${name} as ArrayInput | null | undefined, ${at})`;
    case "key":
      return `${module.key()}(${name}, ${at})`;
    case "indexArray":
      if (!param.nullable) return `${module.call("indexInput")}(${name} as IndexInput, ${at})`;
      return `${module.help("nullableIndex")}(${name}, ${at})`;
    case "vector":
      return `${module.call("vector")}(${name} as readonly ArrayInput[], ${at})`;
    case "ints":
      return `${module.call("ints")}(${name}, ${at})`;
    case "lengths":
      return `${module.help("lengths")}(${name}, ${at})`;
    case "shape":
      return `${module.call("ints")}(${name}$, ${at})`;
    case "tuple":
      return `${module.help("tuple")}(${value}, ${convert.length}, ${at})`;
    case "optional":
      if (counts.has(param.python)) return `${module.help("optionalCount")}(${name}, ${at})`;
      return `${module.call(`optional${convert.value.charAt(0).toUpperCase()}${convert.value.slice(1)}`)}(${name} as never, ${at})`;
    case "free":
      throw new Error(`codegen, ${plan.python}: ${param.name} has no conversion`);
  }
}

/** Parameters that are a list of integers, or may be one. */
function isList({ convert }: OpParam): boolean {
  return ["ints", "lengths", "shape", "tuple"].includes(convert.kind);
}

/** Arguments whose conversion is a single word or shared by the variants get a constant of their own. */
interface Prepared {
  lines: string[];
  expressions: Map<OpParam, string>;
}

function prepare(plan: OpPlan, module: ModuleText, calls: readonly NativeCall[], chooser: OpParam | null): Prepared {
  const lines: string[] = [];
  const expressions = new Map<OpParam, string>();
  const pair = plan.body.kind !== "byHand" && plan.body.pair;
  const params = new Set(calls.flatMap(({ args }) => args.flatMap((arg) => ("param" in arg ? [arg.param] : []))));
  const order = [...params].filter((param) => param !== chooser);
  for (const param of params) {
    if (isList(param) || param === chooser) lines.push(`${param.name} = ${module.help("listOf")}(${param.name});`);
  }
  // Plain values first: an error in them is thrown before an operand is prepared.
  const isArray = (param: OpParam): boolean => /array|vector|key/i.test(param.convert.kind);
  for (const param of [...order.filter((p) => !isArray(p)), ...order.filter(isArray)]) {
    if (pair && param.place === "operand" && param.convert.kind === "array") continue;
    if (param.convert.kind === "shape") {
      const fallback = param.defaultText === undefined ? param.name : `${param.name} ?? ${param.defaultText}`;
      lines.push(`const ${param.name}$ = ${module.help("asList")}(${fallback});`);
      expressions.set(param, converted(plan, module, param, param.convert));
    } else if (param.convert.kind === "ints" || param.convert.kind === "lengths") {
      if (param.defaultText !== undefined) lines.push(`${param.name} ??= ${param.defaultText};`);
      expressions.set(param, converted(plan, module, param, param.convert));
    } else {
      lines.push(`const ${param.name}$ = ${converted(plan, module, param, param.convert)};`);
      expressions.set(param, `${param.name}$`);
    }
  }
  if (pair) {
    const [a, b] = placesOf(plan).operands;
    if (a === undefined || b === undefined) throw new Error(`codegen, ${plan.python}: a pair without two operands`);
    lines.push(`const both = ${module.call("pair")}(${a.name}, ${b.name}, ${text(plan)});`);
    expressions.set(a, "both.a");
    expressions.set(b, "both.b");
  }
  return { lines, expressions };
}

function argText(plan: OpPlan, module: ModuleText, ready: Prepared, arg: NativeArg): string {
  switch (arg.from) {
    case "out":
      return arg.index === 0 ? "out" : `out${arg.index}`;
    case "stream":
      return "on";
    case "param":
      return ready.expressions.get(arg.param) ?? converted(plan, module, arg.param, arg.convert);
    case "length":
      return `(${arg.param.name}${arg.param.convert.kind === "shape" && ready.expressions.has(arg.param) ? "$" : ""} as readonly number[]).length`;
    case "element":
      return `${arg.param.name}$[${arg.index}]!`;
  }
}

function callText(plan: OpPlan, module: ModuleText, ready: Prepared, call: NativeCall): string {
  return `C.${call.fn.name}(${call.args.map((arg) => argText(plan, module, ready, arg)).join(", ")})`;
}

/** The expression of a dispatch, which evaluates to the status. */
function dispatchText(plan: OpPlan, module: ModuleText, ready: Prepared): string[] {
  if (plan.body.kind !== "dispatch") throw new Error("codegen: no dispatch");
  const { param, absent, number, list, given } = plan.body.dispatch;
  const show = (call: NativeCall): string => callText(plan, module, ready, variantOf(call, param));
  const tests: [string, string][] = [];
  if (absent !== undefined) {
    const missing = param.defaultText === undefined ? `${param.name} === undefined || ` : "";
    tests.push([`${missing}${param.name} === null`, show(absent)]);
  }
  if (list !== undefined) tests.push([`typeof ${param.name} === "object"`, show(list)]);
  if (number !== undefined) tests.push(["", show(number)]);
  if (given !== undefined) tests.push(["", show(given)]);
  return tests.map(([test, call], i) => {
    const last = i === tests.length - 1;
    const lead = i === 0 ? "" : ": ";
    return last ? `${lead}${call}` : `${lead}${test}\n? ${call}`;
  });
}

/** A variant's own form of the choosing parameter: an integer in one, a list in another, and null in none of them. */
function variantOf(call: NativeCall, param: OpParam): NativeCall {
  const args = call.args.map((arg): NativeArg => {
    if (arg.from !== "param" || arg.param !== param) return arg;
    const present = { ...param, nullable: false };
    return { ...arg, param: present, convert: arg.convert.kind === "shape" ? { kind: "ints" } : arg.convert };
  });
  return { fn: call.fn, args };
}

/** All lines of the body. */
export function bodyLines(plan: OpPlan, module: ModuleText): string[] {
  const lines = optionLines(plan, module);
  const { body } = plan;
  if (body.kind === "byHand") return [...lines, ...handLines(plan, module, body.file)];
  const calls =
    body.kind === "call"
      ? [body.call]
      : [body.dispatch.absent, body.dispatch.number, body.dispatch.list, body.dispatch.given].filter(
          (call) => call !== undefined,
        );
  if (plan.stream)
    lines.push(`const on = ${module.call("stream")}(options as StreamOptions | undefined, ${text(plan)});`);
  const chooser = body.kind === "dispatch" ? body.dispatch.param : null;
  const ready = prepare(plan, module, calls, chooser);
  lines.push(...ready.lines, ...guardLines(plan, module, ready), `const out = ${module.call("slot")}();`);
  if (plan.result === "two") lines.push(`const out1 = ${module.call("slot")}();`);
  module.funnel.add("C");
  const operands = plan.params
    .filter((param) => /array|vector|key/i.test(param.convert.kind))
    .map((param) => param.name);
  const fail = `throw ${module.call("failure")}(${text(plan)}, [${operands.join(", ")}]);`;
  if (body.kind === "call") {
    lines.push(`if (${callText(plan, module, ready, body.call)} !== 0) ${fail}`);
  } else {
    const parts = dispatchText(plan, module, ready);
    if (parts.length === 1) lines.push(`if (${parts[0]} !== 0) ${fail}`);
    else
      lines.push(
        "const status =",
        ...parts.flatMap((part) => part.split("\n")).map((part) => `  ${part}`),
        `if (status !== 0) ${fail}`,
      );
    const status = lines.lastIndexOf("const status =");
    if (status >= 0) lines[lines.length - 2] += ";";
  }
  lines.push(returnLine(plan, module));
  return lines.flatMap(breakLong);
}

/** Checks of what has been converted; an array without elements is answered before MLX is asked. */
function guardLines(plan: OpPlan, module: ModuleText, ready: Prepared): string[] {
  const expression = (python: string): { name: string; value: string } => {
    const param = plan.params.find((candidate) => candidate.python === python);
    const value = param === undefined ? undefined : ready.expressions.get(param);
    if (param === undefined || value === undefined) throw new Error(`codegen, ${plan.python}: no ${python} to check`);
    return { name: param.name, value };
  };
  const lines = plan.checks.map(([check, python, other]) => {
    const { name, value } = expression(python);
    const beside = other === undefined ? "" : `, ${expression(other).value}`;
    return `${module.help(check)}(${value}, ${text(plan)}, ${JSON.stringify(name)}${beside});`;
  });
  const { guard } = plan;
  const [a] = placesOf(plan).operands;
  if (guard === undefined || a === undefined) return lines;
  const args = [text(plan), a.name, ...guard.params, "options as StreamOptions | undefined"];
  const empty = `C.mlx_array_size(${expression(a.python).value}) === 0`;
  return [...lines, `if (${empty}) return ${module.guard(guard.call)}(${args.join(", ")});`];
}

function returnLine(plan: OpPlan, module: ModuleText): string {
  if (plan.result === "two") return `return ${module.call("produce2")}(${text(plan)}, out, out1);`;
  if (plan.result === "array") return `return ${module.call("produce")}(${text(plan)}, out);`;
  const cast = plan.returns === "MxArray[]" ? "" : ` as ${plan.returns}`;
  return `return ${module.call("produceVector")}(${text(plan)}, out)${cast};`;
}

/** Types with a list of numbers in it, which is copied first. */
const lists = /readonly (?:readonly )?number\[\]|\bPadWidth\b|\bTensordotAxes\b/;

/** The call of a hand-written body: every parameter in Python's order with its default, then the options. */
function handLines(plan: OpPlan, module: ModuleText, file: string): string[] {
  const known = module.bodies.get(file) ?? new Set<string>();
  module.bodies.set(file, known.add(plan.name));
  const args = plan.params.map((param) => {
    if (param.place === "operand")
      return lists.test(param.type) ? `${module.help("listOf")}(${param.name})` : param.name;
    const type = param.nullable ? `${param.type} | null` : param.type;
    const value =
      param.defaultText !== undefined
        ? `${param.name} === undefined ? ${param.defaultText} : ${param.name}`
        : param.nullable
          ? `${param.name} ?? null`
          : param.name;
    const copied = lists.test(type) ? `${module.help("listOf")}(${value})` : `(${value})`;
    return `${copied} as ${type}`;
  });
  if (plan.stream) args.push("options as StreamOptions | undefined");
  return breakLong(`return $${plan.name}Body(${args.join(", ")});`);
}

/** Breaks a line that is too long at the commas of its outermost argument list. */
export function breakLong(line: string): string[] {
  if (line.length + 2 <= lineWidth) return [line];
  const open = line.indexOf("(", line.startsWith("if (") ? 4 : 0);
  const items: string[] = [];
  let depth = 0;
  let start = open + 1;
  let close = -1;
  for (let i = open; i < line.length && close < 0; i++) {
    const char = line[i]!;
    if (char === "(" || char === "[" || char === "{") depth++;
    else if (char === ")" || char === "]" || char === "}") {
      depth--;
      if (depth === 0) close = i;
    }
    if ((char === "," && depth === 1) || close === i) {
      items.push(line.slice(start, i).trim());
      start = i + 1;
    }
  }
  if (open < 0 || close < 0 || items.length < 2) return [line];
  const indent = /^\s*/.exec(line)![0];
  const head = [line.slice(0, open + 1), ...items.map((item) => `${indent}  ${item},`)];
  const tail = indent + line.slice(close);
  return [...head, tail];
}
