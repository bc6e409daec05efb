import csv
import io
import json
import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import read_results, results_frame, to_json
from karenina_core.analysis.export import FORMAT
from karenina_core.analysis.spreadsheet import COLUMNS, frame_to_csv, to_csv
from karenina_core.errors import InputError
from karenina_core.schemas import AnswerPart, GuardPart, ModelConfig, VerificationConfig, VerificationResultSet

KEY = "sk-proj-0123456789abcdefghij"


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_exported_results_read_back_equal(mixed_run):
    assert list(read_results(to_json(mixed_run))) == mixed_run


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


def test_a_byte_order_mark_is_accepted(run):
    assert len(read_results(b"\xef\xbb\xbf" + to_json(run("+")))) == 1


def test_csv_has_one_row_per_result_with_a_mark_of_its_encoding(mixed_run):
    data = to_csv(mixed_run)
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\r\n") == len(mixed_run) + 1
    rows = rows_of(data)
    assert list(rows[0])[: len(COLUMNS)] == list(COLUMNS)
    assert [row["verdict"] for row in rows] == [result.verdict for result in mixed_run]
    assert rows[0]["raw_answer"] == "BCL2" and rows[0]["response"] == "It inhibits BCL2."
    assert json.loads(rows[0]["parsed"]) == {"target": "BCL2"}
    assert json.loads(rows[1]["field_results"]) == {"target": False}


def test_false_and_zero_are_not_blank(result):
    row = rows_of(to_csv([result(verdict="fail", abstention=GuardPart(performed=True, detected=False))]))[0]
    assert (row["verify_result"], row["verify_granular_result"], row["abstained"]) == ("False", "0.0", "False")
    assert (row["seconds"], row["calls"]) == ("0.0", "0")


def test_what_is_missing_is_blank(result):
    row = rows_of(to_csv([result(verdict="not_evaluated")]))[0]
    assert {row[name] for name in ("verify_result", "response", "cost", "similarity", "expected")} == {""}
    assert row["failure_category"] == "timeout"


def test_global_traits_have_columns_and_others_share_one(result, rubric):
    part = rubric(scores={"Clarity": 4, "Own": True}, errors={"Tone": "no class"})
    part.provenance["Own"] = "question_specific"
    row = rows_of(to_csv([result(rubric=part)]))[0]
    assert row["trait: Clarity"] == "4" and "trait: Own" not in row
    assert json.loads(row["question_traits"]) == {"trait: Own": True}
    assert json.loads(row["trait_errors"]) == {"Tone": "no class"}


def test_every_kind_of_trait_is_written_for_people(mixed_run):
    row = rows_of(to_csv(mixed_run))[0]
    names = ["trait: Clarity", "trait: Polite", "trait: Cites", "metric: Diseases / recall"]
    assert [row[name] for name in names] == ["4", "True", "False", "0.5"]
    assert (row["trait: Tone"], row["question_traits"]) == ("formal", "")


@pytest.mark.parametrize("text", ["=1+1", "@SUM(1)", " \t=cmd|'/C calc'!A0", "－1+x"])
def test_a_response_cannot_run_in_a_spreadsheet(result, text):
    row = rows_of(to_csv([result(question=text, answer=AnswerPart(text=text))]))[0]
    assert (row["response"], row["question"]) == (f"'{text}", f"'{text}")


def test_a_trait_name_cannot_run_either(result, rubric):
    header = next(iter(to_csv([result(rubric=rubric(regex={"=1+1": True}))]).decode().splitlines()))
    assert "trait: =1+1" in header and ",=1+1" not in header


def test_an_export_without_results_has_a_header(mixed_run):
    assert to_csv([]).decode("utf-8-sig").startswith("result_id,question_id,question,")
    assert list(read_results(to_json([]))) == []


def test_any_table_can_be_downloaded(mixed_run):
    rows = rows_of(frame_to_csv(results_frame(mixed_run)))
    assert len(rows) == len(mixed_run)
    assert rows[0]["keywords"] == '["drugs"]' and rows[0]["cost"] == "" and rows[0]["replicate"] == "1"
    assert rows_of(frame_to_csv(pd.DataFrame({"=a": ["=1", False, 0]}))) == [
        {"'=a": "'=1"},
        {"'=a": "False"},
        {"'=a": "0"},
    ]
