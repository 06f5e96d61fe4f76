// What the theme leaves undone for screen readers and keyboards.
document.addEventListener("DOMContentLoaded", () => {
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change);

  // The words that a button shows must be part of the name it announces.
  each(".search-button-field", (button) => {
    button.removeAttribute("aria-label");
    button.querySelector(".search-button__kbd-shortcut")?.setAttribute("aria-hidden", "true");
  });
  each(".theme-switch-button", (button) => {
    button.removeAttribute("aria-label"); // its picture names the state alone: "Dark"
    button.insertAdjacentHTML("afterbegin", '<span class="visually-hidden">Colours: </span>');
  });
  each("summary[aria-label]", (summary) => summary.removeAttribute("aria-label"));

  // The role that Sphinx gives to references is no longer in the standard.
  each("[role=doc-biblioentry]", (entry) => entry.setAttribute("role", "listitem"));

  // Everything on the page belongs to a landmark.
  each(".navbar-brand", (brand) => {
    const banner = document.createElement("nav");
    banner.setAttribute("aria-label", "Home");
    brand.replaceWith(banner);
    banner.append(brand);
  });

  // The sentences of a check are read, not looked at in columns: they may break.
  each(".bd-article .output pre", (output) => {
    output.classList.toggle("sentences", /^[✓✗]/.test(output.textContent));
  });

  // A table of sentences in four columns stands on a phone as rows of named lines, and is heard as a
  // table all the same: the roles are written out, since some browsers forget those of other displays.
  const ROLES = { "thead, tbody": "rowgroup", tr: "row", th: "columnheader", td: "cell" };
  const stack = (table) => {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    table.classList.add("stacked");
    table.setAttribute("role", "table");
    for (const [parts, role] of Object.entries(ROLES)) {
      table.querySelectorAll(parts).forEach((part) => part.setAttribute("role", role));
    }
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, i) => (cell.dataset.name = names[i]));
    }
  };

  each(".bd-article table:has(thead)", (table) => {
    const cells = [...table.tBodies[0].querySelectorAll("td")];
    const wordy = cells.some((cell) => cell.textContent.length > 24);
    if (wordy && table.tHead.rows[0].cells.length > 3) stack(table);
  });

  // What scrolls sideways can be reached, and so scrolled, with the keyboard.
  const scrolling = ".bd-article pre, .bd-article .katex-display, .pst-scrollable-table-container";
  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  each(scrolling, (element) => watcher.observe(element));

  // What a search quotes of a page holds each formula once, as it is read.
  if (typeof Search !== "undefined") {
    const textOf = Search.htmlToText;
    Search.htmlToText = (page, ...rest) => {
      const whole = new DOMParser().parseFromString(page, "text/html");
      whole.querySelectorAll(".katex-html, annotation").forEach((copy) => copy.remove());
      return textOf(whole.documentElement.outerHTML, ...rest);
    };
  }

  // A link to a folded question opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
});
