"""What lies in the sandbox: the far side's own files, a stand-in for `grader`, a cut library."""

import shutil
import tempfile
from pathlib import Path

from grader.engine.far.server import HANDED_OUT
from grader.engine.withheld import write_library

HERE = Path(__file__).parent
_STAND_IN = '''\
"""Stands for the grader in a sandbox: a notebook's own checks pass by, the graded ones count."""

from grader.ready import ready

__all__ = ["check", "ready"]


def check(answer, claim=None, **more):
    """Check nothing: the cells that give points are run elsewhere."""
'''


def set_stage(folder, masters):
    """Fill a folder with what the sandbox shows as ``/sandbox``.

    Parameters
    ----------
    folder : Path
        An empty folder, or one to be made.
    masters : iterable of Master
        Their answers are withheld from the library.
    """
    set_engine(folder)
    set_library(folder, masters)


def set_engine(folder):
    """Lay down what a warm server starts with; it loads the library as soon as that is there."""
    engine = folder / "grader" / "engine"
    engine.mkdir(parents=True)
    (folder / "grader" / "__init__.py").write_text(_STAND_IN, "utf-8")
    shutil.copy(HERE.parent / "ready.py", folder / "grader")
    (engine / "__init__.py").touch()
    shutil.copytree(HERE / "far", engine / "far", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "cache").mkdir()
    _open_to_all(folder)


def set_library(folder, masters):
    """Lay down what is handed out of the library; its list comes last, and says that all is there.

    Parameters
    ----------
    folder : Path
        From `set_engine`.
    masters : iterable of Master
        As for `set_stage`.
    """
    asked = set().union(*(master.asked for master in masters))
    handed_out = set().union(*(master.handed_out for master in masters))
    library = folder / "transformer_block"
    write_library(library, asked, handed_out)
    _open_to_all(library)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as listed:
        listed.write(_imports(handed_out))
    _open_to_all(Path(listed.name))
    Path(listed.name).rename(folder / HANDED_OUT)


def _open_to_all(path):
    """Let everybody read what is here, whoever the sandbox runs as."""
    for one in (path, *path.rglob("*")):
        one.chmod(0o755 if one.is_dir() else 0o644)


def _imports(handed_out):
    """Write what imports the library's modules that hold what is handed out."""
    modules = sorted({dotted.rpartition(".")[0] for dotted in handed_out})
    return "".join(f"import {module}\n" for module in modules)
