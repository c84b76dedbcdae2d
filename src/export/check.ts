/** Checks a file of exported functions as far as its form is known, before MLX reads it. */

import { dtypeCodes, dtypeNames, dtypeSize } from "../core/dtype.ts";
import { MlxError } from "../core/error.ts";
import { FileReader, requireFile } from "../io/file-reader.ts";
import { checkSeal } from "./seal.ts";

const op = "importFunction";
const sizes = new Map<number, number>(dtypeNames.map((dtype) => [dtypeCodes[dtype], dtypeSize(dtype)]));

/**
 * Refuses what is no file of exported functions, or a damaged one. A file that mlx-ts wrote carries a checksum, so any
 * damage is found. Of others only the head can be checked, and MLX crashes at some mistakes behind it (measured: at
 * five of a thousand files with one to three wrong bytes), so they are read only where the caller trusts them.
 */
export function checkExported(path: string, trusted: boolean): void {
  const size = requireFile(path, op);
  const state = checkSeal(path, size);
  if (state === "whole") return;
  if (state === "broken") throw new MlxError(op, `${path} is damaged: it does not fit its checksum.`);
  const refuse = (why: string): never => {
    throw new MlxError(op, `${path} is no file of exported functions, or a damaged one: ${why}.`);
  };
  using reader = new FileReader(
    path,
    size,
    (at) => new MlxError(op, `${path} is truncated: there is nothing left at byte ${at}.`),
  );
  new Head(reader, refuse).read();
  if (trusted) return;
  throw new MlxError(
    op,
    `${path} has no checksum, as files have that mlx-ts wrote. MLX reads such a file unchecked, and a damaged one can end the process. Give { trusted: true } for a file that Python MLX wrote.`,
  );
}

class Head {
  readonly #file: FileReader;
  readonly #refuse: (why: string) => never;

  constructor(file: FileReader, refuse: (why: string) => never) {
    this.#file = file;
    this.#refuse = refuse;
  }

  /** A count of things of at least `least` bytes each, which the rest of the file has room for. */
  #count(what: string, least: number): number {
    const count = this.#file.u64();
    if (count * BigInt(least) > BigInt(this.#file.remaining)) {
      this.#refuse(`it claims ${count} ${what} at byte ${this.#file.offset - 8}`);
    }
    return Number(count);
  }

  #flag(what: string): void {
    const value = this.#file.u8();
    if (value > 1) this.#refuse(`${what} is ${value}, which is neither 0 nor 1`);
  }

  #text(what: string): string {
    return this.#file.text(this.#count(`bytes of ${what}`, 1));
  }

  read(): void {
    const version = this.#text("version");
    if (!/^\d+\.\d+\.\d+/.test(version)) this.#refuse("it does not begin with a version of MLX");
    const functions = this.#file.i32();
    if (functions < 0 || functions > this.#file.remaining) this.#refuse(`it claims ${functions} functions`);
    this.#flag("the mark of a shapeless function");
    this.#text("metadata");
    // The functions behind the first begin where only MLX can say.
    if (functions > 0) this.#function();
  }

  #function(): void {
    const names = this.#count("named inputs", 8);
    for (let i = 0; i < names; i++) this.#text("name");
    const ids = this.#ids("inputs");
    const inputs = this.#count("inputs", 13);
    if (inputs !== ids || names > inputs) this.#refuse(`its ${ids} inputs do not fit ${inputs} shapes, ${names} names`);
    for (let i = 0; i < inputs; i++) this.#array(`input ${i}`);
    if (this.#ids("outputs") === 0) this.#refuse("its function has no output");
    if (this.#count("operations", 10) === 0) this.#refuse("its function computes nothing");
  }

  #ids(what: string): number {
    const count = this.#count(what, 8);
    for (let i = 0; i < count; i++) this.#file.u64();
    return count;
  }

  #array(what: string): void {
    const axes = this.#count(`axes of ${what}`, 4);
    for (let i = 0; i < axes; i++) {
      const length = this.#file.i32();
      if (length < 0) this.#refuse(`${what} has an axis of length ${length}`);
    }
    const code = this.#file.i32();
    const bytes = this.#file.u8();
    if (sizes.get(code) !== bytes) this.#refuse(`${what} has dtype ${code} of ${bytes} bytes, which does not exist`);
  }
}
