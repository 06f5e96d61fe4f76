"""The pages of the book, as its table of contents names them."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def page_names():
    """List the pages in reading order, as paths without a suffix: ``book/rmsnorm``."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [contents["root"], *_files_below(contents)]


def _files_below(entry):
    for key in ("parts", "chapters", "sections"):
        for child in entry.get(key, []):
            if "file" in child:
                yield child["file"]
            yield from _files_below(child)
