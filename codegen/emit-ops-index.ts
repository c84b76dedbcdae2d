// Plans -> src/ops/index.ts and src/ops/namespaces/*.ts: explicit re-exports of everything public.

import { banner } from "./emit-common.ts";
import { emitOpModule, opModules } from "./emit-ops.ts";
import { relative } from "node:path";
import type { Api } from "./ir.ts";
import type { HandOp, OpSet } from "./op-plan.ts";
import { type PythonApi } from "./pyi.ts";
import { foreignAliases } from "./rules.ts";

/** Public names that no signature gives: constants, categories, types. By file of src/ops. */
const written: Readonly<Record<string, readonly string[]>> = {
  "constants.ts": ["e", "eulerGamma", "inf", "nan", "newaxis", "pi"],
  "dtypes.ts": [
    "complexfloating",
    "DtypeCategory",
    "floating",
    "generic",
    "inexact",
    "integer",
    "number",
    "signedinteger",
    "type DtypeKind",
    "unsignedinteger",
  ],
  "einsum-path.ts": ["type EinsumPath"],
  "limits.ts": ["finfo", "iinfo", "type FloatInfo", "type IntegerInfo"],
  "arange.ts": ["type ArangeOptions", "type RangeNumber"],
  "asarray.ts": ["type AsarrayOptions"],
  "quantize.ts": ["type QuantizeOptions"],
  "types.ts": [
    "type ConvolveMode",
    "type FftNorm",
    "type NormOrder",
    "type PadMode",
    "type PadWidth",
    "type QuantizationMode",
    "type TensordotAxes",
    "type Triangle",
  ],
  "varargs.ts": ["type MeshgridOptions"],
};

function exportLine(names: readonly string[], from: string): string {
  const sorted = [...new Set(names)].sort((a, b) => plain(a).localeCompare(plain(b), "en"));
  const flat = `export { ${sorted.join(", ")} } from "${from}";`;
  if (flat.length <= 120) return `${flat}\n`;
  return `export {\n${sorted.map((name) => `  ${name},\n`).join("")}} from "${from}";\n`;
}

function plain(name: string): string {
  return name.replace(/^type /, "");
}

/** Hand-written functions by file. */
function byFile(ops: readonly HandOp[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const op of ops) {
    const known = files.get(op.file) ?? [];
    files.set(op.file, [...known, op.name, ...op.aliases.map((alias) => `${op.name} as ${alias}`)]);
  }
  return files;
}

/** The re-exports of one Python module, from the file at `path`. */
function moduleExports(
  api: Api,
  set: OpSet,
  module: string,
  path: string,
  extra: Readonly<Record<string, readonly string[]>>,
): string {
  const to = (target: string): string => {
    const link = relative(path.slice(0, path.lastIndexOf("/")), target);
    return link.startsWith(".") ? link : `./${link}`;
  };
  const lines: string[] = [];
  for (const part of opModules(set)) {
    if (part.plans[0]?.module !== module) continue;
    const { functions, interfaces } = emitOpModule(api, set, part);
    lines.push(exportLine([...functions, ...interfaces.map((name) => `type ${name}`)], to(part.path)));
  }
  const files = byFile(set.byHand.filter((op) => op.module === module));
  for (const file of [...new Set([...files.keys(), ...Object.keys(extra)])].sort()) {
    lines.push(exportLine([...(files.get(file) ?? []), ...(extra[file] ?? [])], to(`src/ops/${file}`)));
  }
  return lines.join("");
}

const kernelTypes: readonly string[] = [
  "CudaKernelOptions",
  "Extent",
  "Kernel",
  "KernelCall",
  "MetalKernelOptions",
].map((name) => `type ${name}`);

/** src/ops/namespaces/<module>.ts for each Python module but mlx.core. */
export function namespaceModules(set: OpSet): string[] {
  return [...new Set(set.plans.map((plan) => plan.module))].filter((module) => module !== "core");
}

export function emitNamespace(api: Api, set: OpSet, module: string): string {
  const path = `src/ops/namespaces/${module}.ts`;
  const extra =
    module === "random"
      ? { "random-state.ts": ["state"] }
      : module === "linalg"
        ? { "svd.ts": ["type SvdOptions"] }
        : module === "fast"
          ? { "kernels.ts": kernelTypes }
          : {};
  return banner(api, `The namespace mx.${module}.`) + moduleExports(api, set, module, path, extra);
}

/** src/ops/index.ts: the operations of mx, the namespaces, and the methods as a side effect. */
export function emitOpsIndex(api: Api, set: OpSet, python: PythonApi): string {
  const path = "src/ops/index.ts";
  const spaces = namespaceModules(set)
    .map((module) => `export * as ${module} from "./namespaces/${module}.ts";\n`)
    .join("");
  const foreign = foreignAliases(python)
    .map(({ name, module, target }) => `export { ${target} as ${name} } from "./namespaces/${module}.ts";\n`)
    .join("");
  return (
    `${banner(api, "Everything that the operations add to mx. Importing it installs the methods of Array.")}` +
    `import "../../generated/methods.ts";\n\n${moduleExports(api, set, "core", path, written)}${foreign}${spaces}`
  );
}
