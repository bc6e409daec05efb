"""Difficulty and discrimination of questions, held against scipy and against known cases."""

from __future__ import annotations

import math

import pytest
from scipy.stats import pearsonr

from karenina_core.analysis import results_frame
from karenina_core.analysis.items import MIN_EXAMINEES, item_analysis

# One row per model, one column per question. The fifth question is one that only weak models get right.
ANSWERS = ["++++-", "+++--", "++---", "+---+", "-+--+", "----+"]


def analysed(run, answers=ANSWERS):
    results = [item for number, verdicts in enumerate(answers) for item in run(verdicts, f"Model {number}")]
    return item_analysis(results_frame(results)).set_index("question")


def test_discrimination_is_the_correlation_with_all_other_questions(run):
    table = analysed(run)
    scores = [[int(sign == "+") for sign in row] for row in ANSWERS]
    for place in range(5):
        own = [row[place] for row in scores]
        rest = [(sum(row) - row[place]) / 4 for row in scores]
        expected = pearsonr(own, rest)
        row = table.loc[f"Question {place + 1}?"]
        assert row["discrimination"] == pytest.approx(expected.statistic)
        assert row["discrimination_low"] == pytest.approx(expected.confidence_interval().low)
        assert row["rate"] == pytest.approx(sum(own) / 6)


def test_a_question_that_weak_models_get_right_is_below_zero(run):
    table = analysed(run)
    assert table.loc["Question 5?", "discrimination"] < 0 < table.loc["Question 1?", "discrimination"]


def test_a_question_that_everybody_gets_right_tells_nobody_apart(run):
    table = analysed(run, [row + "+" for row in ANSWERS])
    assert math.isnan(table.loc["Question 6?", "discrimination"])


def test_an_answer_without_a_verdict_is_left_out(run):
    table = analysed(run, ["0+++-", *ANSWERS[1:]])
    assert table.loc["Question 1?", "examinees"] == 5
    scores = [[int(sign == "+") for sign in row] for row in ANSWERS[1:]]
    expected = pearsonr([row[0] for row in scores], [sum(row[1:]) / 4 for row in scores])
    assert table.loc["Question 1?", "discrimination"] == pytest.approx(expected.statistic)


def test_with_few_models_there_is_no_discrimination(run):
    table = analysed(run, ANSWERS[: MIN_EXAMINEES - 1])
    assert table["discrimination"].isna().all()


def test_repeats_are_examinees_where_there_are_few_models(run):
    results = [item for number, verdicts in enumerate(ANSWERS, 1) for item in run(verdicts, replicate=number)]
    table = item_analysis(results_frame(results))
    assert (table["examinees"] == 6).all()


def test_judges_of_the_same_answer_are_averaged(run):
    results = [
        item
        for number, verdicts in enumerate(ANSWERS)
        for judge in ("J1", "J2")
        for item in run(verdicts, f"Model {number}", parsing_model=judge)
    ]
    assert (item_analysis(results_frame(results))["examinees"] == 6).all()
