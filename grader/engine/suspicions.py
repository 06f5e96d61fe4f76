"""Code that looks as if it were meant for the grader: it gains nothing, and is named."""

import ast
import re

from grader.records import Note

NAMES = {
    "showtraceback": "replaces how a notebook shows errors",
    "run_cell": "reaches for the code that runs cells",
    "run_cell_async": "reaches for the code that runs cells",
    "run_ast_nodes": "reaches for the code that runs cells",
    "run_code": "reaches for the code that runs cells",
    "do_execute": "reaches for the code that runs cells",
    "do_shell": "reaches for the code that runs cells",
    "transform_cell": "rewrites cells before they run",
    "line_transforms": "rewrites cells before they run",
    "token_transformers": "rewrites cells before they run",
    "input_transformers_post": "rewrites cells before they run",
    "input_transformers_cleanup": "rewrites cells before they run",
    "ast_transformers": "rewrites cells before they run",
    "set_custom_exc": "replaces how a notebook handles errors",
    "get_objects": "walks through the interpreter's objects",
    "get_referrers": "walks through the interpreter's objects",
    "_getframe": "walks through frames of the code that calls it",
    "currentframe": "walks through frames of the code that calls it",
    "f_back": "walks through frames of the code that calls it",
    "f_locals": "walks through frames of the code that calls it",
    "f_globals": "walks through frames of the code that calls it",
    "user_ns": "reaches for the names of the notebook",
    "meta_path": "changes what an import gives",
    "path_hooks": "changes what an import gives",
    "__import__": "changes what an import gives",
    "__subclasshook__": "changes what is taken for what",
    "__instancecheck__": "changes what is taken for what",
    "settrace": "listens to the code that calls it",
    "setprofile": "listens to the code that calls it",
    "__code__": "changes the code of a function",
    "__globals__": "looks at what another function sees",
    "__closure__": "looks at what another function sees",
    "__array_function__": "makes an array that decides about comparisons",
    "__array_ufunc__": "makes an array that decides about comparisons",
    "_exit": "ends the process",
    "fork": "starts processes",
    "ctypes": "reaches below Python",
    "socket": "uses the network",
    "urlopen": "uses the network",
    "subprocess": "starts programs",
}
TEXTS = {
    "gradebook": "names the gradebook",
    "submitted/": "names other submissions",
    "/proc": "looks at processes",
    "pre_run_cell": "runs code before every cell",
    "post_run_cell": "runs code after every cell",
}

TELLING = (ast.Name, ast.Attribute, ast.Constant, ast.Assign, ast.Delete, ast.Import)
TELLING += (ast.ImportFrom, ast.FunctionDef, ast.Call)
OURS = "grader."  # what lies under it is for the marking side; ``grader`` itself is handed out
REPLACES = ("setattr", "delattr")
OF_IPYTHON = re.compile(r"^[ \t]*[%!?].*$", re.MULTILINE)
LONGEST = 80  # characters of a name that is told


def suspicions(name, source):
    """Return notes on a cell of a student that looks like an attempt on the grader.

    Parameters
    ----------
    name : str or None
        The cell's grade id, if it has one.
    source : str
        Its code.

    Returns
    -------
    notes : list of Note
        One for each kind of thing that was found.
    """
    try:
        nodes = [node for node in ast.walk(parsed(source)) if isinstance(node, TELLING)]
        modules = {name for node in nodes for name in _modules(node)} | {"np", "numpy"}
        found = {what for node in nodes for what in _looks_like(node, modules)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    where = name or "a cell of the student's own"
    return [Note("suspicious", name, f"{where} {what}.") for what in sorted(found)]


def parsed(source):
    """Parse a cell without its lines that are IPython's; the errors are those of ``ast.parse``."""
    return ast.parse(OF_IPYTHON.sub("", source))


def _modules(node):
    """Return the names that an import binds."""
    if isinstance(node, ast.Import):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    return []


def _looks_like(node, modules):
    """Yield what a piece of code does, where that is nothing an answer needs."""
    if isinstance(node, ast.Name | ast.Attribute | ast.FunctionDef):
        word = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "name", "")
        if word in NAMES:
            yield NAMES[word]
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        yield from (NAMES[name] for name in names if name in NAMES)
        if any(name.startswith(OURS) for name in names):
            yield "reaches for the grader's own code"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from (what for text, what in TEXTS.items() if text in node.value)
        if "_" in node.value and node.value in NAMES:  # as in getattr(x, "run_cell")
            yield NAMES[node.value]
    yield from (f"replaces {name}" for name in _replaced(node, modules))
    if isinstance(node, ast.FunctionDef) and node.name == "__eq__":
        yield "makes objects that decide what they are equal to"


def _replaced(node, modules):
    """Yield what a piece of code sets or deletes in a module."""
    for target in getattr(node, "targets", []):
        if isinstance(target, ast.Subscript) and ast.unparse(target.value) == "sys.modules":
            yield "a module that is loaded"
        if isinstance(target, ast.Attribute) and _root(target) in modules:
            yield ast.unparse(target)[:LONGEST]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in REPLACES:
        if node.args and _root(node.args[0]) in modules:
            yield f"what is in {ast.unparse(node.args[0])[:LONGEST]}"


def _root(node):
    """Return the first name of ``a.b.c``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")
