"""What a sheet asks for under a name of the library is the library's: signature and docstring."""

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import transformer_block
from grader.sheet import read_sheet

SHEETS = sorted((Path(__file__).resolve().parent.parent / "solutions").glob("*.md"))


def library():
    """Map each public function of the library to its own text, without its body."""
    found = {}
    for module in pkgutil.iter_modules(transformer_block.__path__):
        if not module.ispkg and not module.name.startswith("_"):
            file = import_module(f"transformer_block.{module.name}").__file__
            found |= heads_in(Path(file).read_text("utf-8"))
    return found


def heads_in(source):
    """Return signature and docstring of each function of a source text."""
    return {
        node.name: (ast.unparse(node.args), inspect.cleandoc(ast.get_docstring(node) or ""))
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


def written_answers():
    for sheet in SHEETS:
        for cell in read_sheet(sheet):
            if (
                cell.role == "answer"
                and cell.source
                and cell.name in (own := heads_in(cell.source))
            ):
                yield pytest.param(cell.name, own[cell.name], id=f"{sheet.stem}-{cell.name}")


@pytest.mark.parametrize(("name", "head"), [*written_answers()])
def test_an_answer_written_in_a_sheet_has_the_library_s_signature_and_docstring(name, head):
    assert head == library().get(name, head)
