"""Whose file is it? The names that Canvas, Moodle and people give to what was handed in."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

CANVAS = re.compile(
    r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<submission>\d+)_(?P<rest>.+)"
)
# Moodle also makes a folder of the same student for what was typed on its page.
MOODLE = re.compile(
    r"(?P<name>.+)_(?P<user>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)"
)
# What the course's JupyterLite adds to a sheet's name, what browsers and Jupyter add to one that is
# taken, and what Canvas adds.
COPY = re.compile(
    r"(?P<stem>.*?)(?:-v[0-9a-f]{6})?(?: ?\((?P<browser>\d+)\)|-Copy(?P<jupyter>\d*))?", re.S
)
AGAIN = re.compile(r"(?P<stem>.*?)(?:-(?P<canvas>\d+))?", re.S)


@dataclass(frozen=True)
class Owner:
    """Whose file it is, as far as its name tells.

    Parameters
    ----------
    name : str
        The student, as the download writes it.
    system : str
        ``"canvas"``, ``"moodle"``, or empty.
    user : str
        The system's number for the student; empty if there is none.
    submission : int
        The system's number for the submission; a later one is greater.
    late : bool
        Whether the system says that it came late.
    """

    name: str
    system: str = ""
    user: str = ""
    submission: int = 0
    late: bool = False


def plain_stem(name):
    """Take ending and copy marks off a name: ``"rmsnorm"`` of ``"rmsnorm (1).ipynb"``."""
    return COPY.fullmatch(PurePosixPath(name).stem)["stem"].strip()


def is_called(name, assignment):
    """Tell whether a file has a sheet's name, case, copy marks and Canvas's number aside."""
    stem = AGAIN.fullmatch(plain_stem(name))["stem"]
    return assignment.lower() in (stem.lower(), plain_stem(name).lower())


def attempt(entry):
    """Return which copy of a file its name says that it is: 2 for ``rmsnorm-2.ipynb``."""
    stem = PurePosixPath(local_name(entry)).stem
    copy, again = COPY.fullmatch(stem), AGAIN.fullmatch(stem)
    marks = (copy["browser"], copy["jupyter"], again["canvas"])
    return next((int(mark or 1) for mark in marks if mark is not None), 0)


def owners(entries, assignment):
    """Find whose each entry is.

    Parameters
    ----------
    entries : list of Entry
        Of one download: what they have in common tells which folders are students'.
    assignment : str
        The sheet: a folder or a part of a name that says this names nobody.

    Returns
    -------
    owners : list of Owner or None
        For each entry; ``None`` where nothing names a student.
    """
    folders = [_people_folders(entry, assignment) for entry in entries]
    shared = _shared([names for names in folders if names])
    return [
        _from_system(entry) or _from_folders(inside, shared) or _from_name(entry, assignment)
        for entry, inside in zip(entries, folders, strict=True)
    ]


def _shared(paths):
    """Count the outer folders that all paths have in common."""
    levels = [set(level) for level in zip(*paths, strict=False)]
    return next((n for n, names in enumerate(levels) if len(names) > 1), len(levels))


def local_name(entry):
    """Return the name that the learner's file had before the system put others in front."""
    found = CANVAS.fullmatch(entry.name) or MOODLE.fullmatch(entry.name)
    return found["rest"] if found else entry.name


def _people_folders(entry, assignment):
    """Return the folders above an entry that may name a student; a zip counts as one."""
    names = [f[:-4] if f.lower().endswith(".zip") else f for f in entry.folders]
    return tuple(name for name in names if name.lower() != assignment.lower())


def _from_system(entry):
    """Read what Canvas or Moodle wrote into the names of a file and its folders."""
    for name in (*entry.folders, entry.name):
        for system, pattern in (("moodle", MOODLE), ("canvas", CANVAS)):
            found = pattern.fullmatch(name)
            if found:
                facts = found.groupdict()
                return Owner(
                    facts["name"].strip(),
                    system,
                    facts["user"],
                    int(facts.get("submission") or 0),
                    bool(facts.get("late")),
                )
    return None


def _from_folders(folders, shared):
    """Take the first folder in which downloads differ, or the innermost of a single one."""
    if not folders:
        return None
    return Owner(folders[shared] if shared < len(folders) else folders[-1])


def _from_name(entry, assignment):
    """Read ``ana_rmsnorm.ipynb``, ``rmsnorm-ana.ipynb`` or ``ana.ipynb``."""
    stem = plain_stem(entry.name)
    sheet = re.escape(assignment)
    bare = re.sub(rf"^{sheet}[ _-]+|[ _-]+{sheet}$|^{sheet}$", "", stem, flags=re.I)
    return Owner(bare) if bare else None
