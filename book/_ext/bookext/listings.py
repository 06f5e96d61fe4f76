"""Listings that show a tested function with the first line of its docstring only."""

import ast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.directives.code import LiteralInclude


def setup(app):
    """Replace Sphinx's directive by ours, which has one option more."""
    app.add_directive("literalinclude", Listing, override=True)


def summarize_docstring(source):
    """Keep the first line of the docstring of the function or class in ``source``.

    Parameters
    ----------
    source : str
        One definition, not indented, whose docstring begins on the line of its quotes.

    Returns
    -------
    shortened : str
        The same lines without the rest of the docstring.
    """
    definition = ast.parse(source).body[0]
    if ast.get_docstring(definition) is None:
        return source
    docstring = definition.body[0]
    lines = source.splitlines(keepends=True)
    first, last = docstring.lineno - 1, docstring.end_lineno - 1
    if first < last:
        quotes = lines[last].rstrip()[-3:]
        lines[first : last + 1] = [f"{lines[first].rstrip()}{quotes}\n"]
    return "".join(lines)


class Listing(LiteralInclude):
    """Sphinx's ``literalinclude`` with ``:docstring: summary`` (use it with ``:pyobject:``)."""

    option_spec = LiteralInclude.option_spec | {
        "docstring": lambda argument: directives.choice(argument, ["summary"]),
    }

    def run(self):
        """Include the file as Sphinx does, then shorten the docstring if that was asked for."""
        included = super().run()
        if "docstring" in self.options:
            for parent in included:
                for block in parent.findall(nodes.literal_block):
                    block.rawsource = summarize_docstring(block.astext())
                    block.children = [nodes.Text(block.rawsource)]
        return included
