"""Rates, means, correlations and their intervals, held against published values and libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from statsmodels.regression.linear_model import OLS

from karenina_core.analysis import (
    calls_frame,
    fields_frame,
    label_shares,
    metric_summary,
    pass_rate,
    proportion,
    results_frame,
    trait_summary,
    traits_frame,
    wilson,
)
from karenina_core.analysis.statistics import (
    MOST_TRAITS,
    call_totals,
    cost_quality,
    field_rates,
    item_analysis,
    latencies,
    mean_interval,
    trait_correlations,
)
from karenina_core.schemas import AnswerPart, ConfusionPart, Usage


def only(table):
    assert len(table) == 1
    return table.iloc[0]


def test_an_error_is_not_a_wrong_answer(run):
    row = only(pass_rate(results_frame(run("++-0"))))
    assert (row["passed"], row["failed"], row["not_evaluated"], row["errors"], row["n"]) == (2, 1, 1, 1, 4)
    assert (row["rate"], row["rate_of_all"]) == pytest.approx((2 / 3, 1 / 2))


@settings(deadline=None)
@given(verdicts=st.text("+-0", min_size=1, max_size=30))
def test_counts_always_add_up(run, verdicts):
    row = only(pass_rate(results_frame(run(verdicts)), []))
    assert row["passed"] + row["failed"] == row["evaluated"]
    assert row["evaluated"] + row["not_evaluated"] == row["n"] == len(verdicts)
    assert row["errors"] <= row["not_evaluated"]
    assert math.isnan(row["rate"]) == (row["evaluated"] == 0)


def test_groups_keep_the_order_in_which_they_appear(run):
    frame = results_frame([*run("+-", "Zeta"), *run("++", "Alpha")])
    table = pass_rate(frame, ["answering_model"])
    assert table["answering_model"].to_list() == ["Zeta", "Alpha"]
    assert table["rate"].to_list() == [0.5, 1.0]


def test_a_result_counts_under_each_of_its_keywords(result):
    both, none = result("One?"), result("Two?", verdict="fail")
    both.question.keywords, none.question.keywords = ["drugs", "genes"], []
    table = pass_rate(results_frame([both, none]), "keywords").set_index("keywords")
    assert table["n"].to_dict() == {"drugs": 1, "genes": 1, "(no keyword)": 1}


def test_empty_tables_have_columns_and_no_rows():
    for table in (
        pass_rate(results_frame([])),
        field_rates(fields_frame([])),
        trait_summary(traits_frame([])),
        label_shares(traits_frame([])),
        metric_summary(traits_frame([])),
        call_totals(calls_frame([])),
    ):
        assert table.empty and len(table.columns) > 4


def test_a_field_that_was_not_found_is_not_right(result, field):
    states = [field("a", True), field("a", False), field("a", None), field("a", None, extracted="x")]
    results = [result(f"Question {n}?", fields=[state]) for n, state in enumerate(states)]
    row = only(field_rates(fields_frame(results), "field"))
    assert row[["right", "wrong", "not_found", "undecided"]].to_list() == [1, 1, 1, 1]
    assert (row["evaluated"], row["n"]) == (3, 4)
    assert row["rate"] == pytest.approx(1 / 3)


def test_scores_are_averaged_over_questions(result, rubric):
    scores = [("One?", 1, 5), ("One?", 2, 5), ("One?", 3, 5), ("Two?", 1, 1), ("Three?", 1, 3)]
    results = [result(q, replicate=r, rubric=rubric(scores={"Clarity": score})) for q, r, score in scores]
    row = only(trait_summary(traits_frame(results)))
    assert (row["n"], row["questions"], row["mean"], row["median"]) == (5, 3, 3.0, 5.0)
    # Three question means 5, 1, 3: s = 2, t(2) = 4.3027, so 3 ± 4.9683
    assert (row["low"], row["high"]) == pytest.approx((-1.9683, 7.9683), abs=1e-3)


def test_classes_are_counted(result, rubric):
    tones = ["formal", "formal", "loose"]
    parts = [rubric(scores={"Tone": int(tone == "formal")}, labels={"Tone": tone}) for tone in tones]
    table = label_shares(traits_frame([result(f"Q{n}?", rubric=part) for n, part in enumerate(parts)]))
    assert table[["label", "index", "count", "n"]].values.tolist() == [["formal", 1, 2, 3], ["loose", 0, 1, 3]]
    assert table["share"].to_list() == pytest.approx([2 / 3, 1 / 3])


def metric_result(result, question, tp, fp, fn, recall, **parts):
    items = {name: [f"{name}{n}" for n in range(count)] for name, count in (("tp", tp), ("fp", fp), ("fn", fn))}
    confusion = {"Diseases": ConfusionPart(**items)}
    rubric = {"performed": True, "metrics": {"Diseases": {"recall": recall}}, "confusion": confusion}
    return result(question, rubric=rubric | parts)


def test_macro_weighs_questions_and_micro_weighs_items(result):
    results = [metric_result(result, "One?", 2, 1, 2, 0.5), metric_result(result, "Two?", 8, 0, 0, 1.0)]
    row = only(metric_summary(traits_frame(results)))
    assert (row["macro"], row["micro"]) == pytest.approx((0.75, 10 / 12))
    assert row[["tp", "fp", "tn", "fn"]].to_list() == [10, 1, 0, 2]


def test_an_undefined_metric_is_counted_and_left_out_of_the_mean(result):
    undefined = {"Diseases": ConfusionPart(fp=["x"], undefined=["recall"])}
    results = [
        metric_result(result, "One?", 2, 1, 2, 0.5),
        metric_result(result, "Two?", 0, 1, 0, 0.0, confusion=undefined),
    ]
    row = only(metric_summary(traits_frame(results)))
    assert (row["n"], row["undefined"], row["macro"]) == (1, 1, 0.5)


def test_a_call_shared_by_two_judges_counts_once(result, call):
    answer = AnswerPart(text="x", call=call())
    results = [result(parsing_model=judge, answer=answer) for judge in ("J1", "J2")]
    row = only(call_totals(calls_frame(results)))
    assert (row["calls"], row["input_tokens"], row["cost"]) == (1, 100, 0.002)


def test_calls_from_the_ledger_and_without_a_price_are_told_apart(result, call):
    calls = [call(key="a"), call(key="b", source="ledger"), call(key="c", usage={})]
    results = [result(f"Q{n}?", answer=AnswerPart(text="x", call=one)) for n, one in enumerate(calls)]
    row = only(call_totals(calls_frame(results)))
    assert (row["calls"], row["asked"], row["unpriced"]) == (3, 2, 1)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    """Newcombe 1998, table I, method 3."""
    outcome = proportion([True] * successes + [False] * (n - successes))
    assert (outcome.low, outcome.high) == pytest.approx((low, high), abs=5e-5)


def plain(successes, n):
    outcome = proportion([True] * successes + [False] * (n - successes))
    return outcome.low, outcome.high


def test_intervals_of_many_shares_at_once():
    low, high = wilson([0.5, math.nan, 1 / 29], [10, 0, 29])
    assert (low[2], high[2]) == pytest.approx(plain(1, 29))
    assert math.isnan(low[1]) and math.isnan(high[1])


def test_nothing_to_share_is_not_zero():
    outcome = proportion([])
    assert outcome.n == 0 and math.isnan(outcome.rate) and math.isnan(outcome.high)


def test_repetitions_that_always_agree_are_worth_one_answer_each():
    answers = [True, True, False, True, False, False, True, True]
    repeated = proportion(answers * 3, list("abcdefgh") * 3)
    assert (repeated.low, repeated.high) == pytest.approx(plain(5, 8))


def test_repetitions_without_any_variation_count_as_questions():
    outcome = proportion([True] * 12, list("abcd") * 3)
    assert (outcome.low, outcome.high) == pytest.approx(plain(4, 4))


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcd")), min_size=1, max_size=24))
def test_clustering_never_narrows_an_interval(rows):
    outcomes, questions = [row[0] for row in rows], [row[1] for row in rows]
    clustered, alone = proportion(outcomes, questions), proportion(outcomes)
    assert clustered.low <= alone.low + 1e-9 and clustered.high >= alone.high - 1e-9
    assert -1e-9 <= clustered.low <= clustered.rate + 1e-9 and clustered.rate - 1e-9 <= clustered.high <= 1 + 1e-9


def test_a_mean_has_the_textbook_t_interval():
    # mean 3, s = 1.5811, t(4) = 2.7764: 3 ± 1.9632
    assert mean_interval([1, 2, 3, 4, 5]) == pytest.approx((1.0368, 4.9632), abs=1e-4)


@pytest.mark.parametrize("values", [[], [4.0], [4.0, 4.0, 4.0]])
def test_without_scatter_a_mean_has_no_interval(values):
    assert all(math.isnan(end) for end in mean_interval(values))


def priced(run, call, model, verdicts, cost, seconds=1.0):
    """Return results of a model whose answers cost so much each."""
    answer = AnswerPart(text="x", call=call(usage=Usage(cost=cost, calls=1), seconds=seconds))
    return run(verdicts, model, answer=answer)


def table(results):
    return cost_quality(results_frame(results)).set_index("answering_model")


def test_a_model_that_another_beats_on_both_is_not_among_the_best(run, call):
    found = table(
        [
            *priced(run, call, "cheap", "+---", 0.001),
            *priced(run, call, "good", "+++-", 0.01),
            *priced(run, call, "poor", "++--", 0.02),
        ]
    )
    assert found["best"].to_dict() == {"cheap": True, "good": True, "poor": False}
    assert found["cost"].to_dict() == pytest.approx({"cheap": 0.001, "good": 0.01, "poor": 0.02})


def test_a_model_without_a_price_is_not_compared(run, call):
    found = table([*priced(run, call, "a", "+-", None), *priced(run, call, "b", "--", 0.01)])
    assert found["best"].to_dict() == {"a": False, "b": True}
    assert (found.loc["a", "priced"], math.isnan(found.loc["a", "cost"])) == (0, True)


def test_an_answer_from_the_ledger_counts_with_what_its_model_charged(run, call):
    """A run that was resumed, or answered again, must not make a dear model look cheap."""
    first = {"first_call": {"source": "provider", "cost": 0.02}}
    again = AnswerPart(text="x", call=call(source="ledger", usage=Usage(cost=0.0, calls=1), provenance=first))
    found = table([*priced(run, call, "a", "+", 0.02), *run("++", "a", answer=again)])
    assert (found.loc["a", "cost"], found.loc["a", "priced"]) == (pytest.approx(0.02), 3)


def test_without_times_of_calls_whole_evaluations_are_timed(run):
    [row] = latencies(results_frame(run("++", seconds=2.5))).to_dict("records")
    assert (row["of"], row["median"]) == ("evaluation", 2.5)


def test_times_are_quantiles_of_the_calls_that_answered(run, call):
    times = [0.5, 1.0, 2.0, 4.0, 8.0]
    results = [item for seconds in times for item in priced(run, call, "a", "+", 0.01, seconds)]
    for number, item in enumerate(results, 1):
        item.replicate = number
    [row] = latencies(results_frame(results)).to_dict("records")
    assert (row["of"], row["n"], row["missing"], row["few"]) == ("answer", 5, 0, False)
    assert (row["median"], row["p90"]) == pytest.approx((2.0, np.quantile(times, 0.9)))


# Difficulty and discrimination of questions, held against scipy and against known cases


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


def test_judges_of_the_same_answer_are_averaged(run):
    results = [
        item
        for number, verdicts in enumerate(ANSWERS)
        for judge in ("J1", "J2")
        for item in run(verdicts, f"Model {number}", parsing_model=judge)
    ]
    assert (item_analysis(results_frame(results))["examinees"] == 6).all()


# Which traits say the same


CLARITY, DEPTH = [1, 2, 2, 4, 5, 3], [2, 1, 3, 4, 4, 5]


@pytest.fixture
def scored(result, rubric):
    """Return a function that makes one result per pair of scores."""

    def make(**columns):
        rows = zip(*columns.values(), strict=True)
        return [
            result(f"Q{number}?", rubric=rubric(scores=dict(zip(columns, values, strict=True))))
            for number, values in enumerate(rows)
        ]

    return make


def test_correlations_are_spearmans(scored):
    [row] = trait_correlations(traits_frame(scored(Clarity=CLARITY, Depth=DEPTH))).to_dict("records")
    assert (row["first"], row["second"], row["n"], row["few"]) == ("Clarity", "Depth", 6, False)
    assert row["correlation"] == pytest.approx(spearmanr(CLARITY, DEPTH).statistic)
    assert row["low"] < row["correlation"] < row["high"]


def test_a_trait_that_never_changes_correlates_with_nothing(scored):
    [row] = trait_correlations(traits_frame(scored(Clarity=CLARITY, Depth=[3] * 6))).to_dict("records")
    assert math.isnan(row["correlation"])


def test_repeats_are_averaged_first(result, rubric):
    results = [
        result(f"Q{number}?", replicate=repeat, rubric=rubric(scores={"Clarity": score + repeat, "Depth": score}))
        for number, score in enumerate((1, 2, 3))
        for repeat in (1, 2)
    ]
    [row] = trait_correlations(traits_frame(results)).to_dict("records")
    assert (row["n"], row["correlation"]) == (3, pytest.approx(1.0))


def test_every_pair_has_a_row_up_to_a_readable_number(scored):
    traits = {f"Trait {number}": CLARITY for number in range(MOST_TRAITS + 5)}
    assert len(trait_correlations(traits_frame(scored(**traits)))) == MOST_TRAITS * (MOST_TRAITS - 1) // 2


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.booleans(), st.sampled_from("abcd")), min_size=3, max_size=24))
def test_the_effective_size_follows_from_the_clustered_error_of_statsmodels(rows):
    outcomes, questions = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    n, rate = len(rows), outcomes.mean()
    assume(1 < len(set(questions)) < n and 0 < rate < 1)
    groups = np.unique(questions, return_inverse=True)[1]
    clustered = {"cov_type": "cluster", "cov_kwds": {"groups": groups, "use_correction": False}}
    error = float(OLS(outcomes.astype(float), np.ones(n)).fit(**clustered).bse[0])
    size = min(n, rate * (1 - rate) / error**2) if error > 1e-9 else n
    low, high = wilson([rate], [size])
    assert proportion(outcomes, questions)[3:] == pytest.approx((low[0], high[0]))
