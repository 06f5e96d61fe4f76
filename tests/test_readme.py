"""README and CONTRIBUTING: what they name exists, so that following them works."""

import re
import subprocess
import sys

import pytest
from pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci/run").read_text(encoding="utf-8")
PAGES = "".join(file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("book/*.md")))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

RULE = re.compile(r"^([\w./-]+):(?!=)", re.M)
MAKE = re.compile(
    r"`(?:[A-Z]+=\S+ )?make ([a-z-]+)|^\$ make ([a-z-]+)|make --silent ([a-z-]+)", re.M
)
GRADER = re.compile(r"-m grader ([a-z]+)")
SCRIPT = re.compile(r"`python (\S+\.py)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def named(pattern, *texts):
    """List what a pattern finds in the texts, each thing once."""
    found = [match for text in texts for match in pattern.finditer(text)]
    assert found, pattern.pattern
    return sorted({next(filter(None, match.groups())) for match in found})


def test_the_readme_is_read_in_one_sitting():
    assert len(README.splitlines()) < 80


@pytest.mark.parametrize("verb", named(MAKE, README, CONTRIBUTING, CI, PAGES))
def test_every_make_verb_that_is_named_exists(verb):
    assert verb in RULE.findall(MAKEFILE)


@pytest.mark.parametrize("verb", named(GRADER, README, MAKEFILE))
def test_every_grader_verb_that_is_named_exists(verb):
    command = [sys.executable, "-m", "grader", verb, "--help"]
    assert subprocess.run(command, capture_output=True, cwd=ROOT).returncode == 0


@pytest.mark.parametrize("script", named(SCRIPT, CONTRIBUTING))
def test_every_script_that_is_named_exists(script):
    assert (ROOT / script).is_file()


@pytest.mark.parametrize("link", named(LINK, README, CONTRIBUTING))
def test_every_file_that_is_linked_exists(link):
    assert (ROOT / link).exists()


def test_the_map_names_every_folder_and_no_other():
    named_folders = set(re.findall(r"^\| `([\w/]+)/` \|", README, re.M))
    assert all((ROOT / folder).is_dir() for folder in named_folders)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout.splitlines()
    kept = {path.partition("/")[0] for path in listed if "/" in path}
    assert {folder.partition("/")[0] for folder in named_folders} == {
        folder for folder in kept if not folder.startswith(".")
    }


def test_no_make_verb_has_more_than_three_lines():
    for rule in re.split(r"\n(?=[\w./-]+:(?!=))", MAKEFILE):
        recipe = [line for line in rule.splitlines() if line.startswith("\t")]
        assert len(recipe) <= 3, rule


def test_help_says_what_each_verb_does():
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.M)[1].split()
    told = subprocess.run(
        ["make", "--no-print-directory", "help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert [line.split()[1] for line in told.stdout.splitlines()] == phony
