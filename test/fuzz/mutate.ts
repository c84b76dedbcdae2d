// Damages files: bytes, words, lengths, digits of texts, pieces that go, come twice or come from another file.
import type { Random } from "./random.ts";

const bytes = [0, 1, 2, 3, 4, 8, 9, 10, 31, 32, 34, 39, 44, 48, 57, 58, 64, 91, 93, 123, 125, 127, 128, 255];
const words = [0n, 1n, 2n, 7n, 8n, 255n, 65535n, 65536n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n].concat([
  2n ** 33n,
  2n ** 40n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 62n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
]);
const numbers = [
  "0",
  "1",
  "-1",
  "7",
  "255",
  "65536",
  "2147483647",
  "2147483648",
  "4294967296",
  "1e3",
  "1.5",
  "-0",
].concat(["9007199254740993", "18446744073709551616", "1e400", "99999999999999999999999999"]);

function place(random: Random, length: number): number {
  // Headers are at the front (of npz: at the end), and are where damage matters.
  const near = Math.min(length, 160);
  const at = random.below(3);
  return at === 0 ? random.below(length) : at === 1 ? random.below(near) : length - 1 - random.below(near);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

type Damage = (file: Uint8Array, random: Random, other: Uint8Array) => Uint8Array;

const setByte: Damage = (file, random) => {
  file[place(random, file.length)] = random.chance(2) ? random.pick(bytes) : random.below(256);
  return file;
};

const flipBit: Damage = (file, random) => {
  const at = place(random, file.length);
  file[at] = file[at]! ^ (1 << random.below(8));
  return file;
};

const setWord: Damage = (file, random) => {
  const size = random.pick([2, 4, 8]);
  const at = place(random, file.length);
  const word = random.pick(words) + BigInt(random.pick([0, 0, 0, 1, -1]));
  for (let i = 0; i < size && at + i < file.length; i++) file[at + i] = Number((word >> BigInt(8 * i)) & 255n);
  return file;
};

const cut: Damage = (file, random) => file.slice(0, random.chance(2) ? place(random, file.length) : file.length - 1);

const drop: Damage = (file, random) => {
  const at = place(random, file.length);
  return joined(file.subarray(0, at), file.subarray(at + 1 + random.below(16)));
};

const repeat: Damage = (file, random) => {
  const at = place(random, file.length);
  const end = Math.min(file.length, at + 1 + random.below(64));
  return joined(file.subarray(0, end), file.subarray(at, end), file.subarray(end));
};

const insert: Damage = (file, random) => {
  const at = place(random, file.length);
  const piece = new Uint8Array(1 + random.below(8)).map(() => random.pick(bytes));
  return joined(file.subarray(0, at), piece, file.subarray(at));
};

const splice: Damage = (file, random, other) => {
  if (other.length === 0) return file;
  return joined(file.subarray(0, place(random, file.length)), other.subarray(place(random, other.length)));
};

/** Replaces one of the numbers that stand as digits, as in the headers of npy and safetensors. */
const setNumber: Damage = (file, random) => {
  const text = Buffer.from(file).toString("latin1");
  const found = [...text.slice(0, 4096).matchAll(/\d+/g)];
  if (found.length === 0) return file;
  const match = random.pick(found);
  const value = random.chance(3) ? String(random.below(100)) : random.pick(numbers);
  return new Uint8Array(
    Buffer.from(text.slice(0, match.index) + value + text.slice(match.index + match[0].length), "latin1"),
  );
};

const all: readonly Damage[] = [
  setByte,
  setByte,
  flipBit,
  setWord,
  setWord,
  cut,
  drop,
  repeat,
  insert,
  splice,
  setNumber,
];

/** A damaged copy. `other` is a second file of the same format. */
export function damaged(file: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  let copy: Uint8Array = file.slice();
  for (let n = random.chance(2) ? 1 : 1 + random.below(4); n > 0 && copy.length > 0; n--)
    copy = random.pick(all)(copy, random, other);
  return copy;
}

/** Only the digits of texts: damage that leaves the rest of a file whole. */
export function misnumbered(file: Uint8Array, random: Random): Uint8Array {
  return setNumber(file.slice(), random, file);
}
