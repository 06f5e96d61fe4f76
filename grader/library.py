"""Answers that are functions of the library, taken from its source text."""

import ast
import builtins
import importlib.util
import symtable
from pathlib import Path

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
_READY_MADE = {*dir(builtins), "display", "get_ipython"}  # the last two are there in notebooks


def library_answer(dotted):
    """Write the solved cell of a library function.

    Parameters
    ----------
    dotted : str
        Full name: ``"transformer_block.rmsnorm.rmsnorm_forward"``.

    Returns
    -------
    source : str
        Signature and docstring as in the library, then the body between nbgrader's solution
        marks. Imports from the package's private modules come along as the body's first lines.

    Raises
    ------
    LookupError
        If there is no such function, or it lacks a docstring or a body.
    """
    module, _, name = dotted.rpartition(".")
    text = _module_text(module)
    tree = ast.parse(text)
    function = _function(tree, module, name)
    lines = text.splitlines()
    start = min(node.lineno for node in [function, *function.decorator_list]) - 1
    head = lines[start : function.body[0].end_lineno]
    body = lines[function.body[0].end_lineno : _end_of(function, lines)]
    _, free = names_of("\n".join(head + body))
    indent = " " * function.body[0].col_offset
    imports = (indent + line for line in _private_imports(tree, module, free))
    return "\n".join([*head, indent + BEGIN, *imports, *body, indent + END])


def names_of(source):
    """Find which names a cell defines, and which it needs from the cells before it.

    Parameters
    ----------
    source : str
        Code of one cell; lines of IPython's own (``%matplotlib inline``) are allowed.

    Returns
    -------
    defined : set of str
        Names that the cell assigns, imports or defines at its top level.
    free : set of str
        Names that it uses, does not define, and Python does not have.

    Raises
    ------
    SyntaxError
        If the source is not Python.
    """
    top = symtable.symtable(_plain_python(source), "<cell>", "exec")
    defined = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    return defined, _used(top) - defined - _READY_MADE


def _used(table):
    """Collect the global names that a scope and the scopes inside it refer to."""
    at_top = table.get_type() == "module"
    used = {
        s.get_name() for s in table.get_symbols() if s.is_referenced() and (at_top or s.is_global())
    }
    return used.union(*map(_used, table.get_children()))


def _plain_python(source):
    """Return the source with IPython's own lines turned into calls, if it has any."""
    try:
        ast.parse(source)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager  # 0.3 s, seldom needed

        return TransformerManager().transform_cell(source)
    return source


def _module_text(module):
    """Read the source text of a module without running it."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.has_location:
        raise LookupError(f"there is no module {module}")
    return Path(spec.origin).read_text("utf-8")


def _function(tree, module, name):
    """Find a function with a docstring and a body at the top level of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if ast.get_docstring(node) is None:
                raise LookupError(f"{module}.{name} has no docstring")
            if len(node.body) == 1:
                raise LookupError(f"{module}.{name} has no body under its docstring")
            return node
    raise LookupError(f"{module} has no function {name}")


def _end_of(function, lines):
    """Return the number of the function's last line, comments under its last statement included."""
    end = function.end_lineno
    while end < len(lines) and lines[end].startswith(" ") and lines[end].lstrip().startswith("#"):
        end += 1
    return end


def _private_imports(tree, module, free):
    """Write the imports of those free names that come from private modules of the package."""
    package = module.partition(".")[0]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            home, *inner = node.module.split(".")
            wanted = [alias for alias in node.names if (alias.asname or alias.name) in free]
            if wanted and home == package and any(part.startswith("_") for part in inner):
                yield ast.unparse(ast.ImportFrom(node.module, wanted, 0))
