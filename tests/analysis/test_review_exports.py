"""Reviews travel with results in every file, beside the machine's verdict."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from karenina_core.analysis import Options, read_results, to_json, to_xlsx
from karenina_core.analysis.export import read_annotations
from karenina_core.analysis.long import long_frame
from karenina_core.analysis.report import Report, as_html, as_latex, as_markdown, build_report
from karenina_core.analysis.spreadsheet import REVIEW, to_csv
from karenina_core.analysis.upstream import to_upstream
from karenina_core.errors import InputError
from karenina_core.schemas import Annotation
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


def report_of(results, reviews, answers="none") -> Report:
    part = build_report("Run", results, Options(answers, charts=False), annotations=reviews)
    return Report("A title", "", "2026-01-02T03:04:05+00:00", (part,))


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


def test_the_long_table_has_a_row_for_every_opinion_that_stands(reviewed) -> None:
    made, reviews = reviewed
    table = long_frame([made], reviews)
    assert list(table["item"]) == ["verdict", "review", "review", "field"]
    said = table[table["item"] == "review"]
    assert list(said["value"]) == ["agrees", "disagrees"]
    assert list(said["number"]) == [1.0, 0.0]
    assert list(said.iloc[1][["reason", "cause", "author", "at"]]) == [
        "=1+1",
        "rule_too_strict",
        "ann",
        "2026-03-01T13:00:00+00:00",
    ]
    assert table["value"].iloc[0] == "fail"


def test_a_review_of_another_run_is_in_no_table(reviewed, result) -> None:
    _, reviews = reviewed
    other = result("Something else?")
    assert list(long_frame([other], reviews)["item"]) == ["verdict", "field"]
    assert "Reviews" not in as_markdown(report_of([other], reviews))


@pytest.mark.parametrize("answers", ["none", "failures"])
def test_every_report_shows_reviews_whichever_answers_it_shows(reviewed, answers) -> None:
    made, reviews = reviewed
    agreed = made.model_copy(update={"verdict": "pass"})
    whole = report_of([agreed], reviews, answers)
    for written in (as_html(whole).decode(), as_markdown(whole), as_latex(whole)):
        assert "Reviews" in written
        assert written.count("disagrees") == 1
        assert "The rule is too strict" in written
        assert "right" in written


def test_a_long_note_is_cut_in_a_report_and_whole_in_the_data(reviewed) -> None:
    made, reviews = reviewed
    long = reviews[0].model_copy(update={"note": "word " * 800})
    assert as_markdown(report_of([made], [long], "none")).count("word") < 100
    assert long_frame([made], [long])["reason"].str.count("word").max() == 800


def test_the_upstream_format_brings_the_whole_history_back(reviewed) -> None:
    made, reviews = reviewed
    data = to_upstream([made], annotations=reviews)
    assert read_annotations(data) == reviews
    (read,) = read_results(data)
    assert (read.key, read.verdict, read.warnings) == (made.key, made.verdict, made.warnings)


def test_the_upstream_rows_have_no_new_part_where_nobody_said_anything(reviewed, result) -> None:
    made, reviews = reviewed
    rows = json.loads(to_upstream([made, result("Another?")], annotations=reviews))["results"]
    assert ["annotations" in row for row in rows] == [True, False]


def test_damaged_reviews_in_the_upstream_format_are_an_error_in_words(reviewed) -> None:
    made, reviews = reviewed
    data = to_upstream([made], annotations=reviews).replace(b'"agrees": true', b'"agrees": "perhaps"')
    with pytest.raises(InputError, match="reviews in the file are damaged"):
        read_annotations(data)
