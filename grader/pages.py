"""Pages that may be opened by anybody: one file, no script, nothing from another site."""

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path

# Colours of a terminal; characters that no page may hold; those that turn what follows around.
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TEMPLATES = Path(__file__).parent / "templates"


def clean(text):
    """Take out of a text what cannot be seen and could do something."""
    return UNSEEN.sub("\ufffd", ANSI.sub("", text))


@lru_cache(maxsize=1)
def _environment():
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    style = (TEMPLATES / "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # Nothing may be loaded or run, and this one style is the only one that counts.
    environment.globals["policy"] = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    environment.globals["style"] = Markup(style)
    environment.filters["points"] = lambda points: "–" if points is None else f"{points:g}"
    return environment


def render(template, **facts):
    """Return a page as text; every fact is escaped unless it is marked as safe."""
    return _environment().get_template(template).render(**facts)
