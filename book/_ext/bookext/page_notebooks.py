"""Each technical page as a notebook: its text and its code, for a reader who wants to try things.

Plain Jupyter knows Markdown and mathematics and none of the book's directives. What it cannot show
becomes plain text or code; quizzes, drawings and the cells that run on a page stay on the page.
The notebooks are made before Sphinx looks at its static paths, and a button at the top of the page
leads to its own. Pages with a ``{sheet}`` have one.
"""

import ast
import re
import textwrap
from pathlib import Path

import jupytext
import nbformat
from pybtex.database import parse_file

from bookext.listings import summarize_docstring

TARGET = "_build/vendor/pages"
FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w-]+)\}(?P<title>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$",
    re.M | re.S,
)
OPTION = re.compile(r"^:([\w-]+):[ ]*(.*)\n?", re.M)
LABELLED = re.compile(r"\\tag\{([^}]+)\}\s*\$\$ \((eq-[\w-]+)\)")
FOREWORD = """*This is the page “{title}” of The Transformer Block as a notebook. It runs where the
course is installed. Drawings, quizzes and the cells that are checked stand on the page itself.*"""


def setup(app):
    """Make the notebooks first, then offer each on its page."""
    app.connect("config-inited", _make_all)
    app.connect("html-page-context", _offer, priority=900)  # after the theme's own buttons


def page_notebook(page, equations, works):
    """Turn a page into a notebook.

    Parameters
    ----------
    page : Path
        The page, in MyST Markdown.
    equations : dict
        Label of an equation to its number.
    works : dict
        Key of a cited work to what is written for it.

    Returns
    -------
    notebook : NotebookNode
        Its cells have ids that depend on their place alone.
    """
    read = jupytext.read(page)
    title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.M)[1]
    cells = [nbformat.v4.new_markdown_cell(FOREWORD.format(title=title))]
    for cell in read.cells:
        if cell.cell_type == "code":
            cells.append(nbformat.v4.new_code_cell(cell.source))
        elif text := _inline(_plain(cell.source, page.parent), equations, works).strip():
            cells.append(nbformat.v4.new_markdown_cell(text))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})


def _plain(text, folder):
    """Write every directive of a text, from the outside in, as plain Markdown."""

    def write(found):
        body = OPTION.sub("", found["body"]) if found["body"].startswith(":") else found["body"]
        options = dict(OPTION.findall(found["body"]))
        write_as = WRITTEN_AS.get(found["name"], _left_out)
        return write_as(found["title"].strip(), options, _plain(body, folder).strip(), folder)

    return FENCE.sub(write, text)


def _box(title, _options, body, _folder):
    return textwrap.indent(f"**{title}**\n\n{body}", "> ", lambda _: True)


def _fold(title, _options, body, _folder):
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _listing(path, options, _body, folder):
    """Show a tested function, as the page does."""
    source = (folder / path).read_text("utf-8")
    wanted = options["pyobject"]
    (found,) = (n for n in ast.walk(ast.parse(source)) if getattr(n, "name", None) == wanted)
    code = ast.get_source_segment(source, found)
    if "docstring" in options:
        code = summarize_docstring(code)
    caption = options.get("caption", path).strip('"')
    return f"**{caption}**\n\n```python\n{code}\n```"


def _derivation(_title, _options, body, _folder):
    """Write each line with its reason; a table would take a bar in a formula for a border."""
    return re.sub(r"^\* - (.*(?:\n    .*)*)\n  - ", r"- \1  \n  ", body, flags=re.M)


def _left_out(_title, _options, _body, _folder):
    return ""


WRITTEN_AS = {
    "admonition": _box,
    "dropdown": _fold,
    "list-table": _derivation,
    "literalinclude": _listing,
}


def _inline(text, equations, works):
    """Write roles, labels and links into the book as plain text."""
    text = re.sub(r"\$\$ \(eq-[\w-]+\)", "$$", text)
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.M)
    text = re.sub(r"\{eq\}`([\w-]+)`", lambda found: f"({equations[found[1]]})", text)
    text = re.sub(r"\{cite:p\}`([^`]+)`", lambda found: _cited(found[1], works), text)
    text = re.sub(r"\{[\w:-]+\}`([^`<]*?)(?:\s*<[^>`]*>)?`", r"\1", text)
    return re.sub(r"\[([^\]]+)\]\((?:#|[\w/]+\.md)[^)]*\)", r"\1", text)


def _cited(keys, works):
    return f"({'; '.join(works[key.strip()] for key in keys.split(','))})"


def equation_numbers(pages):
    """Read the number of every labelled equation.

    Parameters
    ----------
    pages : iterable of Path
        All pages that a page may refer to.

    Returns
    -------
    numbers : dict
        Label to number, such as ``{"eq-rmsnorm": "22.2"}``.
    """
    found = (LABELLED.findall(page.read_text("utf-8")) for page in pages)
    return {label: number for labels in found for number, label in labels}


def cited_works(bibliography):
    """Write every work as names and a year.

    Parameters
    ----------
    bibliography : Path
        A BibTeX file.

    Returns
    -------
    works : dict
        Key to text, such as ``"Zhang & Sennrich 2019"``.
    """
    works = {}
    for key, entry in parse_file(bibliography).entries.items():
        names = [" ".join(person.last_names) for person in entry.persons["author"]]
        several = " & ".join(names) if len(names) < 3 else f"{names[0]} et al."
        works[key] = f"{several} {entry.fields['year']}"
    return works


def _make_all(app, _config):
    folder = Path(app.confdir, "book")
    target = Path(app.confdir, TARGET)
    target.mkdir(parents=True, exist_ok=True)
    pages = sorted(folder.glob("*.md"))
    equations, works = equation_numbers(pages), cited_works(folder / "references.bib")
    for page in pages:
        if "```{sheet}" in page.read_text("utf-8"):
            nbformat.write(page_notebook(page, equations, works), target / _name(page.stem))


def _name(page):
    """Name a page's notebook so that nobody takes it for the sheet."""
    return f"{page.split('/')[-1]}-page.ipynb"


def _offer(app, page, _template, context, _doctree):
    name = _name(page)
    if Path(app.confdir, TARGET, name).exists():
        button = {
            "type": "link",
            "url": context["pathto"](f"_static/pages/{name}", resource=True),
            "tooltip": "This page as a notebook",
            "icon": "fas fa-download",
            "label": "page-notebook-button",
        }
        context["header_buttons"].append(button)
