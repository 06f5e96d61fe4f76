"""Directives that write MyST text and let the page's own parser read it."""

from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class Written(SphinxDirective):
    """A directive whose `text` is read as if it stood on the page."""

    def run(self):
        """Parse the text, with its own name as the place that warnings tell."""
        holder = nodes.container()
        lines = StringList(self.text().splitlines(), source=self.name)
        self.state.nested_parse(lines, 0, holder)
        return holder.children

    def depend_on(self, *parts):
        """Return a file of the repository; the page is read again when it changes."""
        path = Path(self.env.app.confdir, *parts)
        self.env.note_dependency(str(path))
        return path
