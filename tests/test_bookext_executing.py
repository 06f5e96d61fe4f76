"""Pages are executed side by side, and what fails is left to be met again."""

import pytest
from bookext.executing import execute_missing
from jupyter_cache import get_cache
from nbformat.v4 import new_code_cell, new_notebook

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
MEET = """\
from pathlib import Path
from time import monotonic, sleep
Path("{mine}").touch()
end = monotonic() + 60
while not Path("{other}").exists():
    assert monotonic() < end, "the other one does not run beside this one"
    sleep(0.05)
print("met")
"""


def notebook(source):
    return new_notebook(cells=[new_code_cell(source)], metadata=KERNEL)


@pytest.fixture
def cache(tmp_path):
    return get_cache(tmp_path / "cache")


def test_two_pages_run_at_the_same_time_and_are_in_the_cache_then(cache, tmp_path):
    pages = {
        tmp_path / "a.md": notebook(MEET.format(mine="a", other="b")),
        tmp_path / "b.md": notebook(MEET.format(mine="b", other="a")),
    }
    assert execute_missing(pages, cache, timeout=60, workers=2) == list(pages)
    for source in ("ab", "ba"):
        again = notebook(MEET.format(mine=source[0], other=source[1]))
        _, merged = cache.merge_match_into_notebook(again)
        assert merged.cells[0].outputs[0].text == "met\n"
    assert execute_missing(pages, cache, timeout=60) == []


def test_a_page_that_fails_is_not_in_the_cache(cache, tmp_path):
    assert execute_missing({tmp_path / "a.md": notebook("1 / 0")}, cache, timeout=60) == []
    with pytest.raises(KeyError):
        cache.match_cache_notebook(notebook("1 / 0"))
