"""A sheet in the browser: its name there, and the links that lead to it.

JupyterLite keeps a learner's work under the name of the notebook, and that copy hides the course's
own for ever. So a sheet has its version in its name there: a changed sheet is a new file, and the
old one stays beside it with all that was written. On a page::

    ```{sheet} rmsnorm
    ```

makes two buttons, one that opens the sheet in the browser and one that downloads it, and
``{in-browser}`rmsnorm``` is a link in a line of text.
"""

import hashlib
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.util.docutils import SphinxDirective, SphinxRole

LAB = "lite/lab/index.html"


def setup(app):
    """Add the directive and the role."""
    app.add_directive("sheet", Sheet)
    app.add_role("in-browser", InBrowser())


def name_in_browser(notebook):
    """Name a sheet's copy in the browser after what it holds.

    Parameters
    ----------
    notebook : Path
        The sheet, such as ``notebooks/rmsnorm.ipynb``.

    Returns
    -------
    name : str
        Such as ``rmsnorm-v3f2a1c.ipynb``.
    """
    version = hashlib.sha256(notebook.read_bytes()).hexdigest()[:6]
    return f"{notebook.stem}-v{version}.ipynb"


def _link(env, sheet, text, **attributes):
    """Write the link as HTML: Sphinx knows nothing of what stands at its end."""
    notebook = Path(env.app.confdir, "notebooks", f"{sheet}.ipynb")
    env.note_dependency(str(notebook))
    up = "../" * env.docname.count("/")
    attributes["href"] = f"{up}{LAB}?path={name_in_browser(notebook)}"
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return nodes.raw("", f"<a{written}>{escape(text)}</a>", format="html")


class InBrowser(SphinxRole):
    """A link that opens a sheet in the browser."""

    def run(self):
        """Write the link; its full name tells it from its neighbours in a table."""
        label = f"in the browser: {self.text}"
        return [_link(self.env, self.text, "in the browser", **{"aria-label": label})], []


class Sheet(SphinxDirective):
    """Two buttons: work a sheet in the browser, or download it."""

    required_arguments = 1

    def run(self):
        """Write both."""
        name = self.arguments[0]
        browser = _link(self.env, name, "Work it in the browser", **{"class": "sheet-browser"})
        download = download_reference(reftarget=f"/notebooks/{name}.ipynb", refdoc=self.env.docname)
        download += nodes.Text(f"Download {name}.ipynb")
        space = nodes.Text(" ")
        return [nodes.paragraph("", "", browser, space, download, classes=["sheet-buttons"])]
