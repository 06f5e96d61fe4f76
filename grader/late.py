"""Late submissions: a penalty is a function of when, when due, and the policy, and of nothing else.

It is computed again whenever it is needed, so that a new due date or an extension is enough.
"""

import re
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from grader.errors import UsageError

FILE = "late.toml"
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Policy:
    """When sheets are due in a course, and what being late costs.

    Parameters
    ----------
    timezone : ZoneInfo
        Where the course is: times without an offset are read on its clocks.
    percent_per_day : float
        Percent of the sheet's points that each day costs, from its first second on.
    at_most : float
        Percent that being late can cost altogether.
    grace_minutes : float
        What does not yet count as late.
    due : dict
        Due time by sheet.
    extensions : dict
        By sheet: the due time of a student who has another one.
    """

    timezone: ZoneInfo
    percent_per_day: float = 0.0
    at_most: float = 100.0
    grace_minutes: float = 0.0
    due: dict = field(default_factory=dict)
    extensions: dict = field(default_factory=dict)

    def due_for(self, assignment, student):
        """Return when a student's sheet is due, on the course's clocks; ``None`` if never."""
        extended = self.extensions.get(assignment, {}).get(student)
        due = extended or self.due.get(assignment)
        return due.astimezone(self.timezone).replace(tzinfo=None) if due and due.tzinfo else due

    def penalty(self, record):
        """Return the points that a record's submission loses by being late."""
        due = self.due_for(record.assignment, record.student)
        if due is None or record.submitted is None:
            return 0.0
        days = days_late(instant_of(record.submitted), due, self.timezone, self.grace_minutes)
        return record.max_points * min(days * self.percent_per_day, self.at_most) / 100


def read_time(text):
    """Read an ISO 8601 time, or one as nbgrader writes it, with a zone's name behind it."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        time, _, zone = text.rpartition(" ")
        if re.fullmatch(r"[+-]\d{4}", zone):
            return datetime.fromisoformat(time + zone)
        return datetime.fromisoformat(time).replace(tzinfo=ZoneInfo(zone))


def instant_of(text):
    """Read a time as an instant; one without an offset is UTC, as in nbgrader's gradebook."""
    time = read_time(text)
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def last_instant(local, timezone):
    """Return the instant at which clocks show a local time; the later one if there are two.

    When the clocks go back, a time comes twice; when they go forward, one never comes, and the
    instant is that after as long a time as if they had not. Both are in the learner's favour.
    """
    return max(local.replace(tzinfo=timezone, fold=fold).astimezone(UTC) for fold in (0, 1))


def days_late(submitted, due, timezone, grace_minutes=0.0):
    """Count the days that have begun between the due time and the submission.

    A day ends when the course's clocks show the due time again, be it after 23, 24 or 25 hours.

    Parameters
    ----------
    submitted : datetime
        When it was handed in, with its offset.
    due : datetime
        When it was due, on the clocks of ``timezone``, without an offset.
    timezone : ZoneInfo
        Where those clocks are.
    grace_minutes : float
        Time taken off the submission's.

    Returns
    -------
    days : int
        0 if it was in time.
    """
    counted = submitted.astimezone(UTC) - timedelta(minutes=grace_minutes)
    days = max(0, (counted - last_instant(due, timezone)) // ONE_DAY)
    while days and counted <= last_instant(due + (days - 1) * ONE_DAY, timezone):
        days -= 1
    while counted > last_instant(due + days * ONE_DAY, timezone):
        days += 1
    return days


def read_policy(folder):
    """Read a course folder's ``late.toml``; ``None`` if it has none.

    Raises
    ------
    UsageError
        If the file cannot be understood.
    """
    path = Path(folder, FILE)
    if not path.exists():
        return None
    try:
        facts = tomllib.loads(path.read_text("utf-8"))
        return _policy(**facts)
    except (ValueError, TypeError, KeyError) as trouble:  # ZoneInfo raises KeyErrors
        reason = str(trouble.args[0]).replace("_policy() ", "")
        raise UsageError(f"{path}: {reason}") from trouble


def _policy(*, timezone, percent_per_day, at_most=100, grace_minutes=0, due=None, extensions=None):
    """Make a policy of what the file says, and refuse what cannot be meant."""
    numbers = {"percent_per_day": percent_per_day, "at_most": at_most}
    for name, number in {**numbers, "grace_minutes": grace_minutes}.items():
        if type(number) not in (int, float) or number < 0:
            raise ValueError(f"{name} must be a number, zero or more: got {number!r}")
    due, extensions = due or {}, extensions or {}
    for table, times in {
        "due": due,
        **{f"extensions.{k}": v for k, v in extensions.items()},
    }.items():
        for name, time in times.items():
            if not isinstance(time, datetime):
                raise ValueError(
                    f"{name} in [{table}] must be a time such as 2026-10-24T23:59:00: got {time!r}"
                )
    return Policy(ZoneInfo(timezone), percent_per_day, at_most, grace_minutes, due, extensions)
