"""Late policy: exact at the second, on the clocks of the course, in both nights of change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from grader.errors import UsageError
from grader.late import Policy, days_late, instant_of, read_policy
from grader.records import GRADED, PASSED, CellRecord, Record

MADRID = ZoneInfo("Europe/Madrid")
FILE = """
timezone = "Europe/Madrid"
percent_per_day = 10
at_most = 25
grace_minutes = 5

[due]
rmsnorm = 2026-10-24T23:59:00
swiglu = 2026-11-01T12:00:00Z

[extensions.rmsnorm]
"zoë <b>" = 2026-10-26T23:59:00
"""


def late(submitted, due, grace=0):
    return days_late(instant_of(submitted), datetime.fromisoformat(due), MADRID, grace)


@pytest.mark.parametrize(
    ("submitted", "days"),
    [
        ("2026-03-10T12:00:00+01:00", 0),
        ("2026-03-10T12:00:00.000001+01:00", 1),
        ("2026-03-10T11:00:00Z", 0),  # the same instant, on other clocks
        ("2026-03-10T11:00:00", 0),  # without an offset: UTC
        ("2026-03-10T06:00:00-05:00", 0),
        ("2026-03-10T06:00:01-05:00", 1),
        ("2026-03-11T12:00:00+01:00", 1),
        ("2026-03-11T12:00:01+01:00", 2),
        ("2025-03-10T12:00:00+01:00", 0),
        ("2026-06-18T12:00:00+02:00", 100),
        ("2026-06-18T12:00:01+02:00", 101),
    ],
)
def test_a_day_begins_one_microsecond_after_the_last_ended(submitted, days):
    assert late(submitted, "2026-03-10T12:00:00") == days


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-10T12:00:00.5+01:00",
        "2026-03-10 11:00:00.500000 UTC",
        "2026-03-10 12:00:00.500000 Europe/Madrid",
        "2026-03-10 12:00:00.500000 +0100",
        "2026-03-10 11:00:00.500000",
    ],
)
def test_times_are_read_as_nbgrader_writes_them(text):
    assert instant_of(text) == datetime(2026, 3, 10, 11, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize("text", ["soon", "", "2026-03-10 12:00:00 noon"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises((ValueError, KeyError)):
        instant_of(text)


def test_a_day_has_25_hours_when_the_clocks_go_back():
    due = "2026-10-24T23:59:00"  # the clocks go back in the following night
    assert late("2026-10-25T23:59:00+01:00", due) == 1
    assert late("2026-10-25T23:59:01+01:00", due) == 2


def test_a_day_has_23_hours_when_the_clocks_go_forward():
    due = "2026-03-28T23:59:00"
    assert late("2026-03-29T23:59:00+02:00", due) == 1
    assert late("2026-03-29T23:59:01+02:00", due) == 2


def test_a_due_time_that_comes_twice_is_the_second_one():
    due = "2026-10-25T02:30:00"
    assert late("2026-10-25T02:30:00+01:00", due) == 0
    assert late("2026-10-25T02:30:01+01:00", due) == 1


def test_a_due_time_that_never_comes_is_an_hour_after_it():
    due = "2026-03-29T02:30:00"
    assert late("2026-03-29T03:30:00+02:00", due) == 0
    assert late("2026-03-29T03:30:01+02:00", due) == 1


def test_grace_is_taken_off_on_every_day():
    due = "2026-03-10T12:00:00"
    assert late("2026-03-10T12:05:00+01:00", due, grace=5) == 0
    assert late("2026-03-11T12:05:00+01:00", due, grace=5) == 1
    assert late("2026-03-11T12:05:01+01:00", due, grace=5) == 2


def test_days_agree_with_counting_them_one_by_one_through_two_years():
    due = datetime(2026, 1, 1, 2, 30)
    for hours in range(0, 2 * 365 * 24, 61):
        submitted = datetime(2026, 1, 1, 1, 30, tzinfo=UTC) + timedelta(hours=hours)
        clock = submitted.astimezone(MADRID)
        ends = [due + timedelta(days=n) for n in range(clock.timetuple().tm_yday + 370)]
        counted = sum(
            submitted > max(end.replace(tzinfo=MADRID, fold=f).astimezone(UTC) for f in (0, 1))
            for end in ends
        )
        if counted < len(ends):
            assert days_late(submitted, due, MADRID) == counted


def record(submitted, student="ana", assignment="rmsnorm"):
    cells = (CellRecord("f", "f", PASSED, 30.0, 30.0), CellRecord("g", "g", PASSED, 10.0, 10.0))
    return Record(student, assignment, GRADED, cells=cells, submitted=submitted)


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "late.toml").write_text(FILE, "utf-8")
    return read_policy(tmp_path)


@pytest.mark.parametrize(
    ("submitted", "points"),
    [
        (None, 0),  # nobody knows when
        ("2026-10-24T22:04:00Z", 0),
        ("2026-10-24T22:04:01Z", 4),
        ("2026-10-25T23:04:00Z", 4),
        ("2026-10-25T23:04:01Z", 8),
        ("2026-10-27T12:00:00Z", 10),  # a quarter of 40, not three days of 4
        ("2030-10-27T12:00:00Z", 10),
    ],
)
def test_a_penalty_is_percent_of_the_sheet_s_points_and_has_a_roof(policy, submitted, points):
    assert policy.penalty(record(submitted)) == points


def test_an_extension_is_one_student_s_and_one_sheet_s(policy):
    assert policy.penalty(record("2026-10-26T20:00:00Z", "zoë <b>")) == 0
    assert policy.penalty(record("2026-10-26T20:00:00Z", "bob")) == 8
    assert policy.penalty(record("2026-11-01T12:06:00Z", "zoë <b>", "swiglu")) == 4


def test_a_due_time_with_an_offset_is_that_instant(policy):
    assert policy.penalty(record("2026-11-01T12:05:00Z", assignment="swiglu")) == 0
    assert policy.due_for("swiglu", "ana") == datetime(2026, 11, 1, 13)


def test_a_sheet_that_is_never_due_is_never_late(policy):
    assert policy.penalty(record("2030-01-01T00:00:00Z", assignment="block")) == 0


def test_without_a_file_there_is_no_policy(tmp_path):
    assert read_policy(tmp_path) is None
    assert Policy(MADRID).penalty(record("2030-01-01T00:00:00Z")) == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Europe/Madrid", "Europe/Atlantis", "No time zone found with key Europe/Atlantis"),
        ("= 10", "= -10", "percent_per_day must be a number, zero or more: got -10"),
        ("= 10", '= "10 %"', "percent_per_day must be a number, zero or more: got '10 %'"),
        ("grace_minutes", "mercy", "got an unexpected keyword argument 'mercy'"),
        (
            "2026-10-24T23:59:00",
            "2026-10-24",
            "rmsnorm in [due] must be a time such as 2026-10-24T23:59:00: "
            "got datetime.date(2026, 10, 24)",
        ),
        ("[due]", "[due", "Expected ']' at the end of a table declaration (at line 7, column 5)"),
    ],
)
def test_what_cannot_be_meant_is_told_in_one_line(tmp_path, old, new, said):
    (tmp_path / "late.toml").write_text(FILE.replace(old, new), "utf-8")
    with pytest.raises(UsageError) as refused:
        read_policy(tmp_path)
    assert str(refused.value) == f"{tmp_path / 'late.toml'}: {said}"
