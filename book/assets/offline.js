// Lets the browser keep what is read: see book/offline/offline-worker.js, which does the keeping.
(() => {
  const { serviceWorker } = navigator; // there is none but over https and on one's own computer
  if (!serviceWorker || !location.protocol.startsWith("http")) return;
  const root = new URL(document.documentElement.dataset.content_root, location.href).href;
  const scopes = ["book/", "search.html", "_static/runner/"]; // and not lite/
  const always = ["book/offline.html", "search.html"].map((name) => root + name);
  const isFirstVisit = !serviceWorker.controller;

  // "How to use this course" has a button that forgets what is kept, and leaves the reader's work.
  let isForgotten = false; // on this page nothing is kept after that
  const forget = async () => {
    isForgotten = true;
    const names = (await caches.keys()).filter((name) => name.startsWith(`transformer-block-book ${root} `));
    const registrations = await serviceWorker.getRegistrations();
    const ours = registrations.filter(({ active }) => active?.scriptURL === `${root}offline-worker.js`);
    await Promise.all([...names.map((name) => caches.delete(name)), ...ours.map((one) => one.unregister())]);
  };
  const forgetAndSay = async ({ target: button }) => {
    const done = await forget().then(
      () => "Forgotten: no page and no Python is kept now.",
      () => "This browser keeps no pages here.", // as some private windows do
    );
    button.nextElementSibling.textContent = done;
  };
  addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("#forget-kept");
    if (button) Object.assign(button, { hidden: false, onclick: forgetAndSay });
  });

  const keep = async (urlsToCache) => {
    const { active } = await serviceWorker.ready;
    if (!isForgotten) active.postMessage({ type: "CACHE_URLS", payload: { urlsToCache } });
  };

  addEventListener("load", async () => {
    try {
      for (const name of scopes) {
        await serviceWorker.register(`${root}offline-worker.js`, { scope: root + name });
      }
    } catch {
      return; // a private window may refuse; the book is read without it
    }
    keep(always);
    if (!isFirstVisit) return;
    // What came before the worker was there, and what still comes past it.
    const isOurs = ({ name }) => name.startsWith(root);
    const note = (list) => keep(list.getEntries().filter(isOurs).map(({ name }) => name));
    keep([location.href]);
    new PerformanceObserver(note).observe({ type: "resource", buffered: true });
  });
})();
