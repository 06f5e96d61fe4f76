"""Where equation numbers stand: with their labels on the pages, and in the text around the code."""

import ast
import re

from pages import ROOT

NUMBER = re.compile(r"\((22\.\d+)\)")
DOLLARS = re.compile(r"^\$\$\n(?P<latex>.*?)\n\$\$ *(?:\((?P<label>[\w-]+)\))?$", re.S | re.M)
DIRECTIVE = re.compile(r"^`{3,}\{math\}\n(?P<body>.*?)^`{3,}$", re.S | re.M)
OPTION = re.compile(r"^:label: *([\w-]+)$", re.M)
TAG = re.compile(r"\\tag\{([^{}]*)\}")


def numbered_equations():
    """List (number, label, page) of every numbered equation, as the pages' sources have them."""
    return [
        (number, label, page.stem)
        for page in sorted((ROOT / "book").glob("*.md"))
        for latex, label in _displayed(page.read_text(encoding="utf-8"))
        for number in TAG.findall(latex)
    ]


def _displayed(text):
    for found in DOLLARS.finditer(text):
        yield found["latex"], found["label"]
    for found in DIRECTIVE.finditer(text):
        label = OPTION.search(found["body"])
        yield found["body"], label and label[1]


def numbers_in_first_lines():
    """List (number, module, function) for each number in the first line of a docstring."""
    return [
        (number, file.stem, node.name)
        for file in sorted((ROOT / "transformer_block").glob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        for number in NUMBER.findall((ast.get_docstring(node) or "").partition("\n")[0])
    ]


def numbers_in_text():
    """List (number, file) of every equation number in pages, sheets, library and checks."""
    files = [
        *ROOT.glob("book/*.md"),
        *ROOT.glob("solutions/*.md"),
        *ROOT.glob("transformer_block/**/*.py"),
        *ROOT.glob("grader/**/*.py"),
    ]
    return [
        (number, file.relative_to(ROOT).as_posix())
        for file in sorted(files)
        for number in NUMBER.findall(file.read_text(encoding="utf-8"))
    ]
