"""The sources of the book: numbers, labels, listings and the table of contents agree."""

import ast
import re
from collections import Counter

from equations import numbered_equations, numbers_in_first_lines, numbers_in_text
from pages import ROOT, page_names

LISTING = re.compile(
    r"^`{3,}\{literalinclude\} *(?P<path>\S+)\n(?P<options>(?::.*\n)*)`{3,}$", re.M
)
OPTION = re.compile(r"^:([\w-]+): *(.*)$", re.M)
CAPTION = re.compile(r"(Listing 22\.\d+(, continued)?|[a-z0-9_]+\.py) · ")
LISTING_LINK = re.compile(r"\[Listing (?P<number>[\d.]+)\]\([^)]*#(?P<name>listing-[\w-]+)\)")

# Modules of a concept whose page has another name: the label is the page's.
PAGE_OF = {"embedding": "stack", "decoder": "stack", "traces": "stack"}

SOURCES = sorted((ROOT / "book").glob("*.md"))


def listings():
    """Yield (page, included file, options) for every listing of the book."""
    for page in SOURCES:
        for found in LISTING.finditer(page.read_text(encoding="utf-8")):
            options = {name: value.strip("\"'") for name, value in OPTION.findall(found["options"])}
            yield page, (page.parent / found["path"]).resolve(), options


def test_the_contents_name_every_page_once_and_no_other():
    named = [f"{name}.md" for name in page_names()]
    assert sorted(named) == [page.relative_to(ROOT).as_posix() for page in SOURCES]


def test_every_equation_number_and_every_label_stands_once():
    numbered = numbered_equations()
    assert numbered, "the book has numbered equations"
    for position in (0, 1):
        counts = Counter(equation[position] for equation in numbered)
        assert [key for key, count in counts.items() if count > 1] == []


def test_a_class_is_a_name_and_no_text():
    """What is joined to the line ``:class: tip`` is not shown to any reader."""
    options = [option for page in SOURCES for option in OPTION.findall(page.read_text("utf-8"))]
    assert {value for name, value in options if name == "class"} <= {"derivation", "note", "tip"}


def test_a_label_begins_with_the_name_of_its_page():
    wrong = [
        (number, label, page)
        for number, label, page in numbered_equations()
        if not f"{label}-".startswith(f"eq-{page.replace('_', '-')}-")
    ]
    assert wrong == []


def test_every_equation_number_in_text_is_an_equation_of_the_book():
    known = {number for number, _, _ in numbered_equations()}
    assert [(number, file) for number, file in numbers_in_text() if number not in known] == []


def test_a_function_names_the_equation_whose_label_is_its_own():
    """``rmsnorm_backward`` says (22.3); so (22.3) is ``eq-rmsnorm-backward`` or ``eq-rmsnorm``.

    The name of the module counts as well, or that of the page which the module belongs to; and
    the block may say (22.1): it is two such updates.
    """
    labels = {number: label for number, label, _ in numbered_equations()}
    cited = numbers_in_first_lines()
    assert cited, "the library names equations"
    assert [
        (number, function, labels.get(number))
        for number, module, function in cited
        if (number, module) != ("22.1", "block")
        and labels.get(number) != f"eq-{PAGE_OF.get(module, module).replace('_', '-')}"
        and not f"eq-{function.strip('_').replace('_', '-')}-".startswith(f"{labels.get(number)}-")
    ] == []


def test_every_listing_shows_a_definition_that_exists_and_has_number_and_name():
    found = list(listings())
    assert found, "the book has listings"
    for page, file, options in found:
        definitions = {
            node.name
            for node in ast.parse(file.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        assert options["pyobject"] in definitions, (page.name, options)
        assert CAPTION.match(options["caption"]), (page.name, options)
        assert options["name"] == f"listing-{options['pyobject'].replace('_', '-')}"


def test_a_link_to_a_listing_says_the_number_of_its_caption():
    captions = {options["name"]: options["caption"] for _, _, options in listings()}
    for page in SOURCES:
        for link in LISTING_LINK.finditer(page.read_text(encoding="utf-8")):
            assert captions[link["name"]].startswith(
                (f"Listing {link['number']} ", f"Listing {link['number']},")
            ), link[0]
