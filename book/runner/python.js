// The page's one Python, which all its cells share: started at the first click, ended by Stop.

let worker = null;
const running = new Map(); // id → the cell's listener
let ids = 0;

function started() {
  if (worker) return worker;
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    const listeners = data.id === undefined ? [...running.values()] : [running.get(data.id)];
    if (data.kind === "done" || data.kind === "failed") running.delete(data.id);
    for (const listener of listeners) listener?.(data);
  };
  worker.onerror = (event) => end({ kind: "failed", text: event.message || "it could not be fetched" });
  return worker;
}

function end(message) {
  worker?.terminate();
  worker = null;
  const listeners = [...running.values()];
  running.clear();
  for (const listener of listeners) listener(message);
}

// Run a cell; listener({kind, text}) hears what it prints until kind is done, failed or stopped.
export function run(cell, listener) {
  const id = ++ids;
  running.set(id, listener);
  started().postMessage({ id, ...cell });
}

// End whatever runs, and Python with it.
export const stop = () => end({ kind: "stopped" });
