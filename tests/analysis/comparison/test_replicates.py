import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import most_repeats, tallies
from karenina_core.analysis.comparison.replicates import pass_at_k, pass_hat_k, repeat_rates
from tests.analysis.comparison.arms import arm, joined, rows


@settings(deadline=None)
@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_both_are_what_drawing_k_of_the_tries_gives(case):
    n, c, k = case
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_the_estimator_of_the_human_eval_paper():
    # 1 - C(n - c, k) / C(n, k) with the paper's n = 200.
    for c, k in [(1, 1), (10, 10), (50, 100)]:
        expected = 1 - math.comb(200 - c, k) / math.comb(200, k)
        assert pass_at_k(200, c, k) == pytest.approx(expected)


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
