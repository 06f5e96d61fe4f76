"""Systematic mutants of a function: every small change that a learner, or a slip, could make.

Operators, signs, axes and other constants, indices, keywords, dropped terms, calls and statements,
names and keys taken for one another. What is only there to refuse bad arguments is left alone, and
so is the docstring.
"""

import ast
import copy
from dataclasses import dataclass

SWAPPED = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
NO_EFFECT = {"copy", "strict", "optimize"}  # keywords that change no value
SAME_FOR_ALL = {"shape", "ndim"}  # of arrays that belong together: whose it is says little
EITHER_WAY = {"swapaxes", "result_type", "maximum", "minimum", "array_equal"}
TWINS = [
    {"sum", "mean", "max"},
    {"exp", "log", "sqrt"},
    {"sin", "cos"},
    {"zeros", "ones", "zeros_like", "ones_like"},
    {"tril", "triu"},
    {"argmax", "argmin"},
    {"cumsum", "cumprod"},
    {"floor", "ceil"},
    {"maximum", "minimum"},
    {"min", "max"},
]


@dataclass(frozen=True)
class Mutant:
    """One changed function.

    Parameters
    ----------
    was, now : str
        The changed statement, before and after.
    source : str
        The whole function with the change in it.
    """

    was: str
    now: str
    source: str


def mutants(source):
    """Return every mutant of the first function in ``source``, none twice, none equal to it."""
    tree = ast.parse(source)
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    original, found = ast.unparse(tree), {}
    words = _words(function)
    for statement in _statements(function):
        for put in _edits(statement, words):
            was = _head(statement)
            undo, now = put()
            text = ast.unparse(tree)
            if text != original and _compiles(text):
                found.setdefault(text, Mutant(was, now, text))
            undo()
    return list(found.values())


def _compiles(text):
    try:
        compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _head(statement):
    """Return the first line of a statement: of a loop only its head."""
    return ast.unparse(statement).splitlines()[0]


def _statements(function):
    """Yield the statements of a body, nested ones too, that are there to compute something."""
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt) and not _is_guard(node):
                yield node


def _is_guard(node):
    """Tell what computes nothing: docstrings, imports, and the refusal of bad arguments."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Pass):
        return True
    if isinstance(node, ast.If):
        return all(isinstance(child, ast.Raise) for child in node.body)
    if isinstance(node, ast.Expr):
        value = node.value
        called = value.func if isinstance(value, ast.Call) else None
        return isinstance(value, ast.Constant) or (
            isinstance(called, ast.Name) and called.id.startswith(("require_", "_require"))
        )
    return False


def _words(function):
    """Return what can be taken for one another: arguments and unpacked names, and string keys."""
    names = [argument.arg for argument in function.args.args]
    keys = []
    for node in ast.walk(function):
        if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            names += [part.id for part in node.elts if isinstance(part, ast.Name)]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            keys += [node.slice.value] if isinstance(node.slice.value, str) else []
    return sorted(set(names)), sorted(set(keys))


def _edits(statement, words):
    """Yield functions that make one change each, and return how to undo it and the new line."""
    for parent, field, index, node in _own_nodes(statement):
        for new in [*_replacements(node), *_confused(node, words)]:
            yield lambda p=parent, f=field, i=index, n=new: _put(statement, p, f, i, n)
    if isinstance(statement, ast.AugAssign):
        yield lambda: _change_kind(statement)
    if _can_be_dropped(statement):
        yield lambda: _drop(statement)


def _confused(node, words):
    """Yield the names or keys that could be written in the place of one."""
    names, keys = words
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        yield from (ast.Name(other, node.ctx) for other in names if other != node.id)
    if isinstance(node, ast.Constant) and node.value in keys:
        yield from (ast.Constant(other) for other in keys if other != node.value)


def _can_be_dropped(statement):
    """Tell whether a function without the statement would still run."""
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Subscript) for target in statement.targets)
    return isinstance(statement, ast.AugAssign | ast.Expr)


def _drop(statement):
    """Let a statement do nothing, without taking it from its place."""
    kind = type(statement)
    statement.__class__ = ast.Pass

    def undo():
        statement.__class__ = kind

    return undo, "pass"


def _own_nodes(statement):
    """Yield (parent, field, index, node) for the expressions of a statement itself."""
    waiting = [statement]
    while waiting:
        parent = waiting.pop()
        for field, value in ast.iter_fields(parent):
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(node, ast.keyword) and node.arg in NO_EFFECT:
                    continue
                if isinstance(parent, ast.Attribute) and parent.attr in SAME_FOR_ALL:
                    continue
                if isinstance(parent, ast.Tuple) and isinstance(node, ast.Tuple):
                    continue  # a returned cache: what is in it is the learner's own business
                if isinstance(node, ast.expr | ast.keyword | ast.comprehension):
                    yield parent, field, index if isinstance(value, list) else None, node
                    waiting.append(node)


def _put(statement, parent, field, index, new):
    """Put one node in the place of another."""
    if index is None:
        old = getattr(parent, field)
        setattr(parent, field, new)
        return lambda: setattr(parent, field, old), _head(statement)
    old = getattr(parent, field)
    setattr(parent, field, [*old[:index], *([] if new is None else [new]), *old[index + 1 :]])
    return lambda: setattr(parent, field, old), _head(statement)


def _change_kind(statement):
    """Let ``+=`` take away in place of adding."""
    old = statement.op
    statement.op = ast.Sub() if isinstance(old, ast.Add) else ast.Add()

    def undo():
        statement.op = old

    return undo, _head(statement)


def _replacements(node):
    """Yield what could stand in the place of a node by mistake; ``None`` drops it from a list."""
    makers = {
        ast.BinOp: _of_operation,
        ast.UnaryOp: lambda node: [node.operand],
        ast.Compare: _of_comparison,
        ast.Constant: _of_constant,
        ast.Call: _of_call,
        ast.keyword: lambda node: [None],
        ast.Attribute: _of_attribute,
        ast.IfExp: lambda node: [node.body, node.orelse],
        ast.Subscript: lambda node: [node.value] if isinstance(node.ctx, ast.Load) else [],
    }
    if type(node) in makers:
        yield from makers[type(node)](node)


def _of_operation(node):
    """Another operator, one operand alone, or the two the other way round."""
    for kind in SWAPPED.get(type(node.op), ()):
        yield ast.BinOp(node.left, kind(), node.right)
    yield node.left
    if not isinstance(node.op, ast.Pow):
        yield node.right
    if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
        yield ast.BinOp(node.right, node.op, node.left)


def _of_comparison(node):
    for kind in SWAPPED.get(type(node.ops[0]), ()):
        yield ast.Compare(node.left, [kind()], node.comparators)


def _of_constant(node):
    """A number a little off, of the other sign, or zero; the opposite of a truth value."""
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        for value in (node.value + 1, node.value - 1, -node.value, 2 * node.value):
            if value != node.value:
                yield ast.Constant(value)


def _of_call(node):
    """Its first argument in its place, its object in its place, or its arguments swapped."""
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        yield node.func.value
    either_way = isinstance(node.func, ast.Attribute) and node.func.attr in EITHER_WAY
    for first in range(0 if either_way else len(node.args) - 1):
        swapped = copy.copy(node.args)
        swapped[first : first + 2] = swapped[first : first + 2][::-1]
        yield ast.Call(node.func, swapped, node.keywords)


def _is_module(node):
    return isinstance(node, ast.Name) and node.id in ("np", "math")


def _of_attribute(node):
    """A twin of a function of NumPy, or what is before the dot: ``W`` for ``W.T``."""
    for twins in TWINS:
        if node.attr in twins:
            for other in sorted(twins - {node.attr}):
                yield ast.Attribute(node.value, other, node.ctx)
    if node.attr == "T":
        yield node.value
