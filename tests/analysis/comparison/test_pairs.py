"""Pairs of arms as a whole and by part, the leaderboard, and what repeats tell."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import (
    by_field,
    by_keyword,
    compare,
    interval_sentence,
    left_out_sentence,
    level_text,
    most_repeats,
    parts_frame,
    points,
    power_sentence,
    tallies,
    verdict_sentence,
)
from karenina_core.analysis.comparison.pairs import (
    NO_KEYWORD,
    compare_all,
    leaderboard,
    pass_at_k,
    pass_hat_k,
    repeat_rates,
    shared_questions,
)
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


def test_an_interval_and_a_test_that_disagree_are_not_hidden():
    alone = replace(close_call(), pairs=1, p=0.07, corrected=0.07)
    assert "the exact McNemar test finds no difference" in interval_sentence(alone)
    reaching = replace(alone, p=0.04, corrected=0.04, low=-0.01)
    assert "reaches to zero, while the exact McNemar test finds a difference" in interval_sentence(reaching)
    few = replace(alone, better=4)
    assert "so few disagreements" in interval_sentence(few)


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
    assert "the exact McNemar test finds no difference" in text


def test_the_keyword_with_the_largest_difference_comes_first():
    counts = tallies(joined(rows(list("+++-"), "A"), rows(list("+--+"), "B")))
    parts = by_keyword(counts, A, B, {"q0": ["drugs"], "q1": ["genes"], "q2": ["genes", "drugs"], "q3": []})
    table = parts_frame(parts, "keyword").set_index("keyword")
    assert table["difference"].to_dict() == {NO_KEYWORD: 1.0, "genes": -1.0, "drugs": -0.5}
    assert table["questions"].to_dict() == {NO_KEYWORD: 1, "genes": 2, "drugs": 2}
    assert {pair.pairs for pair in parts.values()} == {3}


def fields(states, model):
    table = rows(["+"] * len(states), model)
    return table.assign(field="target", state=states)


def test_a_field_that_was_not_found_is_not_right_and_an_undecided_one_left_out():
    table = joined(fields(["right", "right", "undecided"], "A"), fields(["not_found", "right", "right"], "B"))
    pair = by_field(table, A, B)["target"]
    assert (pair.questions, pair.worse, pair.undecided) == (2, 1, 1)
    assert pair.difference == pytest.approx(-0.5)


def board(**verdicts):
    table = joined(*(rows(list(text), model) for model, text in verdicts.items()))
    counts = tallies(table)
    return leaderboard(table, counts, list(counts)).set_index("answering_model")


def test_those_that_cannot_be_told_apart_share_a_letter():
    table = board(weak="-" * 20, good="+" * 18 + "--", best="+" * 20)
    assert list(table.index) == ["best", "good", "weak"]
    assert table["ties"].to_dict() == {"best": "a", "good": "a", "weak": "b"}
    assert table["rank"].to_dict() == {"best": 1, "good": 1, "weak": 3}


def test_one_in_the_middle_belongs_to_both_groups():
    table = board(top="+" * 16, middle="+" * 11 + "-" * 5, low="+" * 6 + "-" * 10)
    assert table["ties"].to_dict() == {"top": "a", "middle": "ab", "low": "b"}
    assert table["rank"].to_dict() == {"top": 1, "middle": 1, "low": 2}


def test_arms_are_ordered_by_the_questions_that_all_have_a_verdict_for():
    easy_only = board(picky="++" + "0" * 4, steady="++" + "+--+")
    assert easy_only["shared_questions"].to_list() == [2, 2]
    assert easy_only["shared_rate"].to_list() == [1.0, 1.0]
    assert easy_only.loc["picky", ["evaluated", "not_evaluated", "n"]].to_list() == [2, 4, 6]


def test_an_arm_without_any_verdict_is_there_and_last():
    table = board(silent="00", a="+-")
    assert list(table.index) == ["a", "silent"]
    assert table.loc["silent", "evaluated"] == 0
    assert shared_questions(tallies(rows(["0"])), [arm()]) == []


@settings(deadline=None, max_examples=8)
@given(st.lists(st.text("+-", min_size=12, max_size=12), min_size=2, max_size=5))
def test_two_share_a_letter_if_and_only_if_they_cannot_be_told_apart(texts):
    frame = joined(*(rows(list(text), f"m{place}") for place, text in enumerate(texts)))
    counts = tallies(frame)
    arms = list(counts)
    letters = leaderboard(frame, counts, arms).set_index("answering_model")["ties"].to_dict()
    for pair in compare_all(counts, arms):
        shared = set(letters[pair.baseline.answering_model]) & set(letters[pair.candidate.answering_model])
        assert bool(shared) == (pair.finding not in ("better", "worse"))
    assert all(letters.values())


@settings(deadline=None)
@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_both_are_what_drawing_k_of_the_tries_gives(case):
    n, c, k = case
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_questions_with_too_few_tries_are_left_out_and_counted():
    table = repeat_rates(tallies(rows(["++-", "+0-", "---"])), [arm()]).set_index("k")
    assert table["questions"].to_dict() == {1: 3, 2: 3, 3: 2}
    assert table["left_out"].to_dict() == {1: 0, 2: 0, 3: 1}
    assert table.loc[3, "once"] == pytest.approx(0.5)
    assert table.loc[3, "always"] == 0
    assert table.loc[2, "once"] == pytest.approx((1 + 1 + 0) / 3)
    assert table.loc[2, "always"] == pytest.approx((1 / 3 + 0 + 0) / 3)


@settings(deadline=None, max_examples=10)
@given(st.lists(st.text("+-", min_size=4, max_size=4), min_size=1, max_size=8))
def test_more_tries_help_once_and_hurt_always(verdicts):
    table = repeat_rates(tallies(rows(verdicts)), [arm()])
    assert table["once"].is_monotonic_increasing
    assert table["always"].is_monotonic_decreasing
    assert table["once"].iloc[0] == pytest.approx(table["always"].iloc[0])


def test_arms_have_as_many_lines_as_they_have_repeats():
    counts = tallies(joined(rows(["++", "+-"], "A"), rows(["+", "-"], "B"), rows(["0"], "C")))
    arms = [arm("A"), arm("B"), arm("C"), arm("nobody")]
    assert repeat_rates(counts, arms)["answering_model"].to_list() == ["A", "A", "B"]
    assert most_repeats(counts, arms) == 2
    assert most_repeats(counts, []) == 0
