"""What lies in the sandbox: the far side's own files, a stand-in for `grader`, a cut library."""

import shutil
from pathlib import Path

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
    engine = folder / "grader" / "engine"
    engine.mkdir(parents=True)
    (folder / "grader" / "__init__.py").write_text(_STAND_IN, "utf-8")
    shutil.copy(HERE.parent / "ready.py", folder / "grader")
    (engine / "__init__.py").touch()
    shutil.copytree(HERE / "far", engine / "far", ignore=shutil.ignore_patterns("__pycache__"))
    asked = set().union(*(master.asked for master in masters))
    handed_out = set().union(*(master.handed_out for master in masters))
    write_library(folder / "transformer_block", asked, handed_out)
    (folder / "grader" / "handed_out.py").write_text(_imports(handed_out), "utf-8")
    (folder / "cache").mkdir()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _imports(handed_out):
    """Write what imports the library's modules that hold what is handed out."""
    modules = sorted({dotted.rpartition(".")[0] for dotted in handed_out})
    return "".join(f"import {module}\n" for module in modules)
