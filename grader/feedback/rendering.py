"""What learners wrote, as HTML that only shows something: nothing in it runs, loads or leads.

Markdown is rendered by markdown-it and sanitised by nh3; formulas are put in after that, because
they are made here. Code is coloured by Pygments, which escapes it. Everything else is text.
"""

import base64
import binascii
import html
import re
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from grader.feedback.formulas import formula
from grader.pages import clean

LONGEST = 50_000  # characters of one cell or output
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
MOST_RICH = 400_000  # characters of one page that are coloured or typeset: a sheet has 25,000
LARGEST_PICTURE = 4 << 20  # base64 characters
# A formula's place while the HTML around it is sanitised: characters that no text may bring along.
OPEN, CLOSE = "\ue000", "\ue001"
PLACE = re.compile(f"{OPEN}(\\d+){CLOSE}")
TAGS = frozenset(
    "a b blockquote br code dd del details div dl dt em h3 h4 h5 h6 hr i img kbd li ol p pre"
    " s span strong sub summary sup table tbody td th thead tr ul".split()
)
LEXER = PythonLexer(stripnl=False, ensurenl=False)
COLOURS = HtmlFormatter(nowrap=True)


def text(source):
    """Return a learner's text as it may stand in a page, cut where it is endless."""
    shown = clean(source)
    return shown if len(shown) <= LONGEST else shown[:LONGEST] + "\n… and so on"


class Room:
    """How much of one page is coloured and typeset: text can be made to take a second a cell."""

    def __init__(self, size=MOST_RICH):
        self.left = size

    def code(self, source):
        """Return Python code, in colours while there is room."""
        return code(source) if self._take(source) else Markup(html.escape(text(source)))

    def markdown(self, source):
        """Return Markdown, as HTML while there is room, else as it was written."""
        if self._take(source):
            return markdown(source)
        return Markup(f"<pre>{html.escape(text(source))}</pre>")

    def _take(self, source):
        self.left -= min(len(source), LONGEST)
        return self.left >= 0 and len(source) <= LONGEST


@lru_cache(maxsize=4096)
def code(source):
    """Return Python code in colours."""
    return Markup(highlight(text(source), LEXER, COLOURS))


@lru_cache(maxsize=4096)
def markdown(source):
    """Return Markdown as HTML without anything that runs, loads or looks like another page."""
    formulas = []
    source = text(source).replace(OPEN, "").replace(CLOSE, "")
    safe = nh3.clean(
        _render(source, formulas),
        tags=set(TAGS),
        attributes={"a": {"href", "title"}, "img": {"src", "alt"}, "details": {"open"}},
        attribute_filter=_filter,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(PLACE.sub(lambda place: formulas[int(place[1])], safe))


def _render(source, formulas):
    """Render Markdown, its headings below those of the page."""
    parser, env = _parser(), {"formulas": formulas}
    tokens = parser.parse(source, env)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return parser.renderer.render(tokens, parser.options, env)


@lru_cache(maxsize=1)
def _parser():
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, double_inline=True)
    for kind in ("math_inline", "math_inline_double", "math_block", "math_block_label"):
        parser.add_render_rule(kind, _keep_place)
    return parser


def _keep_place(renderer, tokens, index, options, env):
    """Put a formula aside, and a mark in its place."""
    token = tokens[index]
    env["formulas"].append(formula(token.content, token.type != "math_inline"))
    return f"{OPEN}{len(env['formulas']) - 1}{CLOSE}"


def _filter(tag, name, value):
    """Let a picture be in the page, and not come from another site."""
    if name == "src":
        return value if picture_of_url(value) else None
    if name == "href" and value.lower().startswith("data:"):
        return None
    return PLACE.sub("", value)


def picture_of_url(url):
    """Return a ``data:`` address if it holds a picture that is one, else nothing."""
    head, _, data = url.partition(";base64,")
    return picture(head.removeprefix("data:"), data)


def picture(kind, data):
    """Return a PNG or JPEG as an address for the page; nothing if it is none."""
    data = re.sub(r"\s", "", data) if isinstance(data, str) else ""
    if kind not in PICTURES or len(data) > LARGEST_PICTURE:
        return ""
    try:
        start = base64.b64decode(data, validate=True)[:8]
    except binascii.Error:
        return ""
    return f"data:{kind};base64,{data}" if start.startswith(PICTURES[kind]) else ""


def outputs(cell):
    """Return what a cell printed and drew: pairs of ``"text"`` or ``"picture"`` and its content."""
    shown = []
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        output = output if isinstance(output, dict) else {}
        data = output.get("data")
        data = data if isinstance(data, dict) else {}
        found = (picture(kind, joined(data.get(kind))) for kind in PICTURES)
        address = next(filter(None, found), "")
        if address:
            shown.append(("picture", address))
        elif output.get("output_type") == "error":
            told = f"{joined(output.get('ename'))}: {joined(output.get('evalue'))}"
            shown.append(("text", text(told)))
        else:
            printed = joined(output.get("text")) or joined(data.get("text/plain"))
            shown += [("text", text(printed))] if printed.strip() else []
    return shown


def joined(value):
    """Return a text of a notebook, which may be a list of its lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
