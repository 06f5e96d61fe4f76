"""The course's library without the functions that a sheet asks for, and without what uses them."""

import ast
import copy
import shutil
from pathlib import Path

import transformer_block

LIBRARY = Path(transformer_block.__file__).parent
SAYS = (
    "{dotted} is not there while this sheet is marked: it is, or it uses, what the sheet asks "
    "you to write ({asked})."
)
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


def _uses(library):
    """Return what each definition of the library mentions."""
    uses = {}
    for file in sorted(library.glob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            for name in _defined(node):
                uses.setdefault(name, set()).update(_mentioned(node))
    return uses


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
        reached, queue = set(), [dotted.rpartition(".")[2]]
        while queue:
            name = queue.pop()
            if name not in reached:
                reached.add(name)
                queue += uses.get(name, ())
        if reached & asked:
            found[dotted] = frozenset(reached & asked)
    return found


def write_library(folder, asked, handed_out=frozenset(), library=LIBRARY):
    """Write a copy of the library without what is asked for; what is lent is called elsewhere.

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
    shutil.copytree(library, folder, ignore=shutil.ignore_patterns("__pycache__", "widgets"))
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        module = f"transformer_block.{file.stem}"
        tree.body = [_emptied(node, withheld, module, handed_out) for node in tree.body]
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


def _emptied(node, withheld, module, handed_out):
    """Put a sentence in the place of a body that is withheld, or a call where it is lent."""
    names = [name for name in _defined(node) if name in withheld]
    if not names:
        return node
    if f"{module}.{names[0]}" in handed_out:
        return ast.parse(_LENT.format(name=names[0], dotted=f"{module}.{names[0]}")).body[0]
    says = SAYS.format(dotted=f"{module}.{names[0]}", asked=withheld[names[0]])
    refusal = ast.parse(f"raise RuntimeError({says!r})").body
    if isinstance(node, ast.FunctionDef):
        empty = copy.copy(node)
        empty.body, empty.decorator_list = refusal, []
        return empty
    function = ast.parse(f"def {names[0]}(*args, **kwargs): pass").body[0]
    function.body = refusal
    return function
