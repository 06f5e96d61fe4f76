import assert from "node:assert/strict";
import { test } from "node:test";

import {
  look,
  pairsOf,
  sayHands,
  sayScore,
} from "../../transformer_block/widgets/rope_dial_numbers.js";

const STATE = {
  query: [1.2, 0.4, -0.6, 0.9, 0.8, -0.7],
  key: [0.9, 0.7, 0.2, 1.1, 1, -0.2],
  query_at: 7,
  key_at: 3,
  shift: 0,
  pairing: "interleaved",
  rope_base: 1e4,
  yours: {},
};
const seen = (changes) => look({ ...STATE, ...changes });
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} ≠ ${b}`);

test("the two layouts pair neighbours and halves", () => {
  assert.deepEqual(pairsOf(6, "interleaved"), [
    [0, 1],
    [2, 3],
    [4, 5],
  ]);
  assert.deepEqual(pairsOf(6, "half_split"), [
    [0, 3],
    [1, 4],
    [2, 5],
  ]);
});

test("moving both keeps the score and moves the vectors, in both layouts", () => {
  for (const pairing of ["interleaved", "half_split"]) {
    const [here, there] = [seen({ pairing }), seen({ pairing, shift: 23 })];
    close(there.score, here.score);
    close(there.unmoved, here.score);
    for (const score of here.byShift) close(score, here.score);
    const moves = here.turned.query.map((x, i) => Math.abs(x - there.turned.query[i]));
    assert.ok(Math.max(...moves) > 0.1);
  }
});

test("with the layouts mixed up moving both moves the score", () => {
  const { score, unmoved } = seen({ pairing: "mixed", shift: 23 });
  assert.ok(Math.abs(score - unmoved) > 0.1);
});

test("the score is the sum of what each clock gives", () => {
  const { clocks, score } = seen({ shift: 11 });
  close(
    clocks.reduce((sum, { share }) => sum + share, 0),
    score,
  );
});

test("no hand changes its length", () => {
  for (const { query, key } of seen({ pairing: "half_split", shift: 77 }).clocks)
    for (const { before, after } of [query, key])
      close(Math.hypot(...after), Math.hypot(...before));
});

test("the curve by distance holds the score at the present distance", () => {
  const { byDistance, score, distance } = seen({ shift: 5 });
  close(byDistance[distance + 32], score);
});

test("the sentences say how far the hands are apart, and what moving did", () => {
  assert.equal(
    sayHands(seen({})),
    "The query is at 7, the key at 3: their hands are turned apart by 4 rad in the first pair, " +
      "by 0.00862 in the last.",
  );
  assert.match(sayHands(seen({ query_at: 3 })), /both at 3: every pair is turned by one angle/);
  assert.match(sayHands(look({ ...STATE, query: [1, 0], key: [0, 1] })), /apart by 4 rad\.$/);
  assert.match(sayScore(seen({})), /^At distance 4 the score is .*Now move both\.$/);
  assert.match(
    sayScore(seen({ shift: 9 })),
    /moved by 9: every hand has turned, and the score stays/,
  );
  assert.match(sayScore(seen({ shift: 9, pairing: "mixed" })), /distance alone no longer decides/);
});
