/** Saving all or nothing: a file is written beside its place, and moved there when it is whole. */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { str } from "../core/call.ts";
import { MlxError } from "../core/error.ts";
import { tracer } from "../core/hooks.ts";

/**
 * Writes a file by `write`, which gets a path in the same folder. When anything fails, the file that was there stays
 * as it was and nothing new is left. A name without the extension gets it, as in Python; a link keeps pointing where
 * it does; a file that is replaced keeps its permissions.
 */
export function saveAtomically(
  path: string,
  extension: string,
  operation: string,
  write: (path: string) => void,
): void {
  str(path, operation, "path");
  const target = placeOf(path.endsWith(extension) ? path : path + extension, operation);
  const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  // The longest name of a file is 255 bytes; this one must fit as well.
  const temporary = join(dirname(target), `.${basename(target).slice(0, 40)}.${unique}${extension}`);
  const span = tracer === null ? null : tracer.begin("io", operation, { path: target });
  try {
    const mode = statSync(target, { throwIfNoEntry: false })?.mode;
    write(temporary);
    if (mode !== undefined) chmodSync(temporary, mode & 0o7777);
    flush(temporary);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw systemError(error, path, operation);
  } finally {
    span?.end({ bytes: statSync(target, { throwIfNoEntry: false })?.size ?? 0 });
  }
}

/** The file that a path stands for. Throws unless it may be written there. */
function placeOf(path: string, operation: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return join(realpathSync(dirname(path)), basename(path));
    if (!stat.isFile()) {
      throw new MlxError(operation, `${path} is not a file${stat.isDirectory() ? " but a folder" : ""}.`);
    }
    accessSync(path, constants.W_OK);
    return realpathSync(path);
  } catch (error) {
    throw systemError(error, path, operation);
  }
}

/** Errors of the file system name the function and the path, as every error of mlx-ts does. */
function systemError(error: unknown, path: string, operation: string): unknown {
  const code = (error as { code?: unknown }).code;
  if (!(error instanceof Error) || typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return error;
  return new MlxError(operation, `${path} cannot be written: ${error.message}.`);
}

/** Waits until the data is on the disk, so that no crash leaves the new name on an empty file. */
function flush(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
