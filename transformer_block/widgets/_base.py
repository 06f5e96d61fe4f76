"""What the living pictures share in Python: one text from many modules, traits, told functions."""

import re
from pathlib import Path

import numpy as np
import traitlets

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|function) (\w+))", re.MULTILINE)


def self_contained(name, folder=FOLDER):
    """Write a JavaScript module and all that it imports from its folder as one module.

    Parameters
    ----------
    name : str
        The module's file name without ``.js``.
    folder : pathlib.Path
        Where it and its imports stand.

    Returns
    -------
    module : str
        Each imported module once, before its first use, as a constant that holds its exports;
        then the module itself, which takes its imports from those constants.

    Notes
    -----
    A widget travels as one text, in notebooks and in static pages, and nothing can be imported
    there. The files stay real modules for Node and for editors.
    """
    written = {}

    def write(module):
        text = (folder / f"{module}.js").read_text("utf-8")
        for _, needed in IMPORT.findall(text):
            if needed not in written:
                written[needed] = enclosed(needed, write(needed))
        return IMPORT.sub(r"const \1 = $\2;", text)

    main = write(name)
    return "".join([*written.values(), main])


def enclosed(name, text):
    """Write a module as a constant that holds its exports, so that no two names can meet."""
    exports = ", ".join(EXPORT.findall(text))
    return f"const ${name} = (() => {{\n{EXPORT.sub('', text)}\nreturn {{ {exports} }};\n}})();\n\n"


def stylesheet(*names, folder=FOLDER):
    """Write the shared stylesheet and the widget's own, one or several, as one text."""
    return "".join((folder / f"{file}.css").read_text("utf-8") for file in ("common", *names))


class Row(traitlets.TraitType):
    """A trait for one vector: takes a list or an array of finite numbers, holds a list."""

    def __init__(self, default, *, shortest, longest, **options):
        super().__init__(default, **options)
        self.shortest, self.longest = shortest, longest

    def validate(self, obj, value):
        """Return the value as a list of floats, or raise ``TraitError``."""
        wanted = f"{self.name} must be {self.shortest} to {self.longest} finite numbers"
        try:
            row = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise traitlets.TraitError(f"{wanted}: got {value!r}") from None
        if row.ndim != 1 or not self.shortest <= row.size <= self.longest:
            raise traitlets.TraitError(f"{wanted}: got shape {row.shape}")
        if not np.isfinite(row).all():
            raise traitlets.TraitError(f"{wanted}: got {row.tolist()}")
        return row.tolist()


class Within(traitlets.TraitType):
    """A trait for one number of a range, whole if its default is whole."""

    def __init__(self, default, lowest, highest, **options):
        super().__init__(default, **options)
        self.kind, self.lowest, self.highest = type(default), lowest, highest

    def validate(self, obj, value):
        """Return the value as a float or an int, or raise ``TraitError``."""
        try:
            number = self.kind(value)
            fits = number == value and self.lowest <= number <= self.highest
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            whole = "a whole number " if self.kind is int else ""
            raise traitlets.TraitError(
                f"{self.name} must be {whole}from {self.lowest} to {self.highest}: got {value!r}"
            )
        return number


def told(function, run):
    """Run what draws a learner's function; whatever that does, the picture stays and says it.

    Parameters
    ----------
    function : callable
        The learner's; its name is shown.
    run : callable
        Takes nothing, returns what the browser is to draw.

    Returns
    -------
    shown : dict
        ``name``, ``message``, empty unless the function stopped, and what ``run`` returned.
    """
    shown = {"name": getattr(function, "__name__", type(function).__name__), "message": ""}
    try:
        with np.errstate(all="ignore"):  # what is not finite is seen in the picture
            return {**shown, **run()}
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return {**shown, "message": f"{shown['name']} stopped with {reason}"}


def numbers(values):
    """Write numbers for a browser, six digits each; JSON has no NaN, so it becomes ``None``."""
    return [float(f"{x:.6g}") if np.isfinite(x) else None for x in values]
