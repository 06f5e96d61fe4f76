"""Records: what is written is what is read, and never half of it."""

import json

import pytest

from grader.records import (
    FAILED,
    GRADED,
    NOT_SUBMITTED,
    PASSED,
    WAITING,
    WRONG,
    AnswerRecord,
    CellRecord,
    Note,
    Record,
    read_record,
    read_records,
    record_path,
    write_record,
)

ANA = Record(
    "zoë <b>",
    "rmsnorm",
    GRADED,
    "no points: f-value",
    cells=(
        CellRecord("f-value", "the value", PASSED, 8.0, 8.0, seconds=0.25),
        CellRecord("f-eps", "ε", WRONG, 0.0, 5.0, "Where is ε?", ("eps outside",), "a1", 0.5),
        CellRecord("in_words", "in words", WAITING, None, 6.0, notebook="second"),
    ),
    notes=(Note("duplicate", "f", "two copies of f: the first counts"),),
    answers=(AnswerRecord("f", "a1"), AnswerRecord("in_words", "b2", True, "second")),
    submission="00ff",
    master="11ee",
    submitted="2026-10-24T23:58:00+02:00",
    seconds=1.5,
)


def test_a_record_comes_back_as_it_was(tmp_path):
    write_record(tmp_path, ANA)
    assert read_record(record_path(tmp_path, "rmsnorm", "zoë <b>")) == ANA


def test_points_count_what_is_won_so_far_and_are_none_where_nothing_was_marked():
    assert (ANA.points, ANA.max_points) == (8, 19)
    assert Record("bob", "rmsnorm", NOT_SUBMITTED).points is None
    assert Record("bob", "rmsnorm", FAILED).points is None


def test_a_key_tells_two_notebooks_of_one_assignment_apart():
    assert [cell.key for cell in ANA.cells] == ["f-value", "f-eps", "second/in_words"]
    assert [answer.key for answer in ANA.answers] == ["f", "second/in_words"]


def test_records_are_read_in_the_order_of_the_students(tmp_path):
    for student in ("carl", "ana", "bob"):
        write_record(tmp_path, Record(student, "rmsnorm", NOT_SUBMITTED))
    assert [record.student for record in read_records(tmp_path, "rmsnorm")] == [
        "ana",
        "bob",
        "carl",
    ]
    assert read_records(tmp_path, "swiglu") == []


def test_half_a_surrogate_pair_in_a_learner_s_text_is_kept(tmp_path):
    record = Record("ana", "rmsnorm", FAILED, "\udc80")
    write_record(tmp_path, record)
    assert read_records(tmp_path, "rmsnorm") == [record]


def test_a_write_that_fails_leaves_the_old_record_and_nothing_that_is_read(tmp_path, monkeypatch):
    write_record(tmp_path, ANA)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_record(tmp_path, Record(ANA.student, "rmsnorm", FAILED))
    assert read_records(tmp_path, "rmsnorm") == [ANA]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 0}', '{"version": 1, "cells": 3}'])
def test_what_is_no_record_is_told_in_one_line(tmp_path, text):
    path = tmp_path / "ana.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"{path} is no record of version 1: mark this student"):
        read_record(path)


def test_a_record_of_a_later_version_is_refused(tmp_path):
    write_record(tmp_path, ANA)
    path = record_path(tmp_path, "rmsnorm", ANA.student)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "version": 2}))
    with pytest.raises(ValueError, match="no record of version 1"):
        read_record(path)
