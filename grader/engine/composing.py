"""The autograded notebook: what was run, what it showed, and what the tests said."""

import html
import re

from grader.engine import roles
from grader.engine.reading import clean
from grader.files import json_lines

MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
UNSEEN = "\N{ZERO WIDTH NON-JOINER}"
INERT = f"<{UNSEEN}"  # looks the same, and opens no tag of HTML
SCRIPT = re.compile(r"(script)([\s\\]*:)", re.IGNORECASE)  # of javascript: and its kin
SKIPPED = re.compile(r"[\s\\\x00-\x20]+")  # what Markdown or a browser takes out of an address
_PNG = re.compile(r"[A-Za-z0-9+/=\s]*")


def compose(master, placed, shown):
    """Write the autograded notebook.

    Parameters
    ----------
    master : Master
        Metadata come from it alone.
    placed : list of Placed
        The cells that were run.
    shown : dict
        Place of a cell to the outputs it gave.

    Returns
    -------
    data : bytes
        nbformat 4, sorted keys: the same results give the same bytes.
    """
    taken = set()
    cells = [_cell(cell, n, shown.get(n, []), taken) for n, cell in enumerate(placed)]
    notebook = {
        "cells": cells,
        "metadata": master.metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json_lines(notebook)


def _cell(cell, number, outputs, taken):
    master = cell.master
    theirs = master is None or master.role in (roles.ANSWER, roles.HAND, roles.FREE)
    source = inert(cell.source) if theirs and cell.kind == "markdown" else cell.source
    facts = {
        "cell_type": cell.kind,
        "id": _id(cell, number, taken),
        "metadata": {"nbgrader": master.meta} if master is not None else {},
        "source": source.splitlines(keepends=True),
    }
    if cell.kind == "code":
        facts |= {"execution_count": number + 1, "outputs": outputs}
    elif cell.pictures:
        facts["attachments"] = cell.pictures
    return facts


def inert(text):
    """Return Markdown that looks the same, opens no tag of HTML, and has no address that runs."""
    text = MARKUP.sub(INERT, text)
    read = SKIPPED.sub("", html.unescape(text)).lower()
    if "javascript:" in read or "vbscript:" in read:
        text = SCRIPT.sub(rf"\1{UNSEEN}\2", text.replace("&", f"&{UNSEEN}"))
    return text


def _id(cell, number, taken):
    """Keep the master's ids; every other cell gets one from its place."""
    wanted = cell.master.id if cell.master is not None and cell.master.id else f"cell-{number}"
    while wanted in taken:
        wanted += "-"
    taken.add(wanted)
    return wanted


def outputs_of(result, number):
    """Turn what a cell showed in the sandbox into outputs of a notebook, checked part by part."""
    outputs = [_output(item, number) for item in result["outputs"][:50]]
    outputs = [output for output in outputs if output is not None]
    error = result["error"]
    if error is not None:
        outputs.append(error_output(error["type"], error["text"], error["frames"]))
    return outputs


def _output(item, number):
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("text"), str):
        return stream(item["text"], "stderr" if _says(item, "stream", "stderr") else "stdout")
    data = item.get("data")
    data = data if isinstance(data, dict) else {}
    kept = {}
    if isinstance(data.get("text/plain"), str):
        kept["text/plain"] = clean(data["text/plain"]).splitlines(keepends=True)
    png = data.get("image/png")
    if isinstance(png, str) and _PNG.fullmatch(png):
        kept["image/png"] = png
    if not kept:
        return None
    if _says(item, "show", "execute_result"):
        return {
            "output_type": "execute_result",
            "data": kept,
            "metadata": {},
            "execution_count": number + 1,
        }
    return {"output_type": "display_data", "data": kept, "metadata": {}}


def _says(item, key, word):
    """Tell whether a word stands under a key; what is no text may have an answer of its own."""
    return isinstance(item.get(key), str) and item[key] == word


def stream(text, name="stdout"):
    """Return an output of text."""
    lines = clean(text).splitlines(keepends=True)
    return {"output_type": "stream", "name": name, "text": lines}


def error_output(kind, text, frames=()):
    """Return an output that tells an error by the student's own lines."""
    lines = [f"line {line}, in {name}: {code}" for line, name, code in frames if code]
    told = clean(text)
    return {
        "output_type": "error",
        "ename": kind,
        "evalue": told,
        "traceback": [*lines, f"{kind}: {told}"],
    }


def shown_by_test(verdict, cell):
    """Return the outputs of a graded cell, without what the student's code printed in it."""
    outputs = [stream(verdict.shown)] if verdict.shown and not cell.hides else []
    if verdict.share < 1 and verdict.sentence:
        outputs.append(error_output("NotYet", verdict.sentence))
    return outputs
