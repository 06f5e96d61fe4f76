// What the tables of all living pictures share: they open on demand, and on paper.

import { html } from "./common.js";

/**
 * Tables that open on demand. `show(list)` is given a function that lists them, each as
 * `{ caption, columns, rows }`, where the first cell of a row names it; it runs while they are open.
 */
export function tableOnDemand(life, summary) {
  const body = html("div", { class: "tb-tables" });
  const node = html("details", { class: "tb-details" }, html("summary", {}, summary), body);
  let list = () => [];
  const refresh = () => node.open && body.replaceChildren(...list().map(table));
  life.listen(node, "toggle", refresh);
  openOnPaper(life, node, refresh);
  return {
    node,
    show(latest) {
      list = latest;
      refresh();
    },
  };
}

/** On paper nothing opens by hand: what is folded opens before printing, and folds again after. */
function openOnPaper(life, node, refresh) {
  let folded = false;
  life.listen(document.defaultView, "beforeprint", () => {
    folded = !node.open;
    node.open = true;
    refresh();
  });
  life.listen(document.defaultView, "afterprint", () => {
    if (folded) node.open = false;
  });
}

function table({ caption, columns, rows }) {
  const head = html("tr", {}, ...columns.map((name) => html("th", { scope: "col" }, name)));
  const line = ([name, ...cells]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      ...cells.map((cell) => html("td", {}, cell)),
    );
  return html(
    "table",
    {},
    html("caption", {}, caption),
    html("thead", {}, head),
    html("tbody", {}, ...rows.map(line)),
  );
}
