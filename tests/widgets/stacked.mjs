// What Python sends to the wiring, made up: each size tells by its value where it belongs.

export const streamAt = (kind, size, layer) => 1 + kind + size / 4 + layer / 100;
export const gradientAt = (kind, size, depth, layer) =>
  10 ** kind * 2 ** (size + (depth - layer) / 8);

export function stacked(kinds) {
  const [streams, gradients] = [[], []];
  for (let kind = 0; kind < kinds; kind += 1)
    for (let size = 0; size < 3; size += 1) {
      for (let layer = 0; layer <= 64; layer += 1) streams.push(streamAt(kind, size, layer));
      for (let depth = 1; depth <= 64; depth += 1)
        for (let layer = 0; layer <= depth; layer += 1)
          gradients.push(gradientAt(kind, size, depth, layer));
    }
  const view = (row) => new DataView(new Float32Array(row).buffer);
  return { streams: view(streams), gradients: view(gradients) };
}
