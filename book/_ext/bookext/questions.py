"""Every question that a page answers in a fold gets an address, and one page lists them all."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class question_list(nodes.General, nodes.Element):
    """Stands where the list of questions will be."""


def setup(app):
    """Collect the questions of each page when it is read, and list them when it is written."""
    app.add_directive("questions", Questions)
    app.add_node(question_list)
    app.connect("doctree-read", _collect)
    app.connect("env-purge-doc", _forget)
    app.connect("env-updated", lambda app, env: sorted(_kept(env)["lists"]))
    app.connect("doctree-resolved", _fill)


class Questions(SphinxDirective):
    """List the questions of all pages, in the order of the book."""

    def run(self):
        """Leave a place for the list: the other pages may not have been read yet."""
        _kept(self.env)["lists"].add(self.env.docname)
        return [question_list()]


def _kept(env):
    """Return what is kept between builds: questions by page, and the pages with a list."""
    if not hasattr(env, "book_questions"):
        env.book_questions = {"asked": {}, "lists": set()}
    return env.book_questions


def _forget(app, env, page):
    _kept(env)["asked"].pop(page, None)
    _kept(env)["lists"].discard(page)


def _collect(app, doctree):
    """Give each fold whose title asks something an id, and note it down."""
    asked = []
    for fold in doctree.findall(nodes.container):
        title = fold.children[0] if fold.get("design_component") == "dropdown" else None
        if isinstance(title, nodes.rubric) and title.astext().endswith("?"):
            title["ids"] = title["ids"] or [f"question-{nodes.make_id(title.astext())}"]
            asked.append((title.children, title["ids"][0]))
    _kept(app.env)["asked"][app.env.docname] = asked


def _fill(app, doctree, page):
    """Put the lists in, one for each page that has questions."""
    for place in list(doctree.findall(question_list)):
        place.replace_self(
            [
                part
                for other in app.env.collect_relations()  # in the order of the contents
                for part in _questions_of(app, page, other)
            ]
        )


def _questions_of(app, page, other):
    """Return the name of a page as a heading, and its questions as links."""
    asked = _kept(app.env)["asked"].get(other)
    if not asked:
        return []
    items = nodes.bullet_list()
    for title, fragment in asked:
        link = nodes.reference("", "", *(part.deepcopy() for part in title), internal=True)
        link["refuri"] = f"{app.builder.get_relative_uri(page, other)}#{fragment}"
        items += nodes.list_item("", nodes.paragraph("", "", link))
    heading = app.env.titles[other].deepcopy()
    return [nodes.rubric("", "", *heading.children), items]
