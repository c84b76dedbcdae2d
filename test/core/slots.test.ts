// Where native functions write their results: zeroed before each use, apart from each other.
import { expect, test } from "bun:test";
import { backend } from "../../src/core/native.ts";
import { privateSlot, readSlot, readSlotF64, readSlotI32, readSlotU32, slot, slotView } from "../../src/core/slots.ts";
import { functions as C } from "../../src/ffi.ts";

/** Writes as native code does, not through the ring's own views. */
function poke(address: number, write: (view: DataView) => void): void {
  write(new DataView(backend.view(address, 8)));
}

test("a slot is zero, aligned, and not the one before", () => {
  let last = 0;
  for (let i = 0; i < 10_000; i++) {
    const address = slot();
    if (address === last || address % 8 !== 0 || readSlot(address) !== 0) throw new Error(`slot ${i}`);
    poke(address, (view) => view.setBigUint64(0, 0xffffffffffffffffn, true));
    last = address;
  }
});

test("readers of every width", () => {
  const address = slot();
  poke(address, (view) => view.setBigUint64(0, 0x00007fff_fedcba98n, true));
  expect(readSlot(address)).toBe(0x7ffffedcba98);
  expect(readSlotU32(address)).toBe(0xfedcba98);
  expect(readSlotI32(address)).toBe(0xfedcba98 | 0);
  const double = slot();
  poke(double, (view) => view.setFloat64(0, -1.5, true));
  expect(readSlotF64(double)).toBe(-1.5);
  const { view, offset } = slotView(double);
  expect(view.getFloat64(offset, true)).toBe(-1.5);
});

test("a private slot is nobody else's", () => {
  const mine = privateSlot();
  expect(mine.read()).toBe(0);
  for (let i = 0; i < 10_000; i++) poke(slot(), (view) => view.setFloat64(0, i, true));
  expect(mine.read()).toBe(0);
  poke(mine.address, (view) => view.setBigUint64(0, 0x7fff_12345678n, true));
  expect(mine.read()).toBe(0x7fff12345678);
  expect(privateSlot().address).not.toBe(mine.address);
});

test("native results come back right, around the ring several times", () => {
  const scalar = C.mlx_array_new_int(7);
  let wrong = 0;
  for (let i = 0; i < 20_000; i++) {
    const out = slot();
    C.mlx_array_set(out, scalar);
    const handle = readSlot(out);
    const item = slot();
    C.mlx_array_item_int32(item, handle);
    if (readSlotI32(item) !== 7 || handle === 0) wrong++;
    C.mlx_array_free(handle);
  }
  C.mlx_array_free(scalar);
  expect(wrong).toBe(0);
});
