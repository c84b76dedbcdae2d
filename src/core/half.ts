/** Bits of the two 16-bit float formats, rounded to nearest even from a double, as a C++ cast does. */

const single = new DataView(new ArrayBuffer(4));

function toSingleBits(value: number): number {
  single.setFloat32(0, value);
  return single.getUint32(0);
}

export function toBfloat16Bits(value: number): number {
  const bits = toSingleBits(value);
  if (Number.isNaN(value)) return 0x7fc0;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

export function fromBfloat16Bits(bits: number): number {
  single.setUint32(0, bits << 16);
  return single.getFloat32(0);
}

const half = new DataView(new ArrayBuffer(2));

export function toFloat16Bits(value: number): number {
  // Through float32 first: the native library narrows in that order, and double rounding shows in the last bit.
  half.setFloat16(0, Math.fround(value));
  return half.getUint16(0);
}

export function fromFloat16Bits(bits: number): number {
  half.setUint16(0, bits);
  return half.getFloat16(0);
}
