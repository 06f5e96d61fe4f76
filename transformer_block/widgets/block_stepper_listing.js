// The listing of the pass that is shown, its line of this step marked, and what that line runs.

import { html, panel, write } from "./common.js";

/** Build the panel; its lines are made anew only where the pass changes. */
export function listingPanel() {
  const code = html("code", {});
  const listing = html("pre", { class: "tb-listing" }, code);
  const file = html("div", { class: "tb-subtitle" });
  const inside = html("code", {});
  const within = html("pre", { class: "tb-listing tb-within" }, inside);
  let shown;
  return {
    node: panel("Its line in block.py", "Listing 22.1; the marked line is being run", listing, file, within),
    show({ code: { way, first, last, text, file: name, within: words } }) {
      if (shown !== text) code.replaceChildren(...text.split("\n").map(line));
      shown = text;
      [...code.children].forEach((row, i) => {
        const on = i >= first && i <= last;
        row.classList.toggle("tb-on", on);
        row.classList.toggle("tb-back", on && way === "backward");
      });
      write(file, name ? `and within it, in ${name}:` : "Nothing lies within: this line is all.");
      write(inside, words || " ");
    },
  };
}

const line = (words) => html("span", { class: "tb-code-line" }, words);
