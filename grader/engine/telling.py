"""What the far side tells of cells and errors, in a form that can be relied on.

The far side may be in a student's hands: it has seen the inputs of hidden tests, and could tell
them by the name of an exception or by a line of code that nobody wrote.
"""

import builtins
import contextlib
import keyword
import re
import traceback

import numpy as np

from grader.engine.jail import Lost
from grader.engine.reading import clean
from grader.engine.suspicions import parsed
from grader.engine.withheld import refusals
from grader.records import CRASHED, TIMED_OUT

MOST_TEXT = 2000  # characters of an error or a warning
MOST_FRAMES = 8
ENDINGS = (StopIteration, StopAsyncIteration)  # raised here, they would end a test's own loops
GROUPS = (BaseExceptionGroup,)  # which want more than a text
PLACES = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
LIBRARIES = ("LinAlgError", "AxisError")  # exceptions of NumPy's own
# What Python says of names, and nothing else: they can be looked for in the notebook.
SAYINGS = re.compile(
    r"name '(\w+)' is not defined|No module named '([\w.]+)'"
    r"|module '([\w.]+)' has no attribute '(\w+)'"
    r"|cannot access local variable '(\w+)' where it is not associated with a value"
)


class Written:
    """The lines and the words of a notebook's cells."""

    def __init__(self):
        self.lines, self.words = {}, set()

    def add(self, source):
        """Take in a cell that is run."""
        for number, line in enumerate(source.splitlines(), start=1):
            self.lines.setdefault(line.strip()[:200], set()).add(number)
        self.words.update(re.findall(r"\w+", source))

    def name(self, name, otherwise=""):
        """Return a name if it is Python's, NumPy's, or stands in a cell."""
        kind = getattr(builtins, name, None)
        known = isinstance(kind, type) or name in LIBRARIES or name in self.words
        return name if known and not keyword.iskeyword(name) else otherwise

    def is_refusal(self, text):
        """Tell whether a text is what the cut library says of a name that stands in a cell."""
        dotted, here, _ = text.partition(" is not there while ")
        return bool(here) and dotted.rpartition(".")[2] in self.words and text in refusals()

    def says(self, text):
        """Tell whether a text is what Python says of names that stand in a cell."""
        said = SAYINGS.fullmatch(text)
        names = ".".join(filter(None, said.groups())).split(".") if said else [""]
        return self.words.issuperset(names) or self.is_refusal(text)

    def frames(self, frames):
        """Return the frames whose lines stand in a cell, with the numbers that they have there."""
        kept = []
        for line, name, text in frames[-MOST_FRAMES:]:
            numbers = self.lines.get(text.strip())
            if numbers and (name in PLACES or name in self.words):
                kept.append((line if line in numbers else min(numbers), name, text))
        return kept


def why_failed(error, cells):
    """Say why a cell failed: an error's text may hold what an earlier test has handed in.

    Parameters
    ----------
    error : dict
        What the far side tells of it.
    cells : list of str
        What was run, the cell in question at the end.
    """
    written = Written()
    for source in cells:
        written.add(source)
    kind = written.name(error["type"], "an error")
    text = error["text"] if written.says(error["text"]) else ""
    text = _syntax(cells[-1]) if kind in ("SyntaxError", "IndentationError") else text
    return f"its cell raised {kind}" + (f": {text}" if text else "")


def _syntax(source):
    """Say what is no Python in a cell, found out on this side."""
    try:
        parsed(source)
    except SyntaxError as trouble:
        return f"{trouble.msg}, line {trouble.lineno}"
    except (ValueError, RecursionError, MemoryError):
        pass
    return ""


def cell_told(answer):
    """Check the form of what a cell showed."""
    if not isinstance(answer, dict) or not isinstance(answer.get("outputs"), list):
        raise Lost(CRASHED, "the notebook's process sent no outputs")
    return {"outputs": answer["outputs"], "error": _error(answer.get("error"))}


def _error(told):
    """Return what is told of an error in a form that can be relied on."""
    if not isinstance(told, dict):
        return None
    frames = [frame for frame in listed(told.get("frames"), 20) if isinstance(frame, list)]
    return {
        "type": short(told.get("type"))[:100],
        "bases": [base for base in listed(told.get("bases"), 20) if isinstance(base, str)],
        "text": short(told.get("text")),
        "frames": [
            (line, short(name)[:100], short(text)[:200])
            for line, name, text in (frame for frame in frames if len(frame) == 3)
            if type(line) is int
        ],
    }


def listed(value, most):
    """Return the first items of a list; nothing where the other side sent no list."""
    return value[:most] if type(value) is list else []


def short(value):
    """Return a text that is fit to be written, and not without end."""
    return clean(value[:MOST_TEXT]) if isinstance(value, str) else ""


def error_from(told, written=None):
    """Make the exception that a student's code raised, with the lines that led to it.

    Parameters
    ----------
    told : dict
        What the far side tells.
    written : Written, optional
        Names and lines that are not in it were made up, and are left out.
    """
    told = _error(told)
    if told is None:
        raise Lost(CRASHED, "the notebook's process sent no error")
    if told["type"] == "TimeUp":
        raise Lost(TIMED_OUT, "it was interrupted", lives=True)
    if written is not None:
        told |= {"type": written.name(told["type"]), "frames": written.frames(told["frames"])}
    error = _kind_of(told)(told["text"])
    error.ours = written is not None and written.is_refusal(told["text"])
    error.student_frames = [
        traceback.FrameSummary("<notebook>", line, name, lookup_line=False, line=text)
        for line, name, text in told["frames"]
    ]
    return error


def _kind_of(told):
    """Find or make the class of an exception: builtin ones are the real ones."""
    known = [getattr(builtins, base, None) for base in told["bases"]]
    known = [kind for kind in known if isinstance(kind, type) and issubclass(kind, Exception)]
    known = [kind for kind in known if not issubclass(kind, ENDINGS + GROUPS)]
    base = known[0] if known else RuntimeError
    if base.__name__ == told["type"]:
        return _plain(base)
    if told["type"] == "LinAlgError":
        return np.linalg.LinAlgError
    return type(told["type"] if told["type"].isidentifier() else "Error", (_plain(base),), {})


def _plain(kind):
    """Give an exception a text alone; classes that want more, or add to it, get one that do not."""
    with contextlib.suppress(TypeError):
        if str(kind("text")) == "text":
            return kind
    return type(kind.__name__, (kind,), {"__init__": _keep_text, "__str__": _text_of})


def _keep_text(self, text):
    Exception.__init__(self, text)
    self.text = text


def _text_of(self):
    return self.text
