// The book without a network: what was read once is kept in the browser, and shown again.
//
// A page is asked for anew each time, and the kept one is shown where no answer comes. A file whose
// name changes with its contents, and Python, are taken from what is kept. Nothing of another
// origin is touched, nor JupyterLite, which has a worker of its own: offline.js gives this one
// scopes that leave it out, because JupyterLite would take any worker that it meets for its own.

import { CacheableResponsePlugin } from "workbox-cacheable-response";
import { clientsClaim } from "workbox-core";
import { ExpirationPlugin } from "workbox-expiration";
import { registerRoute, setCatchHandler } from "workbox-routing";
import { CacheFirst, NetworkFirst } from "workbox-strategies";
import { version as python } from "pyodide/package.json";

const ROOT = new URL(".", self.location.href).href; // another copy of the book may be beside it
const NAME = `transformer-block-book ${ROOT} `;
const FORM = 1; // another number throws away all that is kept
const KEPT = { pages: `${NAME}pages ${FORM}`, files: `${NAME}files ${FORM}`, python: `${NAME}python ${python}` };
const PATIENCE = 4; // seconds

const askAnew = { requestWillFetch: async ({ request }) => new Request(request, { cache: "no-cache" }) };
const withoutQuery = { cacheKeyWillBeUsed: async ({ request }) => request.url.replace(/[?#].*/, "") };

// Only whole answers are kept, and at most so many of them: the ones read last.
const keep = (maxEntries) => [
  new CacheableResponsePlugin({ statuses: [200] }),
  new ExpirationPlugin({ maxEntries, purgeOnQuotaError: true }),
];

const inBook = (url) => url.href.startsWith(ROOT) && !url.href.startsWith(`${ROOT}lite/`);
const below = (folder) => ({ url }) => url.href.startsWith(ROOT + folder);
const isPage = ({ url, request }) => inBook(url) && (request.mode === "navigate" || url.pathname.endsWith(".html"));
const hasDigest = ({ url }) => inBook(url) && /[0-9a-f]{32}/.test(url.pathname);
const hasVersion = ({ url }) => inBook(url) && /[?&](v|digest)=/.test(url.search);

registerRoute(
  isPage,
  new NetworkFirst({
    cacheName: KEPT.pages,
    networkTimeoutSeconds: PATIENCE,
    plugins: [askAnew, withoutQuery, ...keep(60)],
  }),
);
registerRoute(below("_static/pyodide/"), new CacheFirst({ cacheName: KEPT.python, plugins: keep(80) }));
// To a name with a digest, Sphinx adds a version on some pages and not on others.
registerRoute(hasDigest, new CacheFirst({ cacheName: KEPT.files, plugins: [withoutQuery, ...keep(300)] }));
registerRoute(hasVersion, new CacheFirst({ cacheName: KEPT.files, plugins: keep(300) }));
registerRoute(
  ({ url }) => inBook(url),
  new NetworkFirst({ cacheName: KEPT.files, networkTimeoutSeconds: PATIENCE, plugins: [askAnew, ...keep(300)] }),
);
setCatchHandler(async ({ request, url }) => {
  const instead = request.mode === "navigate" && (await caches.match(`${ROOT}book/offline.html`));
  if (instead) return instead;
  // The search looks into each page that it finds; one that is not kept it shows without an excerpt.
  return isPage({ request, url }) ? new Response("") : Response.error();
});

async function forgetOld() {
  const now = Object.values(KEPT);
  const old = (await caches.keys()).filter((name) => name.startsWith(NAME) && !now.includes(name));
  await Promise.all(old.map((name) => caches.delete(name)));
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(forgetOld()));
clientsClaim();
