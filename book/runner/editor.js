// The editor: CodeMirror with Python, dressed by the book's own colours (run.css).

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

// Put an editor into a place. Escape and then Tab leaves it; Tab alone indents.
export function makeEditor({ parent, doc, label, onRun, onChange }) {
  const runs = ["Ctrl-Enter", "Cmd-Enter", "Shift-Enter"].map((key) => ({
    key,
    run: () => (onRun(), true),
  }));
  const extensions = [
    keymap.of([...runs, indentWithTab, ...defaultKeymap, ...historyKeymap]),
    history(),
    lineNumbers(),
    python(),
    indentUnit.of("    "),
    indentOnInput(),
    bracketMatching(),
    syntaxHighlighting(classHighlighter),
    EditorView.lineWrapping,
    // It can be reached without tabindex too, but not every tool that looks for that knows it.
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    EditorView.updateListener.of((update) => update.docChanged && onChange()),
  ];
  return new EditorView({ parent, state: EditorState.create({ doc, extensions }) });
}

export const textOf = (view) => view.state.doc.toString();

// Replace all text; Ctrl-Z brings the old one back.
export function setText(view, text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}
