// A package registry on 127.0.0.1 that serves a few tarballs: the only way to try what an installer does with os, cpu
// and libc fields.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

export interface Served {
  /** The package's own package.json. */
  manifest: { name: string; version: string };
  tarball: string;
}

export interface Registry extends Disposable {
  url: string;
  /** Names that were asked for and are not there. */
  missing: string[];
}

export function serveRegistry(packages: readonly Served[]): Registry {
  const files = new Map(packages.map(({ tarball }) => [basename(tarball), readFileSync(tarball)]));
  const missing: string[] = [];
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request): Response {
      const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
      const file = files.get(path.replace("tarballs/", ""));
      if (path.startsWith("tarballs/") && file !== undefined) return new Response(file);
      const found = packages.find(({ manifest }) => manifest.name === path);
      if (found === undefined) {
        missing.push(path);
        return new Response("not found", { status: 404 });
      }
      const { manifest, tarball } = found;
      const bytes = files.get(basename(tarball)) as Buffer;
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const dist = { tarball: `${server.url.href}tarballs/${basename(tarball)}`, integrity };
      return Response.json({
        name: manifest.name,
        "dist-tags": { latest: manifest.version },
        versions: { [manifest.version]: { ...manifest, dist } },
      });
    },
  });
  return { url: server.url.href, missing, [Symbol.dispose]: () => void server.stop(true) };
}
