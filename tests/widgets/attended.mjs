// A made-up state of the attention map: two texts, two blocks of three heads.

const TEXTS = [
  { name: "short", title: "Short", tokens: ["a", " b"] },
  { name: "long", title: "Long", tokens: ["a", " b", " c", " a", " b"] },
];

/** Head h of block l looks l · 3 + h + 1 tokens back where it can, else at the first token. */
function row(layer, head, query) {
  const back = layer * 3 + head + 1;
  const at = query - back < 0 ? 0 : query - back;
  return Array.from({ length: query + 1 }, (_, key) => (key === at ? 204 : key === query ? 51 : 0));
}

function bytes() {
  const all = [];
  for (const { tokens } of TEXTS)
    for (const layer of [0, 1])
      for (const head of [0, 1, 2])
        for (const query of tokens.keys()) all.push(...row(layer, head, query));
  return new DataView(Uint8Array.from(all).buffer);
}

export const attended = () => ({
  text: "long",
  layer: 0,
  head: 1,
  query: 4,
  key: 2,
  texts: TEXTS,
  size: [2, 3],
  weights: bytes(),
});
