// Numbers from Python: arrays of several kinds, one after the other in one piece of bytes.

const KINDS = {
  float32: [4, (bytes) => new Float32Array(bytes)],
  float16: [2, (bytes) => Float32Array.from(new Uint16Array(bytes), halfToNumber)],
  uint16: [2, (bytes) => new Uint16Array(bytes)],
  uint8: [1, (bytes) => new Uint8Array(bytes)],
};

/** The number that sixteen bits stand for: a sign, five bits of a power of two, ten of a fraction. */
export function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const [power, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (power === 0) return sign * fraction * 2 ** -24;
  if (power === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (power - 15);
}

/** Read arrays as they are listed, each as `[name, kind, length]`, from where the first begins. */
export function unpacked(list, view, begin) {
  let at = view.byteOffset + begin;
  const arrays = list.map(([name, kind, length]) => {
    const [width, read] = KINDS[kind];
    const bytes = view.buffer.slice(at, at + width * length);
    at += width * length;
    return [name, read(bytes)];
  });
  return Object.fromEntries(arrays);
}
