import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import proportion, wilson
from karenina_core.analysis.intervals import mean_interval


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


def test_repetitions_of_a_single_question_are_independent():
    outcome = proportion([True, True, False], ["a", "a", "a"])
    assert (outcome.low, outcome.high) == pytest.approx(plain(2, 3))


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
