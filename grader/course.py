"""Course folders: what nbgrader needs to hand out, collect and mark the sheets.

nbgrader takes seconds to import, so it is imported where it is needed: a wrong path or name is
told at once.
"""

import contextlib
import logging
import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.errors import UsageError

CONFIG = "nbgrader_config.py"
FOLDERS = ("source", "release", "submitted", "autograded", "feedback")
PATTERN_CHARACTERS = frozenset("[]*?")  # nbgrader takes paths that have them for patterns
SILENT = logging.Logger("nbgrader", logging.CRITICAL + 1)
_SETTINGS = '''\
"""Settings of this course: every nbgrader command that runs in this folder reads them."""

from pathlib import Path

c = get_config()

# The folder may be moved or renamed: everything is found from where this file is.
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "transformer_block"

# There is no exchange. Learners get release/SHEET/SHEET.ipynb from the course's page or from
# you; what they hand in goes to submitted/STUDENT/SHEET/SHEET.ipynb.

# Seconds for one cell. A loop without end costs its cell, not the class.
c.Execute.timeout = 30

# Seconds to wait for the output of a cell that has ended; a busy computer can take a while.
c.Execute.iopub_timeout = 20

# nbgrader tells every step otherwise; trouble is still told.
c.Application.log_level = "WARN"
'''


@dataclass(frozen=True)
class Course:
    """A course folder as nbgrader sees it.

    Parameters
    ----------
    folder : Path
        Its absolute path.
    """

    folder: Path

    @classmethod
    def open(cls, folder):
        """Open a course folder; ``UsageError`` if there is none."""
        course = cls(Path(folder).resolve())
        if not (course.folder / CONFIG).is_file():
            raise UsageError(
                f"{folder} is no course folder: make one with: python -m grader course {folder}"
            )
        return course

    @cached_property
    def config(self):
        """The settings in the folder's nbgrader_config.py."""
        from traitlets.config import PyFileConfigLoader

        try:
            return PyFileConfigLoader(CONFIG, str(self.folder)).load_config()
        except Exception as trouble:  # the file is the instructor's own Python
            raise UsageError(f"{self.folder / CONFIG}: {trouble}") from trouble

    @property
    def assignments(self):
        """Names of the sheets that the course holds."""
        return sorted({path.parent.name for path in self.folder.glob("source/*/*.ipynb")})

    def masters(self, assignment):
        """Return the paths of an assignment's solved notebooks, sorted."""
        return sorted((self.folder / "source" / assignment).glob("*.ipynb"))

    def require_assignment(self, name):
        """Raise ``UsageError`` unless the course has a sheet of this name."""
        if name not in self.assignments:
            known = ", ".join(self.assignments) or "none yet"
            raise UsageError(f"no sheet {name!r} in {self.folder}: it has {known}")

    def notebook(self, step, student, assignment):
        """Return where a student's notebook is at one of nbgrader's steps."""
        return self.folder / step / student / assignment / f"{assignment}.ipynb"

    def directory(self, assignment="", student="*"):
        """Return nbgrader's own view of the folder for one assignment and student."""
        from nbgrader.coursedir import CourseDirectory

        return CourseDirectory(
            config=self.config,
            root=str(self.folder),
            assignment_id=assignment,
            student_id=student,
        )

    def gradebook(self, db=None):
        """Open the gradebook, or the one at another URL; it is made if it is not there."""
        from nbgrader.api import Gradebook

        directory = self.directory()
        with _alembic_on_path():
            return Gradebook(db or directory.db_url, directory.course_id)

    def release(self, assignment, solved):
        """Put a solved notebook into source/, and let nbgrader make the release from it."""
        from nbgrader.converters import GenerateAssignment

        from grader.authoring import to_bytes

        source = self.folder / "source" / assignment / f"{assignment}.ipynb"
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(to_bytes(solved))
        with _alembic_on_path():
            GenerateAssignment(
                coursedir=self.directory(assignment), config=self.config, force=True, log=SILENT
            ).start()


def make_course(folder, root):
    """Make a course folder with every sheet of a repository.

    Parameters
    ----------
    folder : Path
        Where; it must not exist yet, or be empty.
    root : Path
        The repository.

    Returns
    -------
    names : list of str
        The sheets, which are nbgrader's assignments.

    Raises
    ------
    UsageError
        If the folder holds something already, or its path has a character that nbgrader
        takes for a pattern.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        again = " or bring it up to date with --update" if (folder / CONFIG).exists() else ""
        raise UsageError(f"{folder} is not an empty folder: name a new one{again}")
    if PATTERN_CHARACTERS & set(str(folder.resolve())):
        bad = " ".join(sorted(PATTERN_CHARACTERS))
        raise UsageError(f"{folder.resolve()}: nbgrader cannot work in a path with any of {bad}")
    masters = _masters(root)
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(_SETTINGS, "utf-8")
    return _release_all(Course.open(folder), masters)


def update_course(folder, root):
    """Bring the sheets of a course folder up to date; submissions and marks are not touched.

    Parameters
    ----------
    folder : Path
        A course folder made by `make_course`.
    root : Path
        The repository with the newer sheets.

    Returns
    -------
    names : list of str
        The sheets.

    Raises
    ------
    UsageError
        If the folder is none of ours, or a sheet with marks in the gradebook has got or
        lost cells: nbgrader cannot carry marks over then.
    """
    course = Course.open(folder)
    masters = _masters(root)
    with course.gradebook() as gradebook:
        for name, solved in masters.items():
            _refuse_other_cells(gradebook, name, solved)
    return _release_all(course, masters)


def _masters(root):
    """Build all solved notebooks before the first file of a course is written."""
    from grader.authoring import master, sheets

    return {sheet.stem: master(sheet) for sheet in sheets(root)}


def _release_all(course, masters):
    """Release every sheet, and return their names."""
    for name, solved in masters.items():
        course.release(name, solved)
    return list(masters)


def _refuse_other_cells(gradebook, name, solved):
    """Raise ``UsageError`` if a sheet with marks has other cells than in the gradebook."""
    from nbgrader.api import MissingEntry

    try:
        known = gradebook.find_notebook(name, name)
    except MissingEntry:
        return
    before = {cell.name for cell in known.source_cells}
    now = {cell.metadata.nbgrader.grade_id for cell in solved.cells if "nbgrader" in cell.metadata}
    if known.submissions and before != now:
        raise UsageError(
            f"{name} has marks in the gradebook and other cells now "
            f"({', '.join(sorted(before ^ now))}): make a new course folder for it"
        )


@contextlib.contextmanager
def _alembic_on_path():
    """Let nbgrader find alembic, which it runs by name, when the environment is not active."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
