// What a published Linux package may ask of its user's system: no more than MLX's own wheel does. A library that was
// compiled on a newer system can need newer versions of glibc's and libstdc++'s symbols, and then fails to load.

/** The newest versions that the packages may need, by symbol family. */
export const baseline: Readonly<Record<string, string>> = {
  GLIBC: "2.35",
  GLIBCXX: "3.4.30",
  CXXABI: "1.3.13",
};

function newer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number)) as [number[], number[]];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** The symbol versions above the baseline in the output of `readelf --version-info`, sorted. */
export function aboveBaseline(versionInfo: string): string[] {
  const found = new Set<string>();
  for (const [name, family = "", version = ""] of versionInfo.matchAll(/\b(GLIBC|GLIBCXX|CXXABI)_(\d[\d.]*)/g)) {
    if (newer(version, baseline[family] ?? "0")) found.add(name);
  }
  return [...found].sort();
}
