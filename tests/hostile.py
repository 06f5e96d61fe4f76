"""Submissions that break, cheat or attack: what is handed in, the marks, a part of the remark."""

import copy
import json
from pathlib import Path

HERE = Path(__file__).parent
SUBMISSIONS = HERE / "submissions" / "rmsnorm"
RIGHT = json.loads((SUBMISSIONS / "right.ipynb").read_text("utf-8"))
BLANK = json.loads((HERE.parent / "notebooks" / "rmsnorm.ipynb").read_text("utf-8"))
MARKS = json.loads((SUBMISSIONS / "marks.json").read_text("utf-8"))
FULL, NOTHING = MARKS["right"], MARKS["untouched"]
LOST = {**FULL, "half_rms-value": 0}


def find(notebook, name):
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def packed(notebook):
    return json.dumps(notebook).encode()


def answering(source):
    """Return the right submission with another answer to one question."""
    notebook = copy.deepcopy(RIGHT)
    find(notebook, "half_rms")["source"] = source
    return packed(notebook)


def beginning(source, notebook=BLANK):
    """Return a notebook, untouched otherwise, with a cell of the student's own near its start."""
    notebook = copy.deepcopy(notebook)
    cell = {"cell_type": "code", "id": "own", "metadata": {}, "source": source}
    notebook["cells"].insert(3, cell | {"outputs": [], "execution_count": None})
    return packed(notebook)


def changed(change, notebook=RIGHT):
    """Return a notebook after a change of its list of cells."""
    notebook = copy.deepcopy(notebook)
    change(notebook["cells"], lambda name: find(notebook, name))
    return packed(notebook)


def delete(name):
    return lambda cells, cell: cells.remove(cell(name))


def edit(name, **facts):
    return lambda cells, cell: cell(name).update(facts)


def twice(name, source):
    """Put a copy of a cell, with another source, right behind it."""

    def change(cells, cell):
        again = {**copy.deepcopy(cell(name)), "source": source}
        cells.insert(cells.index(cell(name)) + 1, again)

    return change


def raise_points(cells, cell):
    cell("half_rms-value")["metadata"]["nbgrader"]["points"] = 100
    cell("half_rms-value")["metadata"]["nbgrader"]["locked"] = False
    cell("half_rms-value")["source"] = "assert True"


def to_markdown(name):
    def change(cells, cell):
        for key in ("outputs", "execution_count"):
            cell(name).pop(key)
        cell(name)["cell_type"] = "markdown"

    return change


def foreign_kernel(source):
    notebook = copy.deepcopy(source)
    notebook["metadata"]["kernelspec"] = {"name": "bash", "display_name": "Python [root]"}
    return packed(notebook)


CLASS = {
    # Running: only the question in hand is lost.
    "loops": (
        answering("def half_rms(eps):\n    while True:\n        pass"),
        LOST,
        "timed out: half_rms-value",
    ),
    "loops in its cell": (answering("while True: pass"), LOST, "timed out: half_rms-value"),
    "holds on": (
        answering(
            "def half_rms(eps):\n    while True:\n        try:\n            while True: pass\n"
            "        except BaseException: pass"
        ),
        LOST,
        "timed out: half_rms-value",
    ),
    "exits": (answering("import os\nos._exit(0)"), LOST, "stopped the notebook: half_rms-value"),
    "sys.exit": (answering("def half_rms(eps):\n    import sys; sys.exit()"), LOST, "no points"),
    "quits": (beginning("quit()", RIGHT), FULL, ""),
    "segfault": (
        answering("def half_rms(eps):\n    import ctypes; ctypes.string_at(0)"),
        LOST,
        "stopped the notebook: half_rms-value",
    ),
    "298 GiB": (answering("def half_rms(eps):\n    return np.ones((200000, 200000))"), LOST, ""),
    "grows": (
        answering("l = []\nwhile True: l.append(bytearray(10**7))"),
        LOST,
        ": half_rms-value",
    ),
    "60 forks": (
        answering("import os, time\nfor i in range(60):\n    if os.fork() == 0: time.sleep(900)"),
        LOST,
        "suspicious: half_rms",
    ),
    "prints for ever": (answering("while True: print('y' * 80)"), LOST, "timed out"),
    "100 MB of text": (beginning("print('x' * 10**8)", RIGHT), FULL, ""),
    "2000 lines": (beginning("for i in range(2000): print(i)", RIGHT), FULL, ""),
    "asks": (beginning("W = 3\ninput()", RIGHT), FULL, ""),
    "debugs": (beginning("%debug\nbreakpoint()\nW = 4", RIGHT), FULL, ""),
    "magics": (
        beginning("%matplotlib widget\n%timeit 1\n!pip install x\nW = 1", RIGHT),
        FULL,
        "",
    ),
    "warns": (
        answering(
            "def half_rms(eps):\n    import sys, warnings\n    warnings.warn('x')\n"
            "    print(np.log(np.zeros(1)), file=sys.stderr)\n    return np.sqrt(eps / 3)"
        ),
        FULL,
        "",
    ),
    "shadows": (beginning("open('numpy.py', 'w').write('1 / 0')\nimport numpy", RIGHT), FULL, ""),
    "hidden state": (answering("def half_rms(eps):\n    return W * eps"), LOST, "no points"),
    "nonsense": (
        answering(
            "def half_rms(eps):\n    import os\n    for n in range(3, 20):\n        try:\n"
            "            os.write(n, b'nonsense' * 99)\n        except OSError: pass"
        ),
        LOST,
        "",
    ),
    "deep list": (
        answering(
            "def half_rms(eps):\n    a = []\n    for i in range(10000): a = [a]\n    return a"
        ),
        LOST,
        "no points",
    ),
    "long text": (answering("def half_rms(eps):\n    return 'x' * 10**9"), LOST, ""),
    "an object": (
        answering("class T: pass\ndef half_rms(eps):\n    return T()"),
        LOST,
        "no points",
    ),
    # Edited notebooks: the master decides.
    "answer twice": (
        changed(twice("half_rms", find(BLANK, "half_rms")["source"])),
        FULL,
        "duplicate: half_rms",
    ),
    "test twice": (changed(twice("half_rms-value", "")), FULL, "duplicate: half_rms-value"),
    "test deleted": (changed(delete("half_rms-value")), FULL, "missing test: half_rms-value"),
    "answer deleted": (changed(delete("half_rms")), LOST, "missing answer: half_rms"),
    "test edited": (
        changed(raise_points, BLANK),
        NOTHING,
        "edited test: half_rms-value; changed points: half_rms-value; unlocked",
    ),
    "test as text": (
        changed(to_markdown("half_rms-value"), BLANK),
        NOTHING,
        "changed type: half_rms-value",
    ),
    "answer as text": (changed(to_markdown("half_rms")), FULL, "changed type: half_rms"),
    "another kernel": (foreign_kernel(RIGHT), FULL, ""),
}
