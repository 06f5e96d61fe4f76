"""The files of a download, a zip or a folder: what is safe to take, and what is refused by name."""

import io
import math
import os
import stat
import unicodedata
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

LARGEST = 64 << 20  # bytes of one file
MOST_UNPACKED = 256 << 20  # bytes of all files of a zip that one learner handed in
MOST_FILES = 50_000
READ = (".ipynb", ".zip")  # of other files the name is enough
SWELLS = f"its zip unpacks to more than {MOST_UNPACKED >> 20} MiB"
CLUTTER = {"__macosx", "desktop.ini", "thumbs.db"}  # and every name that begins with a dot


@dataclass(frozen=True)
class Entry:
    """One file that somebody handed in.

    Parameters
    ----------
    path : str
        Where it was in the download, with ``/``; a zip in a zip counts as a folder.
    data : bytes
        What it holds.
    when : datetime or None
        The time that the file carries, on unknown clocks: good for an order and for no more.
    """

    path: str
    data: bytes
    when: datetime | None = None

    @property
    def folders(self):
        """Names of the folders above it, from the outside in."""
        return PurePosixPath(self.path).parts[:-1]

    @property
    def name(self):
        """Name of the file itself."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Refused:
    """A file that was not taken, and why."""

    path: str
    reason: str


def entries_of(source):
    """Return the entries of a download and what was refused.

    Parameters
    ----------
    source : Path
        A folder, a zip, or one notebook.

    Returns
    -------
    entries : list of Entry
        In the order of their paths.
    refused : list of Refused
        What could lead out of the course folder or cannot be read.
    """
    if source.is_dir():
        found = list(_of_folder(source))
    elif source.suffix.lower() == ".zip":
        found = list(_of_zip(source.read_bytes(), source.name, ""))
    else:
        found = [Entry(source.name, source.read_bytes(), _changed(source))]
    opened = [inner for outer in found for inner in _opened(outer)]
    entries = [entry for entry in opened if isinstance(entry, Entry)]
    refused = [entry for entry in opened if isinstance(entry, Refused)]
    return sorted(entries, key=lambda entry: entry.path), refused


def is_clutter(path):
    """Tell whether an operating system left this file, and no learner."""
    parts = PurePosixPath(path).parts
    hidden = any(part.startswith(".") and part != ".." for part in parts)
    return hidden or any(part.lower() in CLUTTER for part in parts)


def _of_folder(folder):
    """Yield the files of a folder; a link is not followed."""
    for parent, folders, files in os.walk(folder):
        for name in sorted(folders + files):
            path = Path(parent, name)
            shown = path.relative_to(folder).as_posix()
            if is_clutter(shown):
                continue
            if path.is_symlink():
                yield Refused(shown, f"it is a link, to {path.readlink()}")
            elif path.is_file():
                yield _read_file(path, unicodedata.normalize("NFC", shown))


def _read_file(path, shown):
    """Return a file as an entry; a film beside a notebook need not fit into memory."""
    if not shown.lower().endswith(READ):
        return Entry(shown, b"", _changed(path))
    return Entry(shown, path.read_bytes(), _changed(path))


def _changed(path):
    return datetime.fromtimestamp(path.stat().st_mtime)


def _opened(entry):
    """Yield an entry, or what a zip that a learner handed in holds; one level and no deeper."""
    if isinstance(entry, Entry) and entry.name.lower().endswith(".zip"):
        yield from _of_zip(entry.data, entry.path, entry.path + "/")
    else:
        yield entry


def _of_zip(data, shown, prefix):
    """Yield the files of a zip."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MOST_FILES:
                yield Refused(shown, f"it has {len(members)} files, and {MOST_FILES} is the most")
                return
            room = MOST_UNPACKED if prefix else math.inf
            for member in members:
                name = _name_of(member)
                room -= member.file_size
                reason = _why_unsafe(name, member) or ("" if room >= 0 else SWELLS)
                if reason:
                    yield Refused(prefix + name, reason)
                elif not member.is_dir() and not is_clutter(name):
                    yield _read(archive, member, prefix + name)
    except zipfile.BadZipFile:
        yield Refused(shown, "it is no readable zip")


def _name_of(member):
    """Return a member's name; old programs do not say that they write UTF-8."""
    name = member.orig_filename
    if not member.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return unicodedata.normalize("NFC", name)


def _why_unsafe(name, member):
    """Say why a member of a zip is not taken; nothing if it can be."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "it is a link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is no ordinary file"
    if name.startswith("/") or name[1:2] == ":":
        return "its path is absolute"
    if "\\" in name or "\0" in name:
        return "its path has a backslash" if "\\" in name else "its path has a NUL"
    if ".." in name.split("/"):
        return "its path leads out of the folder"
    if member.flag_bits & 1:
        return "it is encrypted"
    if member.file_size > LARGEST:
        return f"it has {member.file_size >> 20} MiB, and {LARGEST >> 20} is the most"
    return ""


def _read(archive, member, path):
    """Return a member as an entry, and no more bytes of it than it promised."""
    data = b""
    try:
        if path.lower().endswith(READ):
            with archive.open(member) as file:
                data = file.read(LARGEST + 1)
        when = datetime(*member.date_time)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as trouble:
        return Refused(path, f"it cannot be unpacked: {trouble}")
    except ValueError:  # a date that is none
        when = None
    if len(data) > LARGEST:
        return Refused(path, f"it has more than {LARGEST >> 20} MiB")
    return Entry(path, data, when)
