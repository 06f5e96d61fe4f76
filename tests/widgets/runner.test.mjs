// What the page's runner keeps and saves, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keep, recall } from "../../book/runner/kept.js";
import { notebook } from "../../book/runner/notebook.js";

const storage = () => {
  const kept = new Map();
  return () => ({
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  });
};

test("work is kept with the version of the cell it grew from, and the cell's own text is not", () => {
  const place = storage();
  assert.equal(recall("a/b", place), null);
  assert.ok(keep("a/b", "mine", "stub", "v1", place));
  assert.deepEqual(recall("a/b", place), { source: "mine", version: "v1" });
  keep("a/b", "stub", "stub", "v1", place);
  assert.equal(recall("a/b", place), null);
});

test("a browser that keeps nothing is told apart, and nothing breaks", () => {
  const refuses = () => {
    throw new Error("no storage");
  };
  const full = () => ({ getItem: refuses, setItem: refuses, removeItem: refuses });
  for (const none of [full, refuses]) {
    assert.equal(recall("a/b", none), null);
    assert.equal(keep("a/b", "mine", "stub", "v1", none), false);
  }
});

test("a notebook has the imports, the answer, and a check only where there is one", () => {
  const sources = (made) => made.cells.map((cell) => cell.source);
  assert.deepEqual(sources(notebook("x = 1", "f", "import a")), ["import a", "x = 1", "check(f)"]);
  assert.match(sources(notebook("x = 1", "", ""))[0], /^import numpy as np\n/);
  assert.equal(notebook("x = 1", "", "").cells.length, 2);
});
