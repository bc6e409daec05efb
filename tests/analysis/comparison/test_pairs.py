import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import (
    arm_labels,
    compare,
    interval_sentence,
    left_out_sentence,
    level_text,
    pairs_frame,
    points,
    power_sentence,
    tallies,
    verdict_sentence,
)
from karenina_core.analysis.comparison.pairs import compare_all
from tests.analysis.comparison.arms import arm, joined, rows

A, B, C = arm("A"), arm("B"), arm("C")
LABELS = {A: "A", B: "B", C: "C"}


def pair(a, b):
    [found] = compare(tallies(joined(rows(list(a), "A"), rows(list(b), "B"))), A, [A, B])
    return found


def said(a, b):
    return verdict_sentence(pair(a, b), LABELS)


def test_a_difference_beyond_chance_is_said_with_its_numbers():
    text = said("-" * 9 + "+" * 11, "+" * 9 + "+" * 10 + "-")
    assert text.startswith("B is better than A: right on 19 against 11 of 20 matched questions, +40 percentage points ")
    assert "exact McNemar test, p = 0.021" in text


def test_the_worse_one_is_called_worse():
    assert said("+" * 12, "-" * 8 + "+" * 4).startswith("B is worse than A: right on 4 against 12")


def test_what_may_be_chance_is_not_called_a_difference():
    text = said("+" * 4 + "-" * 6 + "+" * 10, "-" * 4 + "+" * 6 + "+" * 10)
    assert text.startswith("No difference can be told between B and A: right on 16 against 14 of 20")
    assert "p = 0.75" in text


def test_too_few_disagreements_are_said_to_be_too_few():
    text = said("++++-----", "++++++++-")
    assert text.startswith("Too few disagreements to tell B from A: right on 8 against 4 of 9 matched questions, +44 ")
    assert "they differ on 4 questions (better on 4, worse on 0), and it takes 6 at least." in text
    assert "B and A do equally well on all 3 matched questions" in said("++-", "++-")
    assert "cannot be compared" in said("00", "++")


def test_the_smallest_number_of_disagreements_that_can_tell_is_six():
    assert pair("-" * 5, "+" * 5).finding == "too_few"
    assert pair("-" * 6, "+" * 6).finding == "better"


def test_several_comparisons_are_judged_more_strictly():
    table = joined(rows(["-"] * 6, "A"), rows(["+"] * 6, "B"), rows(["+", *"-" * 5], "C"))
    pairs = compare(tallies(table), A, [B, C])
    assert pairs[0].p == pytest.approx(0.03125)
    assert pairs[0].corrected == pytest.approx(0.0625)
    assert pairs[0].finding == "open"
    assert "p = 0.031; p = 0.062 corrected for 2 comparisons" in verdict_sentence(pairs[0], LABELS)


def test_repeats_are_averaged_and_tested_by_permutation():
    found = pair(["++-", "---", "+++"] * 4, ["+++", "++-", "+++"] * 4)
    assert (found.test, found.questions, found.better) == ("permutation test", 12, 8)
    assert "repeats averaged" in verdict_sentence(found, LABELS)


def test_what_was_left_out_is_said():
    assert left_out_sentence(pair(["+", "0", "+", "+0"], ["+", "+", "+", "++", "-"])) == (
        "Left out: 1 question that only one side was asked, 1 question without a verdict on one side at least, "
        "1 repeat without a verdict."
    )
    assert left_out_sentence(pair("+", "-")) == ""


def test_how_many_more_questions_it_takes_is_said():
    text = power_sentence(pair("+" * 10 + "-" * 10, "+" * 12 + "-" * 7 + "+"))
    assert "20 matched questions show a difference of" in text
    assert "more questions than there are" in text
    assert "fewer than two" in power_sentence(pair("+", "-"))
    assert "No number of questions" in power_sentence(pair("+-+-", "-++-"))


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.17, "+17"), (-0.04, "−4"), (0, "0"), (0.004, "+0.4"), (-0.0001, "0"), (0.0996, "+10"), (math.nan, "–")],
)
def test_percentage_points_have_a_sign(share, text):
    assert points(share) == text


@settings(deadline=None, max_examples=10)
@given(st.lists(st.tuples(st.sampled_from("+-0"), st.sampled_from("+-0")), min_size=1, max_size=25))
def test_a_comparison_turned_round_says_the_opposite(verdicts):
    counts = tallies(joined(rows([a for a, _ in verdicts], "A"), rows([b for _, b in verdicts], "B")))
    [forth], [back] = compare(counts, A, [B]), compare(counts, B, [A])
    assert forth.questions == back.questions == sum("0" not in pair for pair in verdicts)
    assert (forth.p, forth.better) == pytest.approx((back.p, back.worse), nan_ok=True)
    turned = {"better": "worse", "worse": "better"}
    assert back.finding == turned.get(forth.finding, forth.finding)
    ends = (forth.difference, forth.low, forth.high)
    assert ends == pytest.approx((-back.difference, -back.high, -back.low), abs=0.05, nan_ok=True)


def test_every_two_of_many_are_compared_once():
    counts = tallies(joined(*(rows(list("+-+"), model) for model in "ABC")))
    pairs = compare_all(counts, [A, B, C])
    assert [(item.baseline, item.candidate) for item in pairs] == [(A, B), (A, C), (B, C)]
    assert {item.pairs for item in pairs} == {3}


def test_pairs_are_a_table_too():
    counts = tallies(joined(rows(list("+-+"), "A"), rows(list("-++"), "B")))
    [row] = pairs_frame(compare(counts, A, [B]), arm_labels([A, B], {})).to_dict("records")
    assert (row["baseline"], row["candidate"], row["questions"], row["finding"]) == ("A", "B", 3, "too_few")


def close_call():
    """B is better on six questions and worse on none, beside a third model: 0.031 alone, 0.062 of two comparisons."""
    table = joined(rows(["-"] * 6 + ["+"] * 6, "A"), rows(["+"] * 12, "B"), rows(["+", *"-" * 5, *"+" * 6], "C"))
    return compare(tallies(table), A, [B, C])[0]


def test_an_interval_off_zero_beside_no_difference_is_explained_at_that_place():
    close = replace(close_call(), joint_low=-0.01)
    assert close.finding == "open" and close.low > 0
    text = interval_sentence(close)
    assert "made for this pair alone" in text and "among 2 comparisons" in text
    assert "the corrected test decides" in text
    assert f"(97.5 % each), the interval is {points(close.joint_low)} to {points(close.joint_high)}" in text


def test_an_interval_and_a_test_that_disagree_are_not_hidden():
    alone = replace(close_call(), pairs=1, p=0.07, corrected=0.07)
    assert "the exact McNemar test finds no difference" in interval_sentence(alone)
    reaching = replace(alone, p=0.04, corrected=0.04, low=-0.01)
    assert "reaches to zero, while the exact McNemar test finds a difference" in interval_sentence(reaching)
    few = replace(alone, better=4)
    assert "so few disagreements" in interval_sentence(few)


def test_where_interval_and_finding_agree_nothing_is_added():
    assert interval_sentence(pair("-" * 9 + "+" * 11, "+" * 9 + "+" * 10 + "-")) == ""
    assert interval_sentence(pair("+" * 4 + "-" * 6 + "+" * 10, "-" * 4 + "+" * 6 + "+" * 10)) == ""
    assert interval_sentence(pair("++-", "++-")) == ""


def test_the_joint_interval_allows_for_all_pairs_and_is_the_plain_one_for_one():
    close = close_call()
    assert close.joint_low < close.low <= close.high < close.joint_high
    only = pair("-" * 9 + "+" * 11, "+" * 9 + "+" * 10 + "-")
    assert (only.joint_low, only.joint_high) == (only.low, only.high)


@pytest.mark.parametrize(("pairs", "text"), [(0, "95 %"), (1, "95 %"), (2, "97.5 %"), (3, "98.3 %"), (5, "99 %")])
def test_the_level_of_a_joint_interval_is_said(pairs, text):
    assert level_text(pairs) == text


def test_a_corrected_interval_off_zero_is_not_explained_by_the_correction():
    first = close_call()
    text = interval_sentence(first)
    assert first.finding == "open" and first.p < 0.05 and first.joint_low > 0
    assert "made for this pair alone" not in text
    assert "the exact McNemar test finds no difference: it counts only the 6 questions on which the two differ" in text
    assert text.endswith(f"{points(first.joint_low)} to {points(first.joint_high)}, which leaves out zero too.")


def test_how_many_disagreements_it_takes_allows_for_the_correction():
    table = joined(rows(["-"] * 4, "A"), rows(["+"] * 4, "B"), rows([*"-+++"], "C"))
    for found in compare(tallies(table), A, [B, C]):
        said_of = verdict_sentence(found, LABELS)
        assert said_of.endswith("it takes 6 at least for this pair alone, and up to 7 among 2 comparisons.")


def test_a_test_over_many_questions_is_not_called_cautious():
    many = replace(close_call(), better=60, worse=40, p=0.06, corrected=0.12)
    assert "the two are made in different ways, the finding is close" in interval_sentence(many)
