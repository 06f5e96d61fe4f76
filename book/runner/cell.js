// One cell of the page: the editor, its buttons, what came out, and the reader's work kept.

import { makeEditor, setText, textOf } from "./editor.js";
import { keep, recall } from "./kept.js";
import { notebook } from "./notebook.js";
import { run, stop } from "./python.js";

const LONGEST = 100_000; // characters of output; a loop that prints would fill the page

const element = (tag, className, text = "") =>
  Object.assign(document.createElement(tag), { className, textContent: text });

// A button that has nothing to do stays in the order of Tab: a disabled one would lose the focus.
const setIdle = (button, idle) => button.setAttribute("aria-disabled", idle);

export class Cell {
  constructor(place) {
    const { name, check, version } = place.dataset;
    const setup = JSON.parse(place.dataset.setup); // the first cell of the sheet, for an exercise
    Object.assign(this, { place, name, check, version, setup, printed: 0 });
    this.original = place.querySelector("pre").textContent.replace(/\n$/, "");
    this.build();
    this.offerNewer(recall(name));
  }

  build() {
    const kept = recall(this.name);
    const live = element("div", "run-live");
    const what = this.check ? `Your answer: ${this.check}` : "Code to try";
    live.setAttribute("role", "group");
    live.setAttribute("aria-label", what);
    live.append(element("p", "run-title", what));
    this.place.append(live);
    this.editor = makeEditor({
      parent: live,
      doc: kept?.source ?? this.original,
      label: `${what}. Escape and then Tab leaves the editor.`,
      onRun: () => this.run(),
      onChange: () => this.keep(),
    });
    live.append(this.buttons(), this.says(), this.outputs());
    this.place.classList.add("run-drawn");
  }

  buttons() {
    const bar = element("div", "run-buttons");
    const add = (text, title, act) => {
      const button = element("button", "run-button", text);
      Object.assign(button, { type: "button", title, onclick: act });
      bar.append(button);
      return button;
    };
    this.runButton = add("Run", "Run this cell (Ctrl-Enter)", () => this.run());
    if (this.check) {
      this.checkButton = add("Check", "Run this cell and check your answer", () => this.run(this.check));
    }
    this.stopButton = add("Stop", "End what runs; Python starts afresh", () => this.running && stop());
    setIdle(this.stopButton, true);
    add("Reset", "Bring back the first text (Ctrl-Z in the editor undoes it)", () => this.reset());
    add("Save as notebook", "Download this cell as a Jupyter notebook", () => this.download());
    return bar;
  }

  says() {
    this.status = element("p", "run-status", "Runs in this page. All its cells share one Python.");
    this.status.setAttribute("role", "status");
    return this.status;
  }

  outputs() {
    this.output = element("div", "run-output");
    this.output.hidden = true;
    Object.assign(this.output, { tabIndex: 0 });
    this.output.setAttribute("role", "region");
    this.output.setAttribute("aria-label", "Output");
    return this.output;
  }

  run(check = "") {
    if (this.running) return;
    this.clear();
    this.checking = Boolean(check);
    this.busy(true);
    run({ source: textOf(this.editor), check, setup: this.setup }, (message) => this.hear(message));
  }

  clear() {
    this.output.replaceChildren();
    this.output.hidden = true;
    this.printed = 0;
  }

  hear({ kind, text, well }) {
    const ends = {
      done: well ? "Done." : "Not yet: see below.",
      stopped: "Stopped. Python starts afresh, so run the cells above again that you need.",
      failed: `Python did not start: ${text}. Run tries again.`,
    };
    if (kind in ends) {
      this.status.textContent = ends[kind];
      this.output.classList.toggle("run-right", Boolean(this.checking && well));
      this.busy(false);
    } else if (kind === "progress") this.status.textContent = text;
    else if (kind === "figure") this.show(this.picture(text));
    else this.print(kind, text);
  }

  print(kind, text) {
    if (this.printed > LONGEST) return;
    this.printed += text.length;
    const shown = this.printed > LONGEST ? `${text}\n… and more, which is left out.\n` : text;
    const last = this.output.lastElementChild;
    if (last?.matches(`pre.run-${kind}`)) last.textContent += shown;
    else this.show(element("pre", `run-${kind}`, shown));
  }

  picture(png) {
    const alt = "The figure that your code has drawn";
    return Object.assign(element("img", "run-figure"), { src: `data:image/png;base64,${png}`, alt });
  }

  show(part) {
    this.output.append(part);
    this.output.hidden = false;
  }

  busy(running) {
    this.running = running;
    setIdle(this.runButton, running);
    if (this.checkButton) setIdle(this.checkButton, running);
    setIdle(this.stopButton, !running);
  }

  keep() {
    const kept = keep(this.name, textOf(this.editor), this.original, this.version);
    if (!kept) this.status.textContent = "This browser keeps nothing here: save your work as a notebook.";
  }

  reset() {
    setText(this.editor, this.original);
    this.clear();
    this.status.textContent = "This is the first text again. Ctrl-Z in the editor brings yours back.";
    this.dropOffer();
  }

  offerNewer(kept) {
    if (!kept || kept.version === this.version) return;
    this.newer = element("p", "run-newer", "The book has a newer text for this cell; this is yours. ");
    const take = element("button", "run-button", "Take the newer one");
    Object.assign(take, { type: "button", onclick: () => this.reset() });
    const stay = element("button", "run-button", "Keep mine");
    stay.type = "button";
    stay.onclick = () => (this.keep(), this.dropOffer());
    this.newer.append(take, " ", stay);
    this.place.querySelector(".run-title").after(this.newer);
  }

  dropOffer() {
    if (this.newer?.contains(document.activeElement)) this.editor.focus();
    this.newer?.remove();
  }

  download() {
    const text = JSON.stringify(notebook(textOf(this.editor), this.check, this.setup), null, 1);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
    link.download = `${this.name.replace("/", "-")}.ipynb`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}
