"""The course's library as a sheet hands it out: nothing that it asks for, or that gives it away."""

import ast
import copy
import shutil
from functools import cache
from pathlib import Path

import transformer_block

LIBRARY = Path(transformer_block.__file__).parent
ASKED = (
    "{dotted} is not there while this sheet is marked: it is, or it uses, what the sheet asks "
    "you to write ({asked})."
)
NOT_GIVEN = "{dotted} is not there while this sheet is marked: the sheet does not hand it out."
# Parts of handed-out functions that do what a sheet asks for, under another name.
TWINS = {
    "_half_forward": {"pre_norm_update", "post_norm_update"},
    "_half_backward": {"pre_norm_update_backward"},
}
_LENT = """
def {name}(*args, **kwargs):
    from grader.engine.far.lending import lend
    return lend({dotted!r}, args, kwargs)
"""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def withheld_names(asked, library=LIBRARY):
    """Return the names of the library's definitions that must not be at hand.

    Parameters
    ----------
    asked : set of str
        Names that the sheet asks for.
    library : Path
        The package's folder.

    Returns
    -------
    names : dict
        Name of a definition to the asked name that it is or reaches.
    """
    uses = _uses(library)
    reached = {name: name for name in uses if name in asked}
    while True:
        more = {
            name: reached[min(used & reached.keys())]
            for name, used in uses.items()
            if name not in reached and used & reached.keys()
        }
        if not more:
            return reached
        reached |= more


@cache
def _uses(library):
    """Return what each definition of the library mentions."""
    uses = {}
    for file in sorted(library.glob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            for name in _defined(node):
                found = _mentioned(node) | TWINS.get(name, set())
                uses.setdefault(name, set()).update(found)
    return uses


def needed_names(handed_out, library=LIBRARY):
    """Return the names of the library's definitions that what is handed out needs.

    Parameters
    ----------
    handed_out : iterable of str
        Full names of functions.
    library : Path
        The package's folder.

    Returns
    -------
    names : set of str
        Those of the functions, and of everything that they reach.
    """
    return _reached(_uses(library), (dotted.rpartition(".")[2] for dotted in handed_out))


def _reached(uses, names):
    """Follow what definitions mention."""
    reached, queue = set(), list(names)
    while queue:
        name = queue.pop()
        if name not in reached:
            reached.add(name)
            queue += uses.get(name, ())
    return reached


def lent(asked, handed_out, library=LIBRARY):
    """Return the functions that a sheet hands out although they are, or use, what it asks for.

    Parameters
    ----------
    asked : set of str
        Names that the sheet asks for.
    handed_out : set of str
        Full names of what its released cells import from the library.
    library : Path
        The package's folder.

    Returns
    -------
    names : dict
        Full name to the asked names that it is or reaches.
    """
    uses = _uses(library)
    found = {}
    for dotted in handed_out:
        reached = _reached(uses, [dotted.rpartition(".")[2]])
        if reached & asked:
            found[dotted] = frozenset(reached & asked)
    return found


@cache
def refusals(library=LIBRARY):
    """Return every sentence that a body which is not there may say, for whatever sheet."""
    names = _uses(library)
    defined = [
        (f"{library.name}.{file.stem}.{name}", name)
        for file in library.glob("*.py")
        for node in ast.parse(file.read_text("utf-8")).body
        for name in _defined(node)
    ]
    reached = {name: _reached(names, [name]) & names.keys() for _, name in defined}
    asked = {
        ASKED.format(dotted=dotted, asked=one) for dotted, name in defined for one in reached[name]
    }
    return asked | {NOT_GIVEN.format(dotted=dotted) for dotted, _ in defined}


@cache
def bodies(dotted, library=LIBRARY):
    """Return the source of a function of the library and of every function that it reaches.

    Parameters
    ----------
    dotted : str
        Its full name.
    library : Path
        The package's folder.

    Returns
    -------
    texts : list of [str, str]
        Full name of a module and source of one function, itself the last.
    """
    home, _, name = dotted.rpartition(".")
    reached = _reached(_uses(library), [name])
    texts = [
        [f"{library.name}.{file.stem}", ast.unparse(node)]
        for file in sorted(library.glob("*.py"))
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name in reached
    ]
    is_it = [module == home and f"def {name}(" in text for module, text in texts]
    itself = texts.pop(is_it.index(True))
    return [*texts, itself]


def write_library(folder, asked, handed_out=frozenset(), library=LIBRARY):
    """Write a copy of the library that holds what is handed out; what is lent is called elsewhere.

    Everything else raises an error that says why: another name for the same (``_rmsnorm_forward``
    of the fast block, ``contrast_block_forward`` for the block) would be an answer for nothing.
    Data and the dataclasses stay.

    Parameters
    ----------
    folder : Path
        Where the package is to be; it must not exist.
    asked : set of str
        Names that the sheet asks for.
    handed_out : set of str
        Full names of what its released cells import from the library.
    library : Path
        The package's folder.
    """
    withheld = withheld_names(asked, library)
    needed = needed_names(set(handed_out) - lent(asked, handed_out, library).keys(), library)
    shutil.copytree(library, folder, ignore=shutil.ignore_patterns("__pycache__", "widgets"))
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        module = f"transformer_block.{file.stem}"
        tree.body = [_emptied(node, withheld, needed, module, handed_out) for node in tree.body]
        file.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")


def _defined(node):
    """Return the names that a statement of a module defines; imports define nothing here."""
    if isinstance(node, _DEFINITIONS):
        return [node.name]
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _mentioned(node):
    """Collect every name and attribute in a statement."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            found.add(inner.id)
        elif isinstance(inner, ast.Attribute):
            found.add(inner.attr)
        elif isinstance(inner, ast.ImportFrom | ast.Import):
            found.update(alias.name.rpartition(".")[2] for alias in inner.names)
    return found


def _emptied(node, withheld, needed, module, handed_out):
    """Put a sentence in the place of a body that is withheld, or a call where it is lent."""
    names = [name for name in _defined(node) if name in withheld]
    if not names and (_is_data(node) or node.name in needed):
        return node
    name = (names or [node.name])[0]
    dotted = f"{module}.{name}"
    if names and dotted in handed_out:
        return ast.parse(_LENT.format(name=name, dotted=dotted)).body[0]
    says = ASKED.format(dotted=dotted, asked=withheld[name]) if names else NOT_GIVEN
    refusal = ast.parse(f"raise RuntimeError({says.format(dotted=dotted)!r})").body
    if isinstance(node, ast.FunctionDef):
        empty = copy.copy(node)
        empty.body, empty.decorator_list = refusal, []
        return empty
    function = ast.parse(f"def {name}(*args, **kwargs): pass").body[0]
    function.body = refusal
    return function


def _is_data(node):
    """Tell what computes nothing: an import, a constant, a dataclass."""
    return not isinstance(node, _DEFINITIONS) or (
        isinstance(node, ast.ClassDef) and bool(node.decorator_list)
    )
