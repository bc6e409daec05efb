"""Reviews travel with results in every file, beside the machine's verdict."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from karenina_core.analysis.export import read_annotations, read_results, to_json
from karenina_core.analysis.spreadsheet import REVIEW, to_csv, to_xlsx
from karenina_core.errors import InputError
from karenina_core.schemas.annotation import Annotation
from tests.analysis.test_spreadsheet import rows as cells_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def reviewed(result):
    """A failed result, and what two people said about it."""
    made = result(verdict="fail")
    about = {"run_id": "run", "result_id": made.result_id}
    reviews = [
        Annotation(**about, agrees=True, author="bob", at=NOON),
        Annotation(
            **about, agrees=False, cause="rule_too_strict", note="=1+1", author="ann", at=NOON + timedelta(hours=1)
        ),
        Annotation(**about, agrees=True, undone=True, at=NOON + timedelta(hours=2)),
    ]
    return made, reviews


def test_a_table_has_the_last_opinion_beside_the_verdict(reviewed) -> None:
    made, reviews = reviewed
    (row,) = csv.DictReader(io.StringIO(to_csv([made], reviews).decode("utf-8-sig"), newline=""))
    assert row["verdict"] == "fail"
    assert {name: row[name] for name in (*REVIEW, "reviews")} == {
        "review_agrees": "False",
        "review_cause": "rule_too_strict",
        "review_note": "'=1+1",
        "review_author": "ann",
        "review_at": "2026-03-01T13:00:00+00:00",
        "reviews": "2",
    }


def test_the_columns_are_the_last_ones_and_always_there(result) -> None:
    header = next(csv.reader(io.StringIO(to_csv([result()]).decode("utf-8-sig"), newline="")))
    assert header[-6:] == [*REVIEW, "reviews"]


def test_a_workbook_says_the_same(reviewed) -> None:
    made, reviews = reviewed
    header, row = cells_of(to_xlsx([made], reviews))
    shown = dict(zip(header, row, strict=True))
    assert (shown["review_agrees"], shown["review_author"], shown["reviews"]) == (False, "ann", 2)


def test_the_whole_history_reads_back_equal(reviewed) -> None:
    made, reviews = reviewed
    data = to_json([made], None, reviews)
    assert read_annotations(data) == reviews
    assert list(read_results(data)) == [made]


def test_a_file_without_reviews_has_none(result) -> None:
    assert read_annotations(to_json([result()])) == []


def test_damaged_reviews_are_an_error_in_words(reviewed) -> None:
    made, reviews = reviewed
    data = to_json([made], None, reviews).replace(b"rule_too_strict", b"bad luck")
    with pytest.raises(InputError, match="reviews in the file are damaged"):
        read_annotations(data)
