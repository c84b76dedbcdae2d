// The floors of the project and what each may import. One place: a new folder under src needs a line here.

export interface Floor {
  name: string;
  /** Files of this floor. */
  files: RegExp;
  /** Floors that it may import, beside itself. */
  uses: readonly string[];
  /** Floors of which it may import types only. */
  types?: readonly string[];
}

const mx = ["index"];
const language = ["core", "symbols", "ops"];

export const floors: readonly Floor[] = [
  { name: "planner", files: /^src\/planner\//, uses: [] },
  { name: "tree", files: /^src\/core\/tree\.ts$/, uses: [] },
  { name: "backend", files: /^src\/backend\//, uses: ["symbols"] },
  {
    name: "symbols",
    files: /^generated\/(?:symbols|shim-symbols|enums|handles|operands|header-info)\.ts$|^generated\/[\w-]+\.json$/,
    uses: [],
    types: ["backend", "core"],
  },
  { name: "core", files: /^src\/core\//, uses: ["backend", "symbols", "tree"] },
  {
    name: "ops",
    files: /^src\/ops\/|^generated\/(?:ops|methods)(?:[-.\w]*)\.ts$/,
    uses: ["core", "symbols", "tree"],
    types: ["backend"],
  },
  { name: "transforms", files: /^src\/transforms\//, uses: [...language, "tree"], types: ["backend", "planner"] },
  { name: "io", files: /^src\/io\//, uses: [...language, "tree"], types: ["backend"] },
  { name: "storage", files: /^src\/storage\//, uses: [...language, "tree", "platforms"], types: ["backend"] },
  { name: "trace", files: /^src\/trace\//, uses: [...language, "tree", "platforms"], types: ["backend", "planner"] },
  // Beside io: they use the array language, and nothing but the public namespace uses them. Exported functions are
  // files, which io checks and puts in place.
  { name: "export", files: /^src\/export\//, uses: [...language, "tree", "io"], types: ["backend"] },
  { name: "distributed", files: /^src\/distributed\//, uses: [...language, "tree"], types: ["backend"] },
  { name: "platforms", files: /^src\/platforms\//, uses: ["core"] },
  { name: "ffi", files: /^src\/ffi\.ts$/, uses: ["backend", "core", "symbols"] },
  {
    name: "index",
    files: /^src\/index\.ts$/,
    uses: [...language, "tree", "transforms", "io", "storage", "export", "distributed", "platforms"],
  },
  { name: "unsupported", files: /^src\/unsupported\.ts$/, uses: ["backend"] },
  { name: "cli", files: /^src\/(?:cli|doctor)\.ts$/, uses: ["backend", "core", "symbols", "manifest", ...mx] },
  { name: "manifest", files: /^package\.json$/, uses: [] },
  { name: "nn", files: /^src\/nn\//, uses: mx },
  { name: "optimizers", files: /^src\/optimizers\//, uses: mx },
  { name: "llm", files: /^src\/llm\//, uses: [...mx, "nn"] },
  { name: "onnx", files: /^src\/onnx\//, uses: [...mx, "nn"] },
];

/** The floor of a file, the first that matches. */
export function floorOf(file: string): Floor | undefined {
  return floors.find(({ files }) => files.test(file));
}

/** Package names that stand for files of this project. */
export const ownPackages: Readonly<Record<string, string>> = {
  "mlx-ts": "src/index.ts",
  "mlx-ts/nn": "src/nn/index.ts",
  "mlx-ts/optimizers": "src/optimizers/index.ts",
  "mlx-ts/llm": "src/llm/index.ts",
  "mlx-ts/onnx": "src/onnx/index.ts",
  "mlx-ts/planner": "src/planner/index.ts",
  "mlx-ts/trace": "src/trace/index.ts",
  "mlx-ts/ffi": "src/ffi.ts",
};
