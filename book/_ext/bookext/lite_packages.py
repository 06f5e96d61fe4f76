"""Python's packages for JupyterLite: a lock like Pyodide's, which knows ours and the kernel's too.

Then ``import`` finds everything, and no notebook begins with a cell that installs. What is pure
Python is packed from what is installed, so that the browser has the versions of
``requirements.txt``; NumPy, Matplotlib and IPython are Pyodide's own.
"""

import hashlib
import json
import shutil
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from bookext.pyodide import PACKAGES, packages_needed
from bookext.run import EPOCH

# Distribution to what it needs in the browser. JupyterLite's kernel brings its own ipykernel.
INSTALLED = {
    "anywidget": ["ipywidgets", "psygnal", "typing-extensions"],
    "comm": ["traitlets"],
    "ipywidgets": ["comm", "ipython", "traitlets", "widgetsnbextension"],
    "psygnal": [],
    "typing-extensions": [],
}
KERNEL = {
    "ipykernel": [],
    "piplite": ["micropip"],
    "pyodide-kernel": ["comm", "ipykernel", "ipython"],
    "widgetsnbextension": [],
}
COURSE = "transformer-block-course"
COURSE_NEEDS = ["anywidget", "ipywidgets", "numpy"]
COURSE_FILES = ("transformer_block/**/*", "grader/__init__.py", "grader/ready.py",
                "grader/checks/**/*.py", "LICENSE")  # fmt: skip
COMPILED = (".pyc", ".so", ".pyd", ".map")


def write_lock(folder, target, root, kernel):
    """Put our wheels and the kernel's into a folder, and a lock of all that the browser needs.

    Parameters
    ----------
    folder : Path
        The book's copy of Pyodide, with ``pyodide-lock.json``.
    target : Path
        Where the wheels go; emptied before.
    root : Path
        The folder that holds ``transformer_block`` and ``grader``.
    kernel : Path
        JupyterLite's folder of the wheels that its kernel needs.

    Returns
    -------
    lock : Path
        ``lite-lock.json`` beside Pyodide's own.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    wanted = packages_needed(lock, PACKAGES)
    official = {n: p for n, p in lock["packages"].items() if p["file_name"] in wanted}
    ours = {
        entry["name"]: entry | {"file_name": f"{target.name}/{entry['file_name']}"}
        for entry in _wheels(target, root, kernel)
    }
    lock["packages"] = dict(sorted((official | ours).items()))
    path = folder / "lite-lock.json"
    path.write_text(json.dumps(lock, sort_keys=True), "utf-8")
    return path


def _wheels(target, root, kernel):
    """Make each wheel that is not Pyodide's, and yield its entry of the lock."""
    for name, needs in INSTALLED.items():
        yield _entry(name, _pack(name, installed_files(name), target), needs)
    for name, needs in KERNEL.items():
        (wheel,) = sorted(kernel.glob(f"{name.replace('-', '_')}-*.whl"))[-1:]
        yield _entry(name, Path(shutil.copy(wheel, target)), needs)
    course = _pack(COURSE, course_files(root), target)
    yield _entry(COURSE, course, COURSE_NEEDS) | {"imports": ["grader", "transformer_block"]}


def installed_files(name):
    """Read the pure part of an installed distribution.

    Parameters
    ----------
    name : str
        The distribution.

    Returns
    -------
    files : dict
        Path inside a wheel to bytes; a compiled module has its Python source beside it.
    """
    return {
        file.as_posix(): Path(file.locate()).read_bytes()
        for file in distribution(name).files
        if ".." not in file.parts and file.suffix not in COMPILED and file.name != "RECORD"
    }


def course_files(root):
    """Read our own packages: the library, and of the grader what a sheet imports.

    Parameters
    ----------
    root : Path
        The folder that holds them.

    Returns
    -------
    files : dict
        Path inside a wheel to bytes.
    """
    info = f"transformer_block_course-{distribution(COURSE).version}.dist-info"
    found = {file for pattern in COURSE_FILES for file in root.glob(pattern) if file.is_file()}
    files = {
        file.relative_to(root).as_posix(): file.read_bytes()
        for file in sorted(found)
        if file.suffix not in COMPILED
    }
    files[f"{info}/licenses/LICENSE"] = files.pop("LICENSE")
    metadata = f"Metadata-Version: 2.1\nName: {COURSE}\nVersion: {distribution(COURSE).version}\n"
    wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return files | {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode()}


def _pack(name, files, target):
    """Zip a wheel whose bytes, and whose build number, depend on its files alone."""
    packed = target / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path, EPOCH), data, zipfile.ZIP_DEFLATED)
    build = int(hashlib.sha256(packed.read_bytes()).hexdigest()[:12], 16)
    parts = (name.replace("-", "_"), distribution(name).version, str(build), "py3-none-any.whl")
    return packed.rename(target / "-".join(parts))  # a changed wheel has a new address


def _entry(name, wheel, needs):
    """Describe a wheel as Pyodide's lock does."""
    return {
        "depends": needs,
        "file_name": wheel.name,
        "imports": [name.replace("-", "_")],
        "install_dir": "site",
        "name": name,
        "package_type": "package",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "unvendored_tests": False,
        "version": wheel.name.split("-")[1],
    }
