"""Code that the reader runs on the page: ``{run}`` makes an editor with buttons of a block.

An exercise of a sheet, with its stub, with what the sheet's first cell imports, and with a button
that checks it as the sheet does::

    ```{run} rmsnorm/rmsnorm_forward
    ```

What its answer takes from an earlier exercise is given, with
``:given: transformer_block.swiglu.sigmoid``.

Or a few lines of one's own to try; the name is that under which the browser keeps the work::

    ```{run} rmsnorm/two-scales
    print(rmsnorm_forward(np.array([3.0, 4.0]), np.ones(2))[0])
    ```

Without a script, and on paper, it is a block of code. The scripts are written in ``book/runner``
and put together by esbuild; Python itself is Pyodide, in a worker that starts at the first click.
All cells of a page share one Python. Only pages with such a cell load the scripts.
"""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from bookext.bundling import bundle

SCRIPTS = "book/runner"
TARGET = "_build/vendor/runner"
STUDENT_SIDE = ("transformer_block/*.py", "transformer_block/data/*.csv", "grader/__init__.py",
                "grader/ready.py", "grader/checks/**/*.py")  # fmt: skip
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes at every build


def setup(app):
    """Add the directive, and put the scripts together before Sphinx looks at its static paths."""
    app.add_node(run_cell, html=(_open, _close))
    app.add_directive("run", Run)
    app.connect("config-inited", _make_scripts)
    app.connect("html-page-context", _load_on_pages_that_run)


class run_cell(nodes.General, nodes.Element):
    """A block of code that becomes an editor."""


class Run(SphinxDirective):
    """A cell that the reader can change and run."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"given": directives.unchanged_required}

    def run(self):
        """Write the block; an exercise takes its stub from the sheet."""
        name = self.arguments[0]
        sheet, exercise = name.split("/")
        code = "\n".join(self.content) or self._cell(sheet, exercise)
        setup = "" if self.content else self._setup(sheet)
        block = nodes.literal_block(code, code, language="python")
        block["classes"].append("run-block")
        check = "" if self.content else exercise
        facts = {"name": name, "check": check, "setup": setup, "version": _version(code)}
        return [run_cell("", block, **facts)]

    def _setup(self, sheet):
        """Return the first cell of a sheet, and the import of what is given."""
        first = self._cell(sheet, f"{sheet}-setup-1")
        module, _, function = self.options.get("given", "").rpartition(".")
        return f"{first}\nfrom {module} import {function}" if module else first

    def _cell(self, sheet, name):
        """Return the cell of a sheet that has this name."""
        path = Path(self.env.app.confdir, "notebooks", f"{sheet}.ipynb")
        self.env.note_dependency(str(path))
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["id"] == name:
                return "".join(cell["source"])
        raise self.error(f"{path.name} has no cell {name}")


def _version(code):
    """Shorten a text to what tells it from an older one."""
    return hashlib.sha256(code.encode()).hexdigest()[:8]


def _open(translator, node):
    facts = {f"data-{key}": node[key] for key in ("name", "check", "version")}
    facts["data-setup"] = json.dumps(node["setup"])  # docutils would put its lines into one
    translator.body.append(translator.starttag(node, "div", CLASS="run", **facts))


def _close(translator, _node):
    translator.body.append("</div>\n")


def _load_on_pages_that_run(app, _page, _template, _context, doctree):
    """Leave the scripts out of every other page."""
    if doctree is not None and next(doctree.findall(run_cell), None):
        app.add_css_file("run.css")
        app.add_js_file("runner/run.js", type="module")


def _make_scripts(app, _config):
    root = Path(app.confdir)
    target = root / TARGET
    target.mkdir(parents=True, exist_ok=True)
    scripts = [f"{SCRIPTS}/{name}" for name in ("run.js", "worker.js")]
    bundle(root, scripts, target, target / "LICENSES.txt")
    _pack_course(root, target / "course.zip")


def _pack_course(root, target):
    """Zip what a learner's code may import."""
    files = sorted({file for pattern in STUDENT_SIDE for file in root.glob(pattern)})
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files:
            name = zipfile.ZipInfo(file.relative_to(root).as_posix(), EPOCH)
            packed.writestr(name, file.read_bytes(), zipfile.ZIP_DEFLATED)
