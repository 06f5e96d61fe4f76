// Tells RequireJS where our own copies are, relative to this script, so that it asks nobody else.
(() => {
  const here = new URL(".", document.currentScript.src).href;
  window.requirejs.config({
    paths: {
      anywidget: `${here}widgets/anywidget`,
      "@jupyter-widgets/html-manager": `${here}widgets/embed-amd`,
      "@jupyter-widgets/html-manager/dist/libembed-amd": `${here}widgets/embed-amd`,
    },
  });
})();
