// IR + sources -> generated/coverage.json: what became of every function that the headers declare.

import { handleFunctions } from "./emit-handles.ts";
import { exclusion, missingOn } from "./emit-symbols.ts";
import { guardText, platforms } from "./guards.ts";
import { internalReasons } from "./internal.ts";
import type { Api, CFunction } from "./ir.ts";
import { findShimUses, findUses, publicEntries, type Uses } from "./uses.ts";

/** Whether a platform's symbol table has a function. */
export type Binding = "bound" | "not exported" | "excluded";

/**
 * Whether the API gets to a function: "public" when a module behind a public entry point uses it, "internal" when it is
 * bound without that, for the reason given, "unreached" when there is no reason yet, "excluded" when it is not bound.
 */
export type Reach = "public" | "internal" | "unreached" | "excluded";

/** One function's row. */
export interface Coverage {
  name: string;
  /** "ops.h:25" */
  declared: string;
  platforms: Record<string, Binding>;
  reach: Reach;
  /** Of an exclusion, of an internal function, or of a platform without it; several are joined by "; ". */
  reason?: string;
  /** The modules that use a public function. */
  usedBy?: string[];
}

/** The whole file. */
export interface CoverageReport {
  mlxc: string;
  sha256: string;
  counts: { declared: number; reach: Record<Reach, number>; platforms: Record<string, Record<Binding, number>> };
  functions: Coverage[];
}

function bindings(api: Api, fn: CFunction): Record<string, Binding> {
  const missing = missingOn(api, fn);
  const excluded = exclusion(fn) !== null;
  return Object.fromEntries(
    platforms.map(({ name }): [string, Binding] => {
      return [name, missing.includes(name) ? "not exported" : excluded ? "excluded" : "bound"];
    }),
  );
}

/** The kinds of handles that a used function gives to its caller. */
function kindsMade(api: Api, used: ReadonlySet<string>): Set<string> {
  const made = new Set<string>();
  for (const fn of api.functions) {
    if (!used.has(fn.name)) continue;
    if (fn.returns.kind === "handle") made.add(fn.returns.of);
    for (const { role } of fn.params) if (role.kind === "outHandle") made.add(role.of);
  }
  return made;
}

/** The uses by name, and those through a column of the handle table, for the kinds that the API makes at all. */
function publicUses(api: Api, uses: Uses): Map<string, string[]> {
  const all = new Map(uses.functions);
  const made = kindsMade(api, new Set(all.keys()));
  for (const handle of api.handles.filter(({ kind }) => made.has(kind))) {
    for (const [column, name] of Object.entries(handleFunctions(api, handle))) {
      const paths = uses.columns.get(column);
      if (paths !== undefined && typeof name === "string")
        all.set(name, [...new Set([...(all.get(name) ?? []), ...paths])]);
    }
  }
  return all;
}

/** Why a function that no public module uses is not needed there; undefined when nobody has said. */
function internalReason(api: Api, fn: CFunction, inShim: ReadonlyMap<string, string[]>): string | undefined {
  const files = inShim.get(fn.name);
  if (files !== undefined) return `called in C++, by the shim: ${files.join(", ")}`;
  if (api.handles.some((handle) => handleFunctions(api, handle).free === fn.name)) {
    return "frees a kind of handle that no function of the public API makes";
  }
  return internalReasons.find(({ pattern }) => pattern.test(fn.name))?.reason;
}

function row(
  api: Api,
  fn: CFunction,
  uses: ReadonlyMap<string, string[]>,
  inShim: ReadonlyMap<string, string[]>,
): Coverage {
  const excluded = exclusion(fn);
  const usedBy = uses.get(fn.name);
  const internal = internalReason(api, fn, inShim);
  const reach: Reach =
    excluded !== null
      ? "excluded"
      : usedBy !== undefined
        ? "public"
        : internal !== undefined
          ? "internal"
          : "unreached";
  const missing = missingOn(api, fn);
  const reasons: string[] = [];
  if (excluded !== null) reasons.push(excluded);
  if (reach === "internal" && internal !== undefined) reasons.push(internal);
  if (missing.length > 0 && fn.guard !== undefined) {
    reasons.push(`declared if ${guardText(fn.guard)}, which does not hold on ${missing.join(", ")}`);
  }
  return {
    name: fn.name,
    declared: `${fn.header}:${fn.line}`,
    platforms: bindings(api, fn),
    reach,
    ...(reasons.length > 0 && { reason: reasons.join("; ") }),
    ...(reach === "public" && { usedBy: usedBy as string[] }),
  };
}

function count<K extends string>(keys: readonly K[], values: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, values.filter((value) => value === key).length])) as Record<
    K,
    number
  >;
}

/** Computes the report from the IR and from the sources under `root`. Run it again whenever either changes. */
export function coverage(api: Api, root: string, entries: readonly string[] = publicEntries): CoverageReport {
  const uses = publicUses(api, findUses(root, entries));
  const inShim = findShimUses(root);
  const functions = api.functions.map((fn) => row(api, fn, uses, inShim));
  const perPlatform = platforms.map(({ name }) => {
    const values = functions.map((fn) => fn.platforms[name] as Binding);
    return [name, count(["bound", "not exported", "excluded"], values)] as const;
  });
  return {
    mlxc: api.version,
    sha256: api.hash,
    counts: {
      declared: functions.length,
      reach: count(
        ["public", "internal", "unreached", "excluded"],
        functions.map((fn) => fn.reach),
      ),
      platforms: Object.fromEntries(perPlatform),
    },
    functions,
  };
}

/** Reasons in internal.ts that explain nothing, since the API reaches every function they match, or none matches. */
export function staleReasons(report: CoverageReport): string[] {
  return internalReasons
    .filter(({ reason }) => !report.functions.some((fn) => fn.reach === "internal" && fn.reason?.startsWith(reason)))
    .map(({ pattern }) => String(pattern));
}

/** The text of generated/coverage.json, a function a line. */
export function emitCoverage(report: CoverageReport): string {
  const { functions, ...head } = report;
  const lines = functions.map((fn) => `    ${JSON.stringify(fn)}`).join(",\n");
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "functions": [\n${lines}\n  ]\n}\n`;
}
