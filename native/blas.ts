// OpenBLAS under MLX. The wheel's libmlx asks for reference BLAS and LAPACK by file name; SciPy's OpenBLAS wheel has
// the same functions, many times faster, under names with a prefix. So a small library takes over the old LAPACK file
// name and forwards each function that libmlx imports, and an empty one takes over the old BLAS file name.
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { BuildError, run, type Tools } from "./tools.ts";

const PREFIX = "scipy_";

/** Names in the output of `nm -D`, without versions. */
export function nmNames(output: string): string[] {
  const names: string[] = [];
  for (const line of output.split("\n")) {
    const name = line.trim().split(/\s+/).at(-1);
    if (name !== undefined && name !== "") names.push(name.replace(/@.*$/, ""));
  }
  return names;
}

export async function importedNames(library: string, tools: Pick<Tools, "nm">): Promise<string[]> {
  return nmNames(await run(`Reading ${library}`, [tools.nm, "-D", "--undefined-only", library]));
}

export async function exportedNames(library: string, tools: Pick<Tools, "nm">): Promise<string[]> {
  return nmNames(await run(`Reading ${library}`, [tools.nm, "-D", "--defined-only", library]));
}

/** What libmlx imports and the given BLAS/LAPACK libraries define, sorted. */
export async function blasImports(
  libmlx: string,
  providers: readonly string[],
  tools: Pick<Tools, "nm">,
): Promise<string[]> {
  const provided = new Set<string>();
  for (const library of providers) for (const name of await exportedNames(library, tools)) provided.add(name);
  const wanted = await importedNames(libmlx, tools);
  return wanted.filter((name) => provided.has(name)).sort();
}

/** C source of the forwarder: one jump a function, so arguments and results pass through untouched. */
export function forwarderSource(names: readonly string[], cpu: "x64" | "arm64"): string {
  const jump =
    cpu === "x64"
      ? (name: string) => [`  endbr64`, `  jmp *${PREFIX}${name}@GOTPCREL(%rip)`]
      : (name: string) => [
          `  hint #34`,
          `  adrp x16, :got:${PREFIX}${name}`,
          `  ldr x16, [x16, :got_lo12:${PREFIX}${name}]`,
          `  br x16`,
        ];
  const blocks = names.map((name) =>
    [`.globl ${name}`, `.type ${name}, %function`, `.p2align 4`, `${name}:`, ...jump(name), `.size ${name}, .-${name}`]
      .map((line) => `  ${JSON.stringify(`${line}\n`)}`)
      .join("\n"),
  );
  return `__asm__(\n  ".text\\n"\n${blocks.join("\n")}\n  ".section .note.GNU-stack,\\"\\",%progbits\\n"\n);\n`;
}

export interface BlasFiles {
  readonly lapack: string;
  readonly blas: string;
}

/** The reference BLAS and LAPACK in the wheel's folder of libraries. */
export function referenceFiles(folder: string): BlasFiles {
  const names = readdirSync(folder);
  const find = (stem: string): string => {
    const name = names.find((one) => one.startsWith(`${stem}-`) || one.startsWith(`${stem}.`));
    if (name === undefined)
      throw new BuildError(`${basename(folder)} in MLX's wheel has no ${stem}: ${names.join(", ")}`);
    return name;
  };
  return { lapack: find("liblapack"), blas: find("libblas") };
}

/** Puts libscipy_openblas and its two stand-ins into `lib`; returns the forwarded names. */
export async function installOpenblas(
  options: { libmlx: string; reference: string; openblas: string; lib: string; work: string; cpu: "x64" | "arm64" },
  tools: Tools,
): Promise<string[]> {
  const { lapack, blas } = referenceFiles(options.reference);
  const names = await blasImports(
    options.libmlx,
    [join(options.reference, lapack), join(options.reference, blas)],
    tools,
  );
  if (names.length === 0) throw new BuildError("libmlx imports no BLAS function at all: its wheel has changed.");
  const offered = new Set(await exportedNames(options.openblas, tools));
  const absent = names.filter((name) => !offered.has(PREFIX + name));
  if (absent.length > 0) throw new BuildError(`OpenBLAS lacks what libmlx imports: ${absent.join(", ")}`);

  copyFileSync(options.openblas, join(options.lib, basename(options.openblas)));
  const source = join(options.work, "forwarder.c");
  writeFileSync(source, forwarderSource(names, options.cpu));
  const empty = join(options.work, "empty.c");
  writeFileSync(empty, "");
  const link = (soname: string): string[] => [
    tools.cc, "-shared", "-nostdlib", "-fPIC", "-O2", "-o", join(options.lib, soname),
    `-Wl,-soname,${soname}`, "-Wl,--disable-new-dtags,-rpath,$ORIGIN", "-Wl,--build-id=none", "-Wl,-z,now",
  ]; // prettier-ignore
  await run("Linking the BLAS forwarder", [
    ...link(lapack), source, "-Wl,--no-as-needed", `-L${options.lib}`, `-l:${basename(options.openblas)}`,
  ]); // prettier-ignore
  await run("Linking the empty BLAS", [...link(blas), empty]);
  return names;
}
