"""An exception as data: its kind, its text, and the student's own lines on the way to it."""

import linecache
import sys
import traceback

MOST_FRAMES = 8
MOST_TEXT = 2000


def describe_error(error):
    """Return what the other side needs to tell an exception and to raise one like it."""
    return {
        "type": type(error).__name__[:100],
        "bases": [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"],
        "text": _text(error)[:MOST_TEXT],
        "frames": _frames(error),
    }


def _text(error):
    """Return the text of an error, whose ``__str__`` may be a student's."""
    try:
        if isinstance(error, SyntaxError):
            return f"{error.msg}, line {error.lineno}"
        return str(error)
    except BaseException:
        return ""


def _frames(error):
    """Return line number, name and text of the student's frames: the first ones and the last."""
    frames = [f for f in traceback.extract_tb(error.__traceback__, 200) if _is_theirs(f.filename)]
    if len(frames) > MOST_FRAMES:
        frames = frames[: MOST_FRAMES // 2] + frames[-MOST_FRAMES // 2 :]
    return [[f.lineno or 0, f.name[:100], (f.line or "")[:200]] for f in frames]


def _is_theirs(filename):
    """Tell whether code belongs to a notebook: not to Python, to a package or to us."""
    inside = (sys.prefix, sys.base_prefix, "/usr/lib", "<frozen", "/sandbox")
    return not filename.startswith(inside) and bool(linecache.getlines(filename))
