"""Calling a learner's function: on copies, quietly, with its errors told as the learner's own."""

import contextlib
import copy
import io
import linecache
import re
import sys
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CHECKS = str(Path(__file__).parents[1])
BROADCAST = re.compile(r"could not be broadcast together with shapes \(([\d,]+)\) \(([\d,]+)\)")
LOST_AXIS = "Does a mean or a sum drop an axis here that keepdims=True would keep?"


class Unusable(Exception):
    """The call gave nothing to compare: it raised, or returned something of another form.

    ``public`` says so without any word or value of the answer's own, for it has seen the inputs.
    """

    def __init__(self, text, public=None):
        super().__init__(text)
        self.public = public or text


class Unwritten(Unusable):
    """The body of the function, or of one that it calls, is still the empty one."""


@dataclass(frozen=True)
class Reply:
    """What came back from one call: outputs by name, changed arguments, and what was warned of."""

    outputs: Mapping[str, object]
    changed: tuple[str, ...]
    warned: tuple[str, ...] = ()


def call(exercise, answer, arguments):
    """Call the answer on copies of the arguments and take its result apart by name."""
    mine = {name: copy.deepcopy(value) for name, value in arguments.items()}
    try:
        with _quietly() as warned:
            result = answer(*mine.values())
    except Exception as error:
        raise _unusable(exercise.name, error, arguments) from error
    changed = tuple(_changed(arguments, mine))
    return Reply(_take_apart(exercise, result), changed, tuple(str(w.message) for w in warned))


@contextlib.contextmanager
def _quietly():
    """Collect warnings, turn stderr into plain output: both may come with a right answer."""
    heard = io.StringIO()
    collected = warnings.catch_warnings(record=True)
    with collected as warned, np.errstate(all="warn"), contextlib.redirect_stderr(heard):
        warnings.simplefilter("default")  # each line's warning once
        yield warned
    if heard.getvalue():
        sys.stdout.write(heard.getvalue())


def _take_apart(exercise, result):
    """Give the parts of the result their names, or say what was returned in their place.

    A part written ``**grads`` is a dict: each of its entries becomes an output of its own, and
    where an entry is a list of dicts, as for the blocks of a stack, so does ``blocks.0.W_q``.
    """
    outputs = {}
    for name, value in _parts(exercise, result).items():
        if not name.startswith("**"):
            outputs[name] = value
        elif isinstance(value, Mapping):
            outputs |= _flat(value)
        else:
            wanted = f"{name[2:]} should be a dict of arrays"
            raise Unusable(f"{wanted}: it is {describe(value)}.", f"{wanted}.")
    return outputs


def _flat(grads):
    """Give the entries of dicts in a list, such as one for each block, names of their own."""
    flat = {}
    for name, value in grads.items():
        if isinstance(value, tuple | list) and any(isinstance(one, Mapping) for one in value):
            for number, one in enumerate(value):
                inner = one if isinstance(one, Mapping) else {"": one}
                flat |= {f"{name}.{number}.{key}": entry for key, entry in inner.items()}
        else:
            flat[name] = value
    return flat


def _parts(exercise, result):
    """Pair what was returned with the names that the exercise gives to its parts."""
    names = exercise.returns
    if result is None:
        ending = ", ".join(name.lstrip("*") for name in names)
        raise Unusable(f"{exercise.name} returned None. Does it end in `return {ending}`?")
    if len(names) == 1:
        return {names[0]: result}
    if not isinstance(result, tuple | list) or len(result) != len(names):
        things = " and ".join(name.lstrip("*") for name in names)
        wanted = f"should return {len(names)} things: {things}."
        raise Unusable(
            f"{exercise.name} returned {describe(result)}. It {wanted}", f"{exercise.name} {wanted}"
        )
    return dict(zip(names, result, strict=True))


def describe(value):
    """Say in a few words what a value is: its type, and shape or length where it has one."""
    if isinstance(value, np.ndarray):
        kind = "" if value.dtype.kind in "biuf" else f" and dtype {value.dtype}"
        return f"an array of shape {value.shape}{kind}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Mapping):
        return f"a dict with the keys {', '.join(map(str, value))}"
    return f"{value!r:.60}" if isinstance(value, int | float | str) else f"a {type(value).__name__}"


def shapes(arguments):
    """List the arguments as `x (3, 5), eps 1e-05`."""
    return ", ".join(f"{name} {_brief(value)}" for name, value in arguments.items())


def _brief(value):
    if isinstance(value, np.ndarray):
        return f"{value.shape}" if value.dtype == np.float64 else f"{value.shape} {value.dtype}"
    if isinstance(value, Mapping) and all(isinstance(v, int | float) for v in value.values()):
        return "{" + ", ".join(f"{key}: {number}" for key, number in value.items()) + "}"
    return f"{value:g}" if isinstance(value, float) else f"({describe(value)})"


def _changed(before, after):
    """Yield the places at which arguments differ after the call: ``x``, ``cache[3]``.

    An argument that is itself a function of the course is looked into: what it keeps is its own.
    """
    for name, old in before.items():
        new = after[name]
        if isinstance(old, np.ndarray):
            if not np.array_equal(old, new, equal_nan=True):
                yield name
        elif isinstance(old, tuple | list) and len(old) == len(new):
            yield from (f"{name}{at}" for at in _changed(_numbered(old), _numbered(new)))
        elif isinstance(old, Mapping) and old.keys() == new.keys():
            yield from (f"{name}[{key!r}]" for key in _changed(old, new))
        elif callable(old) and hasattr(old, "__dict__"):
            yield from (f"{name}.{at}" for at in _changed(vars(old), vars(new)))


def _numbered(items):
    return {f"[{number}]": item for number, item in enumerate(items)}


def _unusable(name, error, arguments):
    """Tell an exception in the learner's lines, without the lines of the checks and of NumPy."""
    frames, theirs = _frames(error)
    if isinstance(error, NotImplementedError):
        return Unwritten(_tell_unwritten(name, frames[-1].name if frames else name))
    lines = [f"  line {f.lineno}, in {f.name}: {f.line}" for f in theirs if f.line]
    raised = f"{name} raised {type(error).__name__}"
    called = f"It was called with {shapes(arguments)}."
    told = f"{raised}: {error}"
    public = told if getattr(error, "ours", False) else f"{raised}."
    asked = [LOST_AXIS] if _lacks_last_axis(str(error)) else []
    return Unusable("\n".join([*asked, told, *lines, called]), "\n".join([*asked, public, *lines]))


def _lacks_last_axis(text):
    """Tell from NumPy's words whether one of two shapes is the other without its last axis."""
    found = BROADCAST.search(text)
    if found is None:
        return False
    one, other = (shape.rstrip(",").split(",") for shape in found.groups())
    return one == other[:-1] or other == one[:-1]


def _frames(error):
    """Return all frames of an error, and those of the learner.

    An error that comes from another process brings the learner's frames as ``student_frames``.
    """
    brought = getattr(error, "student_frames", None)
    if brought is not None:
        return brought, brought
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if not f.filename.startswith(CHECKS) and _is_open(f.filename)]
    return frames, theirs


def _tell_unwritten(name, raiser):
    """Name the function whose body is missing: the answer, or one that it calls."""
    if raiser in (name, "<lambda>"):
        return f"{name} is not written yet: its body still raises NotImplementedError."
    return f"{name} calls {raiser}, and {raiser} is not written yet."


def _is_open(filename):
    """Tell whether a file is a notebook cell or lies outside the installed packages."""
    return "site-packages" not in filename and bool(linecache.getlines(filename))
