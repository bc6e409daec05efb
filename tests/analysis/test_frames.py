"""Evaluations as tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from karenina_core.analysis import (
    calls_frame,
    clean_text,
    fields_frame,
    long_frame,
    readable,
    results_frame,
    to_dataframe,
    traits_frame,
)
from karenina_core.analysis.cells import shorten
from karenina_core.analysis.columns import COLUMNS, LONG
from karenina_core.analysis.frames import answer_price
from karenina_core.errors import InputError
from karenina_core.models import ChatReply
from karenina_core.models.caller import as_remembered
from karenina_core.schemas import (
    AnswerPart,
    CallRecord,
    ConfusionPart,
    RubricTrait,
    TemplatePart,
    Usage,
)


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_table_has_its_documented_columns(kind, mixed_run):
    for results in (mixed_run, []):
        frame = to_dataframe(results, kind)
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
            name: column.dtype for name, column in COLUMNS[kind].items()
        }


def test_an_unknown_table_is_refused():
    with pytest.raises(InputError, match="Use one of: results, fields"):
        to_dataframe([], "verdicts")


def test_a_broken_result_is_a_row_with_its_failure(result):
    row = results_frame([result(verdict="not_evaluated")]).iloc[0]
    assert (row["status"], row["verdict"], row["failure_group"]) == ("failed", "not_evaluated", "provider")
    assert (row["failure_category"], row["failure_stage"]) == ("timeout", "generate_answer")
    assert math.isnan(row["cost"]) and row["input_tokens"] is pd.NA


def test_text_no_table_can_hold_does_not_break_a_table(result, field):
    frame = fields_frame([result(fields=[field(extracted="half \ud800 a pair")])])
    assert frame["extracted"].iloc[0] == "half � a pair"


def test_fields_have_three_outcomes_and_a_fourth_when_nothing_was_decided(result, field):
    undecided = field("d", None, extracted="BCL2", reason="No embedding model.")
    fields = [field("a", True), field("b", False), field("c", None), undecided]
    frame = fields_frame([result(fields=fields)])
    assert frame["state"].to_list() == ["right", "wrong", "not_found", "undecided"]
    assert frame["result"].to_list() == [True, False, pd.NA, pd.NA]
    assert frame["primitive"].unique().tolist() == ["ExactMatch"]


def test_a_broken_result_has_undecided_rows_for_the_fields_of_its_question(result, field):
    good, broken, other = result("One?"), result("One?", "B", "not_evaluated"), result("Two?", "B", "not_evaluated")
    frame = fields_frame([good, broken, other])
    assert frame[["answering_model", "state"]].values.tolist() == [["Sample A", "right"], ["B", "undecided"]]
    assert frame["reason"].iloc[1] == "The model took longer than 120 s."


def test_the_kind_of_a_trait_follows_from_its_value(mixed_run):
    frame = traits_frame(mixed_run).drop_duplicates("trait").set_index("trait")
    assert frame["kind"].to_dict() == {
        "Clarity": "llm_score",
        "Polite": "llm_binary",
        "Tone": "llm_literal",
        "Cites": "regex",
        "Diseases": "metric",
    }
    assert frame["value"].to_dict() == {"Clarity": 4, "Polite": 1, "Tone": 1, "Cites": 0, "Diseases": 2 / 3}
    assert frame["label"].to_list() == ["4", "yes", "formal", "no", "0.67"]


@pytest.mark.parametrize("stored", [{"precision": 0.0}, {}])
def test_an_undefined_metric_is_not_zero(result, rubric, stored):
    part = rubric(metrics={"D": stored}, confusion={"D": ConfusionPart(fn=["asthma"], undefined=["precision"])})
    row = traits_frame([result(rubric=part)]).iloc[0]
    assert (row["metric"], row["undefined"], row["label"]) == ("precision", True, "undefined")
    assert math.isnan(row["value"])


def test_a_trait_without_a_value_keeps_a_row_with_its_error(result, rubric):
    good = result("One?", rubric=rubric(scores={"Clarity": 5}))
    bad = result("Two?", rubric=rubric(errors={"Clarity": "The judge gave no number."}))
    frame = traits_frame([good, bad])
    assert frame["kind"].to_list() == ["llm_score", "llm_score"]
    assert frame["error"].iloc[1] == "The judge gave no number."
    assert math.isnan(frame["value"].iloc[1])


def test_a_broken_result_has_rows_for_the_traits_it_would_have_had(result, rubric):
    part = rubric(scores={"Clarity": 5, "Own": 2}, metrics={"Diseases": {"recall": 1.0, "f1": 1.0}})
    part.provenance["Own"] = "question_specific"
    frame = traits_frame([result("One?", rubric=part), result("Two?", verdict="not_evaluated")])
    missed = frame[frame["error"].notna()]
    assert missed[["trait", "metric"]].values.tolist() == [["Clarity", ""], ["Diseases", "recall"], ["Diseases", "f1"]]
    assert missed["kind"].to_list() == ["llm_score", "metric", "metric"] and missed["value"].isna().all()


def test_a_definition_gives_a_trait_its_range(result, rubric):
    results = [result(rubric=rubric(scores={"Clarity": 7}))]
    trait = RubricTrait(name="Clarity", min_score=0, max_score=10, higher_is_better=False)
    row = traits_frame(results, [trait]).iloc[0]
    assert (row["minimum"], row["maximum"], row["higher_is_better"]) == (0, 10, False)
    assert math.isnan(traits_frame(results)["maximum"].iloc[0])


def test_calls_are_listed_with_their_key(result, rubric, call):
    template = TemplatePart(template_id="t", style="declarative", calls=[call("parse", "k2")])
    part = rubric(calls=[call("rubric", "k3", source="ledger")])
    frame = calls_frame([result(answer=AnswerPart(text="x", call=call()), template=template, rubric=part)])
    assert frame["purpose"].to_list() == ["answer", "parse", "rubric"]
    assert frame["key"].to_list() == ["k1", "k2", "k3"]
    assert frame["source"].to_list() == ["provider", "provider", "ledger"]


def test_every_value_of_a_result_has_a_row(result, rubric):
    part = rubric(scores={"Clarity": 4}, regex={"Cites": False}, metrics={"D": {"recall": 0.5}}, errors={"E": "no"})
    table = long_frame([result(rubric=part)])
    assert list(table.columns) == list(LONG)
    assert list(zip(table["item"], table["name"], strict=True)) == [
        ("verdict", ""),
        ("field", "target"),
        ("trait", "Clarity"),
        ("trait", "Cites"),
        ("metric", "D / recall"),
        ("trait", "E"),
    ]
    assert list(table["number"].dropna()) == [1.0, 1.0, 4.0, 0.0, 0.5]
    assert list(table["value"])[:5] == ["pass", "BCL2", "4", "no", "0.5"]


def test_results_keep_their_order_and_none_is_lost(mixed_run):
    table = long_frame(mixed_run)
    verdicts = table[table["item"] == "verdict"]
    assert list(verdicts["result_id"]) == [result.result_id for result in mixed_run]
    assert len(table.groupby("result_id")) == len(mixed_run)


def test_lone_surrogates_and_nul_are_replaced():
    assert clean_text("a\ud800b\0c") == "a�b�c"
    assert clean_text("\ud83d\ude00 fine") == "😀 fine"


def test_a_long_text_is_cut_on_one_line():
    assert shorten("one\n two   three", 9) == "one two…"
    assert shorten("short") == "short"


def test_values_become_readable_text():
    assert [readable(value) for value in ("a", None, False, 0, ["é"])] == ["a", None, "false", "0", '["é"]']


def test_a_value_nested_too_deep_is_told_to_be_so():
    value = "x"
    for _ in range(50_000):
        value = [value]
    assert readable(value) == "a value nested too deep to be shown"


# What an answer cost when its model was asked for it, however often it was used since


Make = Callable[..., Any]


def record(call: Make, reply: ChatReply) -> CallRecord:
    made = call(source=reply.source, usage=reply.usage, provenance=reply.provenance)
    assert isinstance(made, CallRecord)
    return made


def reply(cost: float | None, source: str) -> ChatReply:
    return ChatReply("It is gold.", "stop", Usage(cost=cost, calls=1), source, 1.0, {})


@pytest.mark.parametrize(
    ("cost", "source", "now", "later"),
    [
        (0.25, "provider", ("model", 0.25), ("ledger", 0.25)),
        (None, "provider", ("model", None), ("ledger", None)),
        (0.0, "local", ("model", 0.0), ("ledger", 0.0)),
        (0.0, "manual", ("manual", None), ("manual", None)),
        (0.0, "recording", ("recording", None), ("recording", None)),
    ],
)
def test_an_answer_has_the_same_price_when_the_ledger_gives_it_again(
    cost: float | None, source: str, now: tuple[str, float | None], later: tuple[str, float | None], call: Make
) -> None:
    first = reply(cost, source)
    again = as_remembered(first)
    assert (again.usage.cost, answer_price(source, cost, first.provenance)) == (0.0, now)
    assert answer_price(again.source, again.usage.cost, again.provenance) == later
