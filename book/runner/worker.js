// Python in a worker of its own: the page stays alive, and whatever hangs can be thrown away.

import course from "./course.py";

const here = new URL(".", import.meta.url);
const pyodideUrl = new URL("../pyodide/", here).href;
const say = (message) => self.postMessage(message);

let ready = null;

async function start() {
  say({ kind: "progress", text: "Fetching Python, 15 MB the first time…" });
  const { loadPyodide } = await import(/* the page's own */ `${pyodideUrl}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: pyodideUrl, env: { MPLBACKEND: "agg" } });
  say({ kind: "progress", text: "Fetching NumPy…" });
  await python.loadPackage("numpy", { messageCallback: () => {} });
  const packed = await (await fetch(new URL("course.zip", here))).arrayBuffer();
  python.unpackArchive(packed, "zip", { extractDir: "/lib/python3.12/site-packages" });
  say({ kind: "progress", text: "Starting…" });
  python.runPython(course);
  return { python, run: python.globals.get("run") };
}

async function run({ id, source, check, setup }) {
  try {
    ready ??= start();
    const { python, run } = await ready;
    if (/\bmatplotlib\b/.test(source) && !python.loadedPackages.matplotlib) {
      say({ id, kind: "progress", text: "Fetching Matplotlib, 10 MB the first time…" });
      await python.loadPackage("matplotlib", { messageCallback: () => {} });
    }
    say({ id, kind: "progress", text: check ? "Checking…" : "Running…" });
    const well = run(source, check, setup, (kind, text) => say({ id, kind, text }));
    say({ id, kind: "done", well });
  } catch (error) {
    ready = null; // the next click tries again
    say({ id, kind: "failed", text: String(error.message ?? error) });
  }
}

// One cell after the other, in the order of the clicks.
let queue = Promise.resolve();
self.onmessage = ({ data }) => {
  queue = queue.then(() => run(data));
};
