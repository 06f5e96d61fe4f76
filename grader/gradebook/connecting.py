"""One transaction with the gradebook's database, which other programs use as well."""

import contextlib

import sqlalchemy
from sqlalchemy.exc import DBAPIError

from grader.errors import UserError

PATIENCE = 30  # seconds to wait for another program that is writing


@contextlib.contextmanager
def transaction(course, db=None, patience=PATIENCE):
    """Open the gradebook for one transaction: all of it is kept, or nothing.

    Parameters
    ----------
    course : Course
        The course folder; its gradebook is made if it is not there.
    db : str, optional
        URL of another database than the one that the course's settings name.
    patience : float
        Seconds to wait while another program is writing.

    Yields
    ------
    connection : sqlalchemy.Connection
        It is the only one that writes until it ends.

    Raises
    ------
    UserError
        If the database cannot be reached or stays locked.
    """
    url = sqlalchemy.make_url(db or course.directory().db_url)
    engine = _engine(url, patience)
    try:
        if not sqlalchemy.inspect(engine).has_table("alembic_version"):
            course.gradebook(db).close()
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                _wait_for_turn(connection, patience)
            yield connection
    except DBAPIError as trouble:
        raise _in_words(trouble, url, patience) from trouble
    finally:
        engine.dispose()


def _engine(url, patience):
    """Return an engine whose transactions lock a SQLite file from their first statement on."""
    if url.get_backend_name() != "sqlite":
        return sqlalchemy.create_engine(url)
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": patience})
    sqlalchemy.event.listen(engine, "connect", _leave_transactions_to_us)
    sqlalchemy.event.listen(engine, "begin", _begin_immediate)
    return engine


def _leave_transactions_to_us(driver_connection, record):
    driver_connection.isolation_level = None


def _begin_immediate(connection):
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _wait_for_turn(connection, patience):
    """Let one transaction of ours after the other write; who only reads need not wait."""
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(patience * 1000)}")
    connection.exec_driver_sql("LOCK TABLE submitted_assignment IN SHARE ROW EXCLUSIVE MODE")


def _in_words(trouble, url, patience):
    """Tell a database's error in one line; a password in the URL is not repeated."""
    where = url.database if url.get_backend_name() == "sqlite" else url.render_as_string()
    reason = (str(trouble.orig).strip().splitlines() or [type(trouble.orig).__name__])[0]
    if "database is locked" in reason or "lock timeout" in reason:
        reason = f"another program has been writing to it for {patience:g} s"
        return UserError(f"{where}: {reason}; close it and run the same command again")
    return UserError(f"{where}: {reason}")
