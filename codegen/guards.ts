// Preprocessor conditions: which declarations exist on which platform.

import type { CDefine, Guard } from "./ir.ts";

/** A platform that mlx-ts runs on, by the macros that its compilers predefine and the headers ask about. */
export interface Platform {
  name: string;
  macros: readonly string[];
}

/** The platforms of coverage.json. The half-float guards of half.h ask for `__aarch64__` and nothing else of these. */
export const platforms: readonly Platform[] = [
  { name: "linux-x64", macros: ["__x86_64__", "__linux__"] },
  { name: "linux-arm64", macros: ["__aarch64__", "__linux__"] },
  { name: "darwin-arm64", macros: ["__aarch64__", "__arm64__", "__APPLE__"] },
];

/** Both conditions, or the one that there is. */
export function bothGuards(outer: Guard | undefined, inner: Guard | undefined): Guard | undefined {
  if (outer === undefined) return inner;
  if (inner === undefined) return outer;
  return { kind: "and", of: [outer, inner] };
}

/** The condition in C's spelling. */
export function guardText(guard: Guard): string {
  if (guard.kind === "defined") return `defined(${guard.macro})`;
  if (guard.kind === "not") return `!${guardText(guard.of)}`;
  return `(${guard.of.map(guardText).join(guard.kind === "or" ? " || " : " && ")})`;
}

/**
 * Whether a condition holds on a platform. A macro that some header defines under a condition of its own (HAS_FLOAT16)
 * holds when that condition does.
 */
export function holds(guard: Guard | undefined, platform: Platform, defines: readonly CDefine[]): boolean {
  if (guard === undefined) return true;
  if (guard.kind === "not") return !holds(guard.of, platform, defines);
  if (guard.kind === "or") return guard.of.some((part) => holds(part, platform, defines));
  if (guard.kind === "and") return guard.of.every((part) => holds(part, platform, defines));
  if (platform.macros.includes(guard.macro)) return true;
  // A definition is not looked at again inside its own condition: `#ifndef X` around `#define X` asks for itself.
  return defines.some((define) => {
    return (
      define.macro === guard.macro &&
      holds(
        define.guard,
        platform,
        defines.filter((other) => other !== define),
      )
    );
  });
}
