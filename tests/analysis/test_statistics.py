import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
)
from karenina_core.analysis.statistics import call_totals, field_rates
from karenina_core.schemas import AnswerPart, ConfusionPart


def only(table):
    assert len(table) == 1
    return table.iloc[0]


def test_an_error_is_not_a_wrong_answer(run):
    row = only(pass_rate(results_frame(run("++-0"))))
    assert (row["passed"], row["failed"], row["not_evaluated"], row["errors"], row["n"]) == (2, 1, 1, 1, 4)
    assert (row["rate"], row["rate_of_all"]) == pytest.approx((2 / 3, 1 / 2))


def test_a_response_that_declines_is_left_out_but_no_error(result):
    row = only(pass_rate(results_frame([result(verdict="not_evaluated", status="completed")])))
    assert (row["not_evaluated"], row["errors"]) == (1, 0)
    assert math.isnan(row["rate"])


@settings(deadline=None)
@given(verdicts=st.text("+-0", min_size=1, max_size=30))
def test_counts_always_add_up(run, verdicts):
    row = only(pass_rate(results_frame(run(verdicts)), []))
    assert row["passed"] + row["failed"] == row["evaluated"]
    assert row["evaluated"] + row["not_evaluated"] == row["n"] == len(verdicts)
    assert row["errors"] <= row["not_evaluated"]
    assert math.isnan(row["rate"]) == (row["evaluated"] == 0)


@settings(deadline=None)
@given(verdicts=st.lists(st.text("+-0", min_size=4, max_size=4), min_size=1, max_size=4))
def test_intervals_of_all_groups_at_once_are_those_of_each(run, verdicts):
    results = [item for repeat, signs in enumerate(verdicts, 1) for item in run(signs, replicate=repeat)]
    row = only(pass_rate(results_frame(results)))
    evaluated = [item for item in results if item.verdict != "not_evaluated"]
    expected = proportion([item.verdict == "pass" for item in evaluated], [item.question.id for item in evaluated])
    assert (row["rate"], row["low"], row["high"]) == pytest.approx(expected[2:], nan_ok=True)


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


def test_fewer_than_five_answers_are_too_few_to_tell(run):
    assert only(pass_rate(results_frame(run("++++"))))["few"]
    assert not only(pass_rate(results_frame(run("+++++"))))["few"]


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


def test_shares_of_yes_have_wilson_intervals(result, rubric):
    results = [result(f"Q{n}?", rubric=rubric(regex={"Cites": n == 0})) for n in range(29)]
    row = only(trait_summary(traits_frame(results)))
    assert (row["kind"], row["n"]) == ("regex", 29)
    assert (row["low"], row["high"]) == pytest.approx((0.0061, 0.1718), abs=5e-5)


def test_a_missing_score_stays_visible(result, rubric):
    results = [
        result("One?", rubric=rubric(scores={"Clarity": 4})),
        result("Two?", rubric=rubric(errors={"Clarity": "no number"})),
    ]
    row = only(trait_summary(traits_frame(results)))
    assert (row["n"], row["missing"], row["mean"]) == (1, 1, 4.0)


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


def test_a_metric_that_is_undefined_everywhere_has_no_average(result):
    undefined = {"Diseases": ConfusionPart(fp=["x"], undefined=["recall"])}
    row = only(metric_summary(traits_frame([metric_result(result, "One?", 0, 1, 0, 0.0, confusion=undefined)])))
    assert math.isnan(row["macro"]) and math.isnan(row["micro"])


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
