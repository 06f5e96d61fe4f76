"""Inside the reader's browser: run a cell, and tell it as a notebook would."""

import ast
import base64
import contextlib
import io
import linecache
import logging
import sys
import traceback

import numpy as np

from grader import check
from grader.checks import CheckFailed

CELL = "<your code>"
logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it talks about its fonts
names = {"__name__": "__main__", "np": np, "check": check}
prepared = set()


class Told(io.TextIOBase):
    """A stream whose text goes to the page."""

    def __init__(self, kind, tell):
        self.kind, self.tell = kind, tell

    def write(self, text):
        """Send the text."""
        self.tell(self.kind, text)
        return len(text)


def run(source, checked, setup, tell):
    """Run a cell and then, if a name is given, check what it made; return whether all went well.

    The setup, the first cell of a sheet, is run once before it; what it prints is not shown.
    """
    linecache.cache[CELL] = (len(source), None, source.splitlines(keepends=True), CELL)
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Told("text", tell), Told("text", tell)
    try:
        _prepare(setup)
        value = _execute(source)
        if value is not None:
            tell("text", f"{value!r}\n")
        if checked:
            _check(checked)
    except CheckFailed as failure:
        tell("wrong", f"{failure}\n")
        return False
    except BaseException as error:
        tell("error", _trimmed(error))
        return False
    finally:
        sys.stdout, sys.stderr = kept
        _show_figures(tell)
    return True


def _prepare(setup):
    """Run a setup unless it has been run: what the reader defined since then stays."""
    if setup not in prepared:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(setup, names)
        prepared.add(setup)


def _execute(source):
    """Run all statements; return the value of the last one if it is an expression."""
    tree = ast.parse(source, CELL)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, CELL, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), CELL, "eval"), names)


def _check(name):
    """Check the answer of this name."""
    if name not in names:
        raise NameError(
            f"name '{name}' is not defined: the check looks for a function of this name"
        )
    check(names[name])


def _trimmed(error):
    """Write an error with the reader's own lines only."""
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if frame.filename == CELL]
    return "".join([*traceback.format_list(mine), *traceback.format_exception_only(error)])


def _show_figures(tell):
    """Send every open figure as a picture, and close it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        file = io.BytesIO()
        pyplot.figure(number).savefig(file, format="png", dpi=150, bbox_inches="tight")
        tell("figure", base64.b64encode(file.getvalue()).decode())
    if pyplot:
        pyplot.close("all")
