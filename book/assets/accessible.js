// What the theme leaves undone for screen readers and keyboards.
document.addEventListener("DOMContentLoaded", () => {
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change);

  // The words that a button shows must be part of the name it announces.
  each(".search-button-field", (button) => {
    button.removeAttribute("aria-label");
    button.querySelector(".search-button__kbd-shortcut")?.setAttribute("aria-hidden", "true");
  });
  each(".theme-switch-button", (button) => button.removeAttribute("aria-label"));
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

  // What scrolls sideways can be reached, and so scrolled, with the keyboard.
  const scrolling = ".bd-article pre, .bd-article .katex-display, .pst-scrollable-table-container";
  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  each(scrolling, (element) => watcher.observe(element));

  // A link to a folded question opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
});
