"""The long table holds every value once."""

from __future__ import annotations

import pandas as pd

from karenina_core.analysis.long import LONG, long_frame


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


def test_what_is_not_decided_is_missing_rather_than_wrong(run):
    table = long_frame(run("0"))
    assert list(table["value"]) == ["not_evaluated"]
    assert table["result"].isna().all() and table["number"].isna().all()


def test_no_results_give_the_columns():
    assert list(long_frame([]).columns) == list(LONG)
    assert isinstance(long_frame([]), pd.DataFrame)
