"""A PostgreSQL server for the length of the tests, in a folder of its own."""

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg


@dataclass(frozen=True)
class Server:
    """A running server that listens on a socket in its folder, and on no network."""

    folder: Path
    names: itertools.count

    def new_database(self, like="template1"):
        """Make a database, empty or like another one, and return its URL for SQLAlchemy."""
        name = f"marks_{next(self.names)}"
        where = f"host={self.folder} user=postgres"
        with psycopg.connect(f"{where} dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {like}")
        return f"postgresql+psycopg://postgres@/{name}?host={self.folder}"


@contextlib.contextmanager
def running_postgres():
    """Start a server and end it again; as root it runs as the user ``postgres``.

    Its folder is none of pytest's: those are closed to other users whenever another pytest starts.
    """
    with tempfile.TemporaryDirectory(prefix="postgres-") as place:
        yield from _running_in(Path(place))


def _running_in(folder):
    programs = _programs()
    data = folder / "data"
    data.mkdir()
    as_user = []
    if os.getuid() == 0:  # the server refuses to run as root
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        shutil.chown(data, "postgres")
        shutil.chown(folder, "postgres")

    def run(program, *words):
        subprocess.run(
            [*as_user, programs / program, *words], check=True, stdout=subprocess.DEVNULL, cwd=data
        )

    run(
        "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "-A",
        "trust",
        "-N",
    )
    settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "-D", data, "-w", "-l", data / "log", "-o", settings, "start")
    try:
        yield Server(folder, itertools.count())
    finally:
        run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def _programs():
    """Return the folder of PostgreSQL's programs, which Debian keeps off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        raise FileNotFoundError("PostgreSQL is missing: install it with: apt install postgresql")
    return Path(found[-1] if found else on_path).parent
