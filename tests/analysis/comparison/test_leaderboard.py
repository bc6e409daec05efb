import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import tallies
from karenina_core.analysis.comparison.leaderboard import leaderboard, shared_questions
from karenina_core.analysis.comparison.pairs import compare_all
from tests.analysis.comparison.arms import arm, joined, rows


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


def test_ranks_count_those_that_are_better_beyond_chance():
    table = board(a="+" * 12, b="-" * 12, c="-" * 12)
    assert table["rank"].to_dict() == pytest.approx({"a": 1, "b": 2, "c": 2})
