"""Which of a learner's files is the sheet: its cells tell, whatever the file is called."""

from pathlib import Path

from grader.collecting.entries import is_clutter
from grader.collecting.naming import is_called
from grader.engine.reading import bytes_of, parse
from grader.names import shown, why_no_student
from grader.records import Note

ENDING = ".ipynb"


def answer_ids(data):
    """Return the grade ids of a notebook's answers and graded cells; none if it is unreadable."""
    try:
        cells = parse(data)["cells"]
        marked = [cell["metadata"].get("nbgrader") or {} for cell in cells]
        return {
            meta["grade_id"]
            for meta in marked
            if meta.get("solution") or meta.get("grade") or meta.get("task")
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()


def student_folders(submitted):
    """Return the students who have a folder in ``submitted/``, and why other folders are nobody's.

    Parameters
    ----------
    submitted : Path
        Of the course; it need not exist.

    Returns
    -------
    students : set of str
        Names of folders.
    refused : dict
        Name of a folder to what is wrong with it.
    """
    folders = [path.name for path in submitted.glob("[!.]*") if path.is_dir()]
    refused = {name: reason for name in folders if (reason := why_no_student(name))}
    return set(folders) - refused.keys(), refused


def is_notebook(name):
    """Tell a notebook by its ending, upper case or lower."""
    return name.lower().endswith(ENDING)


def find_submission(folder, name, ids):
    """Find a learner's notebook in the folder of a submission.

    Parameters
    ----------
    folder : Path
        ``submitted/STUDENT/SHEET``; it need not exist.
    name : str
        What the notebook should be called, with its ending.
    ids : set of str
        Grade ids of the master, as from `answer_ids`.

    Returns
    -------
    path : Path or None
        The notebook, a regular file in the folder itself.
    notes : list of Note
        A link that was refused, another name that was accepted, or what is there instead.
    """
    for above in (folder.parent, folder):
        if above.is_symlink():
            return None, [_refused(above)]
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [path for path in found if not is_clutter(path.name)]
    notes = [_refused(path) for path in found if path.is_symlink()]
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    path, note = _choose(files, name, ids)
    if path is None and note is None:
        note = _other_things(name, [path for path in found if not path.is_symlink()])
    return path, notes + ([note] if note else [])


def _choose(files, name, ids):
    """Take the file of the right name, or else the only one with the right cells."""
    by_name = {path.name: path for path in files}
    if name in by_name:
        return by_name[name], None
    stem = Path(name).stem
    notebooks = [path for path in files if is_notebook(path.name)]
    fitting = [path for path in notebooks if answer_ids(bytes_of(path)) & ids]
    fitting = fitting or [path for path in notebooks if is_called(path.name, stem)]
    if len(fitting) == 1:
        taken = shown(fitting[0].name)
        return fitting[0], Note("renamed file", None, f"{taken} was taken for {name}")
    names = [path.name for path in fitting or files]
    if not names:
        return None, None
    listed = ", ".join(map(shown, names))
    reason = f"more than one could be {name}: {listed}" if fitting else f"no {name} among {listed}"
    return None, Note("no notebook", None, reason)


def _other_things(name, found):
    """Name what is no file and lies where the notebook should: a folder that holds it, say."""
    if not found:
        return None
    listed = ", ".join(shown(path.name) + "/" * path.is_dir() for path in found)
    return Note("no notebook", None, f"no {name} among {listed}: only files here are looked at")


def _refused(path):
    return Note("refused link", None, f"{shown(path.name)} is a link, and links are not followed")
