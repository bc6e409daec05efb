"""Results as files: read back, opened in a spreadsheet, with the reviews of people."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from karenina_core.analysis import (
    ReportOptions,
    as_html,
    as_latex,
    as_markdown,
    long_frame,
    read_results,
    results_frame,
    to_json,
    to_xlsx,
)
from karenina_core.analysis.export import FORMAT, PATHS, frame_to_csv, read_annotations, to_csv
from karenina_core.analysis.report.build import Report, build_part
from karenina_core.analysis.upstream import to_upstream
from karenina_core.errors import InputError
from karenina_core.schemas import (
    Annotation,
    AnswerPart,
    GuardPart,
    ModelConfig,
    VerificationConfig,
    VerificationResultSet,
)
from tests.runs.fakes import full_result

KEY = "sk-proj-0123456789abcdefghij"


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_exported_results_read_back_equal(mixed_run):
    assert list(read_results(to_json(mixed_run))) == mixed_run
    assert list(read_results(b"\xef\xbb\xbf" + to_json(mixed_run))) == mixed_run


@settings(deadline=None)
@given(
    text=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")),
    extracted=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    ),
)
def test_any_answer_and_any_value_read_back_equal(result, field, text, extracted):
    results = [result(answer=AnswerPart(text=text), fields=[field(extracted=extracted)])]
    assert list(read_results(to_json(results).decode())) == results


def test_the_run_id_and_the_configuration_travel_along(run):
    config = VerificationConfig(answering_models=["openai/a"], parsing_models=["openai/b"])
    data = to_json(VerificationResultSet(run("+"), run_id="r1"), config)
    document = json.loads(data)
    assert document["format"] == FORMAT
    assert VerificationConfig.model_validate(document["config"]) == config
    assert read_results(data).run_id == "r1"


def test_a_number_that_json_cannot_write_survives(result, rubric):
    part = rubric(metrics={"D": {"recall": math.nan, "f1": math.inf}})
    data = to_json([result(rubric=part)])
    read = read_results(data)[0].rubric.metrics["D"]
    assert math.isnan(read["recall"]) and read["f1"] == math.inf
    json.loads(data, parse_constant=pytest.fail)


def test_no_key_reaches_a_file(result, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plain-canary-value")
    answer = AnswerPart(text=f"My key is {KEY} and plain-canary-value")
    model = ModelConfig(model_name="m", api_key_env="SOME_API_KEY", manual_traces={"q": "prepared"})
    config = VerificationConfig(answering_models=[model], parsing_models=[model])
    for data in (to_json([result(answer=answer)], config), to_csv([result(answer=answer)])):
        assert KEY.encode() not in data and b"canary" not in data and b"prepared" not in data
        assert b"[hidden]" in data


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("[" * 100_000, "not valid JSON"),
        ("[" * 30_000_000, "values"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("[]", "holds no exported results"),
        ('{"format": "karenina-results-9", "results": []}', "holds no exported results"),
        (f'{{"format": "{FORMAT}"}}', "no list of results"),
        (f'{{"format": "{FORMAT}", "results": [{{"verdict": "pass"}}]}}', "Result 1 in the file is damaged"),
    ],
)
def test_a_file_that_is_not_an_export_is_refused_in_words(text, problem):
    with pytest.raises(InputError, match=problem):
        read_results(text)


def test_csv_has_one_row_per_result_with_a_mark_of_its_encoding(mixed_run):
    data = to_csv(mixed_run)
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\r\n") == len(mixed_run) + 1
    rows = rows_of(data)
    assert list(rows[0])[: len(PATHS)] == list(PATHS)
    assert [row["verdict"] for row in rows] == [result.verdict for result in mixed_run]
    assert rows[0]["raw_answer"] == "BCL2" and rows[0]["response"] == "It inhibits BCL2."
    assert json.loads(rows[0]["parsed"]) == {"target": "BCL2"}
    assert json.loads(rows[1]["field_results"]) == {"target": False}


def test_false_and_zero_are_not_blank(result):
    row = rows_of(to_csv([result(verdict="fail", abstention=GuardPart(performed=True, detected=False))]))[0]
    assert (row["verify_result"], row["verify_granular_result"], row["abstained"]) == ("False", "0.0", "False")
    assert (row["seconds"], row["calls"]) == ("0.0", "0")


def test_global_traits_have_columns_and_others_share_one(result, rubric):
    part = rubric(scores={"Clarity": 4, "Own": True}, errors={"Tone": "no class"})
    part.provenance["Own"] = "question_specific"
    row = rows_of(to_csv([result(rubric=part)]))[0]
    assert row["trait: Clarity"] == "4" and "trait: Own" not in row
    assert json.loads(row["question_traits"]) == {"trait: Own": True}
    assert json.loads(row["trait_errors"]) == {"Tone": "no class"}


def test_expected_mistakes_stay_apart_in_every_table(result, rubric):
    lists = {"tp": ["asthma"], "fp": ["emphysema", "gout"], "expected_fp": ["emphysema"], "fn": ["sepsis"]}
    run = [result(rubric=rubric(metrics={"D": {"recall": 0.5}}, confusion={"D": lists}))]
    words = "found: asthma; expected false positives: emphysema; unexpected false positives: gout; "
    words += "unexpected misses: sepsis"
    assert json.loads(rows_of(to_csv(run))[0]["metric_items"]) == {"D": lists}
    assert [row["reason"] for row in rows_of(frame_to_csv(long_frame(run))) if row["item"] == "metric"] == [words]
    part = build_part("run", run, ReportOptions(answers="all", charts=False))
    assert dict(part["answers"][0]["traits"]) == {"D": f"recall 0.50 · {words}"}
    assert read_results(to_json(run))[0].rubric.confusion["D"].expected_fp == ["emphysema"]


@pytest.mark.parametrize("text", ["=1+1", "@SUM(1)", " \t=cmd|'/C calc'!A0", "－1+x"])
def test_a_response_cannot_run_in_a_spreadsheet(result, text):
    row = rows_of(to_csv([result(question=text, answer=AnswerPart(text=text))]))[0]
    assert (row["response"], row["question"]) == (f"'{text}", f"'{text}")


def test_a_trait_name_cannot_run_either(result, rubric):
    header = next(iter(to_csv([result(rubric=rubric(regex={"=1+1": True}))]).decode().splitlines()))
    assert "trait: =1+1" in header and ",=1+1" not in header


def test_any_table_can_be_downloaded(mixed_run):
    rows = rows_of(frame_to_csv(results_frame(mixed_run)))
    assert len(rows) == len(mixed_run)
    assert rows[0]["keywords"] == '["drugs"]' and rows[0]["cost"] == "" and rows[0]["replicate"] == "1"
    assert rows_of(frame_to_csv(pd.DataFrame({"=a": ["=1", False, 0]}))) == [
        {"'=a": "'=1"},
        {"'=a": "False"},
        {"'=a": "0"},
    ]


def rows(data: bytes) -> list[list[Any]]:
    sheet = load_workbook(io.BytesIO(data)).worksheets[0]
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def test_a_workbook_has_the_columns_and_rows_of_the_csv_file() -> None:
    results = [full_result("a", "One."), full_result("b", "Two.")]
    as_text = list(csv.reader(io.StringIO(to_csv(results).decode("utf-8-sig"), newline="")))
    header, *cells = rows(to_xlsx(results))
    assert header == as_text[0]
    assert [row[header.index("response")] for row in cells] == ["One.", "Two."]
    assert [row[header.index("question_id")] for row in cells] == ["a", "b"]


def damaged(results, change) -> str:
    document = json.loads(to_json(results))
    change(document["results"][0])
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(replicate=10**9),
        lambda row: row.update(replicate=-1),
        lambda row: row["template"]["fields"][0].update(rule={"x": 1}),
        lambda row: row["rubric"]["scores"].update(a=10**400),
        lambda row: row["usage"].update(input_tokens=10**30),
    ],
)
def test_a_result_that_no_page_could_show_is_refused(run, change):
    with pytest.raises(InputError, match="Result 1 in the file is damaged"):
        read_results(damaged(run("+"), change))


REVIEW = ("review_agrees", "review_cause", "review_note", "review_author", "review_at")
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
    part = build_part("Run", results, ReportOptions(answers, charts=False), annotations=reviews)
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


@pytest.mark.parametrize("write", [to_json, to_upstream])
def test_the_whole_history_reads_back_equal_and_damage_is_refused(reviewed, write) -> None:
    made, reviews = reviewed
    data = write([made], annotations=reviews)
    assert read_annotations(data) == reviews
    (read,) = read_results(data)
    assert (read.key, read.verdict, read.warnings) == (made.key, made.verdict, made.warnings)
    with pytest.raises(InputError, match="reviews in the file are damaged"):
        read_annotations(data.replace(b"rule_too_strict", b"bad luck"))
    assert read_annotations(write([made])) == []


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


def test_author_sources_and_the_reference_answer_are_in_every_table(run) -> None:
    made = run("+")[0]
    known = {"author": {"name": "Ada"}, "sources": [{"url": "https://x.org"}], "raw_answer": "BCL2"}
    result = made.model_copy(update={"question": made.question.model_copy(update=known)})
    assert read_results(to_json([result]))[0].question == result.question
    (row,) = csv.DictReader(io.StringIO(to_csv([result]).decode("utf-8-sig")))
    assert (json.loads(row["author"]), json.loads(row["sources"])) == (known["author"], known["sources"])
    assert row["raw_answer"] == "BCL2"
    long = long_frame([result])
    assert list(long[long["item"] == "verdict"]["raw_answer"]) == ["BCL2"]
    assert long[long["item"] != "verdict"]["raw_answer"].isna().all()
