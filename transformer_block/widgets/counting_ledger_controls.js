// The hand of the counting ledger that no other picture has: a box for yes or no.

import { html } from "./common.js";

/** A box to tick. */
export function tick(life, name, change) {
  // JupyterLab would take the keys for its cells.
  const input = html("input", { type: "checkbox", "data-lm-suppress-shortcuts": "true" });
  life.listen(input, "change", () => change(Number(input.checked)));
  return {
    node: html("label", { class: "tb-check" }, input, name),
    show(on) {
      input.checked = Boolean(on);
    },
  };
}
