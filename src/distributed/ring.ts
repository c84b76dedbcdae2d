/**
 * What a ring is set up from, checked before MLX reads it: it blocks for good at a negative rank or a ring of one, and
 * ends the process at an empty list of hosts.
 */

import { existsSync, readFileSync } from "node:fs";
import { describe } from "../core/describe.ts";
import { MlxError } from "../core/error.ts";
import { C } from "../core/native.ts";
import { constantAddress, textAddress } from "../core/scratch.ts";

/** The variables that MLX reads for a ring. */
const variables = ["MLX_RANK", "MLX_HOSTFILE", "MLX_RING_VERBOSE"] as const;

/** Gives the program's own settings to native code, which does not see assignments to process.env. */
function shareEnvironment(): void {
  for (const name of variables) {
    const value = process.env[name];
    C.mlxts_setenv(constantAddress(name), value === undefined ? 0 : textAddress(value));
  }
}

/**
 * Refuses settings of a ring that MLX cannot start from. Without MLX_RANK and MLX_HOSTFILE there is no ring, which MLX
 * says itself. Throws an MlxError that names the variable or the place in the file.
 */
export function prepareRing(): void {
  const rank = process.env["MLX_RANK"];
  const file = process.env["MLX_HOSTFILE"];
  if (rank !== undefined && rank !== "" && file !== undefined && file !== "") checkSettings(rank, file);
  shareEnvironment();
}

function refuse(reason: string): never {
  throw new MlxError("distributed.init", reason);
}

function checkSettings(rank: string, file: string): void {
  if (!/^\d{1,6}$/.test(rank)) refuse(`MLX_RANK must be a whole number, 0 or more, got "${rank}"`);
  if (!existsSync(file)) refuse(`MLX_HOSTFILE names ${file}, which does not exist`);
  const size = ringSize(file);
  if (Number(rank) >= size) refuse(`MLX_RANK is ${rank}, and ${file} lists ${size} processes: ranks begin at 0`);
}

/** How many processes a host file lists. */
function ringSize(file: string): number {
  let hosts: unknown;
  try {
    hosts = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return refuse(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(hosts)) return refuse(`${file} must hold a list with the addresses of each rank`);
  hosts.forEach((addresses: unknown, at) => checkAddresses(addresses, `${file}: the entry of rank ${at}`));
  if (hosts.length < 2) return refuse(`${file} lists ${hosts.length} processes: a ring has at least two`);
  return hosts.length;
}

function checkAddresses(addresses: unknown, where: string): void {
  if (!Array.isArray(addresses) || addresses.length === 0) {
    refuse(`${where} must be a list of at least one "address:port", got ${describe(addresses)}`);
  }
  for (const address of addresses as unknown[]) {
    const port = typeof address === "string" ? Number(/^[^:]+:(\d{1,5})$/.exec(address)?.[1]) : Number.NaN;
    if (!(port > 0 && port < 65536)) refuse(`${where} must have the form "address:port", got ${describe(address)}`);
  }
}
