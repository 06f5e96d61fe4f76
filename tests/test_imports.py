"""A folder is a dependency boundary: this test reads the imports and keeps it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = {  # most specific first; what a room may import beside the standard library
    "transformer_block/widgets": {"numpy", "transformer_block", "anywidget", "ipywidgets"}
    | {"traitlets"},  # which both of them are made of
    "transformer_block": {"numpy", "transformer_block"},
    "grader/checks": {"numpy", "transformer_block", "grader.checks"},
}
# only inside the function that needs them:
LATE = {"transformer_block": {"gguf", "tokenizers", "threadpoolctl"}}


def room_of(path):
    name = path.relative_to(ROOT).as_posix()
    return next((room for room in ROOMS if name.startswith(room + "/")), None)


def nodes(tree, functions=True):
    """Yield every node of a syntax tree, with or without the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        if functions or not isinstance(node, ast.FunctionDef):
            yield node
            yield from nodes(node, functions)


def imports(path, functions=True):
    """Yield what a file imports, at once and, with ``functions``, when one is called."""
    for node in nodes(ast.parse(path.read_text("utf-8")), functions):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            yield node.module


def allowed(module, room):
    if module.split(".")[0] in sys.stdlib_module_names:
        return True
    names = ROOMS[room] | LATE.get(room, set())
    return any(module == name or module.startswith(name + ".") for name in names)


FILES = [path for top in ("transformer_block", "grader") for path in (ROOT / top).rglob("*.py")]


@pytest.mark.parametrize(
    "path", [p for p in FILES if room_of(p)], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_a_room_imports_only_what_it_may(path):
    room = room_of(path)
    strangers = {module for module in imports(path) if not allowed(module, room)}
    assert not strangers, f"{room} may not import {', '.join(sorted(strangers))}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_what_only_some_functions_need_is_imported_inside_them(path):
    at_once = {module.split(".")[0] for module in imports(path, functions=False)}
    assert not at_once & LATE.get(room_of(path), set())


@pytest.mark.parametrize("heavy", ["nbformat", "nbgrader", "jupytext", "matplotlib", "IPython"])
def test_a_learner_s_import_of_check_stays_light(heavy):
    code = f"import sys; from grader import check; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("room", ["book", "solutions", "notebooks"])
def test_nothing_imports_what_people_read(room):
    assert not any(module.split(".")[0] == room for path in FILES for module in imports(path))
