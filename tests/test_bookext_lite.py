"""What JupyterLite is made of: names of sheets, and a lock that every import can be found in."""

import hashlib
import json
import re
import shutil
import zipfile

import pytest
from bookext import lite, lite_packages, sheets
from bookext.pyodide import packages_needed

ROOT = lite.ROOT
KERNEL = lite.KERNEL / "static/pypi"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write the lock and the wheels; give their folder and the lock's packages."""
    folder = tmp_path_factory.mktemp("pyodide")
    shutil.copy(ROOT / "node_modules/pyodide/pyodide-lock.json", folder)
    lock = lite_packages.write_lock(folder, folder / "lite", ROOT, KERNEL)
    return folder, json.loads(lock.read_text("utf-8"))


def test_a_sheet_s_name_says_its_version_and_nothing_but_its_content_does(tmp_path):
    sheet = tmp_path / "rmsnorm.ipynb"
    sheet.write_text("one")
    first = sheets.name_in_browser(sheet)
    assert re.fullmatch(r"rmsnorm-v[0-9a-f]{6}\.ipynb", first)
    sheet.write_text("two")
    assert sheets.name_in_browser(sheet) != first
    sheet.write_text("one")
    assert sheets.name_in_browser(sheet) == first


def test_the_lock_knows_whatever_its_packages_need(made):
    _, lock = made
    settings = json.loads((lite.SETTINGS / "jupyter-lite.json").read_text("utf-8"))
    (kernel,) = settings["jupyter-config-data"]["litePluginSettings"].values()
    wanted = {*kernel["loadPyodideOptions"]["packages"], *lock["packages"]}
    assert packages_needed(lock, wanted)  # a name that is missing would be a KeyError
    modules = {module for package in lock["packages"].values() for module in package["imports"]}
    assert {"transformer_block", "grader", "numpy", "matplotlib", "anywidget"} <= modules


def test_every_wheel_of_ours_is_the_one_that_the_lock_names_and_has_a_licence(made):
    folder, lock = made
    ours = [p for p in lock["packages"].values() if p["file_name"].startswith("lite/")]
    assert {folder / p["file_name"] for p in ours} == set(folder.glob("lite/*"))
    for package in ours:
        wheel = folder / package["file_name"]
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == package["sha256"]
        names = zipfile.ZipFile(wheel).namelist()
        assert not [name for name in names if name.endswith((".pyc", ".so"))]
        if package["name"] not in ("ipykernel", "widgetsnbextension"):  # empty stand-ins
            assert [name for name in names if "licen" in name.lower()], package["name"]


def test_the_course_s_wheel_holds_what_a_sheet_imports_and_no_marking(made):
    folder, lock = made
    wheel = folder / lock["packages"][lite_packages.COURSE]["file_name"]
    names = zipfile.ZipFile(wheel).namelist()
    assert "transformer_block/widgets/rmsnorm_scope.js" in names
    assert "grader/checks/rmsnorm/__init__.py" in names
    assert not [name for name in names if name.startswith(("grader/engine", "grader/verbs"))]


def test_the_same_files_make_the_same_wheel_and_others_another(tmp_path):
    first, second, other = (tmp_path / name for name in "123")
    for folder in (first, second, other):
        folder.mkdir()
    a = lite_packages._pack("comm", {"comm.py": b"1", "a.py": b""}, first)
    b = lite_packages._pack("comm", {"a.py": b"", "comm.py": b"1"}, second)
    c = lite_packages._pack("comm", {"comm.py": b"2", "a.py": b""}, other)
    assert a.name == b.name and a.read_bytes() == b.read_bytes()
    assert c.name != a.name
