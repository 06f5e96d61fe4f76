r"""Equations whose numbers are fixed by their tags: (22.3) here is (22.3) everywhere."""

import re

from docutils import nodes
from sphinx.util import logging

TAG = re.compile(r"\s*\\tag\{([^{}]*)\}")

logger = logging.getLogger(__name__)


def setup(app):
    """Read the tags of each page when Sphinx has parsed it."""
    app.connect("doctree-read", _read_tags)


def _read_tags(app, doctree):
    r"""Turn each ``\tag{22.3}`` into the number that the equation and its references show."""
    for node in doctree.findall(nodes.math_block):
        latex, label = node.astext(), node.get("label")
        numbers = TAG.findall(latex)
        if len(numbers) != (1 if label else 0):
            logger.warning(
                "a numbered equation has one label and one \\tag: got the label %r and the tags %r",
                label,
                numbers,
                location=node,
            )
        elif label:
            node.children = [nodes.Text(TAG.sub("", latex))]
            _give_number(app.env, node, label, numbers[0])


def _give_number(env, node, label, number):
    """Write a number where Sphinx keeps its own: on the node, and in the list of equations."""
    equations = env.get_domain("math").equations
    for other, (page, taken) in equations.items():
        if other != label and taken == number:
            logger.warning("(%s) is %s on %s already", number, other, page, location=node)
    node["number"] = number
    equations[label] = (env.docname, number)
