// A made-up state of the stream ledger: two tokens, two blocks, width 2, three words.

const PARTS = [
  // of token 0, then of token 1: the embedding, then attention and net of each block
  [[1, 0], [0, 2], [3, 0], [0, 0], [-1, 1]],
  [[0, 1], [1, 0], [0, -2], [4, 0], [0, 3]],
];
const HEAD = [[1, 0], [0, 1], [-1, -1]];
const sizeOf = (row) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0) / row.length);
const sums = PARTS.map((rows) => rows.map((_, i) => [0, 1].map((j) => rows.slice(0, i + 1).reduce((s, r) => s + r[j], 0))));

/** The run, with the vectors of all tokens or of the last alone. */
export function ledgers(whole = true) {
  const held = whole ? [0, 1] : [1];
  const byPlace = (of) => [0, 1, 2, 3, 4].flatMap((i) => [0, 1].map((t) => of(t, i)));
  const arrays = {
    stream: byPlace((t, i) => sizeOf(sums[t][i])),
    write: byPlace((t, i) => sizeOf(PARTS[t][i])).slice(2),
    cosine: byPlace(() => 0.5).slice(2),
    lens: byPlace((t, i) => [i % 3, (i + 1) % 3]).flat(),
    chance: byPlace(() => [0.75, 0.25]).flat(),
    parts: held.flatMap((t) => PARTS[t].flat()),
    end: held.flatMap((t) => sums[t][4]),
    head: HEAD.flat(),
  };
  const listed = Object.entries(arrays).map(([name, row]) => [name, "float32", row.length]);
  const run = {
    ...{ name: "one", title: "One", tokens: ["a", " b"], places: 5, d: 2, eps: 0, listed: 2 },
    ...{ words: ["x", "y", "z"], said: ["x", "y", "z"], whole, held, letters: false },
    ...{ begin: 0, arrays: listed },
  };
  const data = new DataView(Float32Array.from(Object.values(arrays).flat()).buffer);
  return { text: "one", token: 1, place: 3, off: [], shown: "lens", runs: [run], data };
}
