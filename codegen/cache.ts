// Folders under .cache/ that are filled once and then stay as they are.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

/**
 * The path of .cache/<name>, filled by `fill` if it is not there. It is filled apart and moved into place in one step,
 * so that a run that is cut short leaves nothing half done, and of two runs at once the first one wins.
 */
export async function cached(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(root, ".cache", name);
  if (existsSync(folder)) return folder;
  mkdirSync(join(root, ".cache"), { recursive: true });
  const temporary = mkdtempSync(join(root, ".cache", "fill-"));
  try {
    const filled = join(temporary, "folder");
    await fill(filled);
    renameSync(filled, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return folder;
}
