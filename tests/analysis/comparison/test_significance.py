"""Tests, intervals, corrections and power, held against published values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karenina_core.analysis import ASSUMED_SD, match, questions_needed, tallies
from karenina_core.analysis.comparison import significance
from karenina_core.analysis.comparison.significance import (
    ALPHA,
    detectable,
    fewest,
    holm,
    paired_test,
    question_interval,
)
from karenina_core.analysis.statistics import mean_interval
from tests.analysis.comparison.arms import arm, joined, rows

MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Darwin's cross- and self-fertilised plants, in eighths of an inch; Fisher 1935, The Design of Experiments, 21."""


def questions(a, b):
    return match(tallies(joined(rows(a, "A"), rows(b, "B"))), arm("A"), arm("B")).questions


def discordant(worse, better, same=0):
    return questions([*"+" * worse, *"-" * better, *"+" * same], [*"-" * worse, *"+" * better, *"+" * same])


def repeated(differences):
    columns = ("baseline_evaluated", "candidate_evaluated", "baseline_passed", "candidate_passed")
    return pd.DataFrame({**dict.fromkeys(columns, 2), "difference": np.asarray(differences, dtype=float)})


def test_mcnemar_gives_the_published_value():
    # Fagerland, Lydersen and Laake 2013, table 1: hyper-responsiveness before and after transplantation, p = 0.070.
    found = paired_test(discordant(1, 7, same=13))
    assert found.name == "exact McNemar test"
    assert found.p == pytest.approx(0.0703, abs=5e-5)


def test_the_permutation_test_gives_the_published_value():
    # 1,726 of the 32,768 arrangements of the signs are as extreme: Fisher's 5.267 %.
    found = paired_test(repeated(MAIZE))
    assert found.name == "permutation test"
    assert found.p == pytest.approx(0.05267, abs=0.006)


def test_many_permutations_give_the_published_value_exactly(monkeypatch):
    monkeypatch.setattr(significance, "RESAMPLES", 2**15)
    assert paired_test(repeated(MAIZE)).p == pytest.approx(0.05267, abs=5e-6)


@settings(deadline=None, max_examples=20)
@given(worse=st.integers(0, 9), better=st.integers(0, 9), same=st.integers(0, 5))
def test_mcnemar_is_the_binomial_test_of_the_disagreements(worse, better, same):
    if worse + better + same:
        expected = stats.binomtest(worse, worse + better).pvalue if worse + better else 1.0
        assert paired_test(discordant(worse, better, same)).p == pytest.approx(expected)


@settings(deadline=None, max_examples=20)
@given(worse=st.integers(0, 6), better=st.integers(0, 6))
def test_with_single_answers_both_tests_say_the_same(worse, better):
    if worse + better:
        single = paired_test(discordant(worse, better)).p
        assert paired_test(repeated([-1] * worse + [1] * better)).p == pytest.approx(single)


def test_no_question_and_no_disagreement_say_nothing():
    assert math.isnan(paired_test(questions(["+"], ["0"])).p)
    assert paired_test(questions(["+", "-"], ["+", "-"])).p == 1
    assert paired_test(questions(["++", "--"], ["++", "--"])).p == 1
    assert paired_test(questions(["++", "--"], ["++", "-+"])).p == 1


@settings(deadline=None, max_examples=15)
@given(values=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=8, max_size=60))
def test_the_interval_is_the_bootstrap_of_the_library_and_holds_the_mean(values):
    low, high = question_interval(values)
    if len(set(values)) < 2:
        assert math.isnan(low) and math.isnan(high)
    else:
        assert low <= np.mean(values) <= high
        assert (low, high) == question_interval(values)


def test_the_interval_of_many_questions_is_the_t_interval_which_the_bootstrap_agrees_with(monkeypatch):
    values = np.random.default_rng(5).choice([-1.0, 0.0, 1.0], 1_200, p=[0.1, 0.7, 0.2])
    quick = question_interval(values)
    assert quick == mean_interval(values.tolist())
    monkeypatch.setattr(significance, "MOST_BOOTSTRAPPED", 2_000)
    assert quick == pytest.approx(question_interval(values), abs=0.002)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(11)
    intervals = [question_interval(random.choice([-1.0, 0.0, 1.0], 60, p=[0.15, 0.5, 0.35])) for _ in range(100)]
    assert sum(low <= 0.2 <= high for low, high in intervals) >= 88


def test_holm_gives_the_textbook_values_and_passes_over_what_was_not_tested():
    # The example of the article on Holm's method in Wikipedia.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    corrected = holm([0.02, math.nan, 0.03])
    assert corrected[0::2] == pytest.approx([0.04, 0.04])
    assert math.isnan(corrected[1])
    assert holm([]) == []


@pytest.mark.parametrize("pairs", [0, 1, 2, 3, 10, 45])
def test_the_fewest_disagreements_are_the_first_that_the_corrected_test_accepts(pairs):
    number = fewest(pairs)
    assert paired_test(discordant(0, number)).p * max(pairs, 1) <= ALPHA
    assert paired_test(discordant(0, number - 1)).p * max(pairs, 1) > ALPHA


def test_the_published_number_of_questions_is_found():
    # Miller 2024 (2411.00640), section 5: 969 by the normal distribution, two more by the t distribution.
    assert questions_needed(0.03, ASSUMED_SD) == 971


@pytest.mark.parametrize(
    ("questions", "points"), [(50, 13.5), (100, 9.4), (200, 6.6), (500, 4.2), (1_000, 3.0), (3_000, 1.7)]
)
def test_the_smallest_difference_follows_from_the_number_of_questions(questions, points):
    assert 100 * detectable(questions) == pytest.approx(points, abs=0.05)


@pytest.mark.parametrize("difference", [0.02, 0.1, 0.3, -0.1])
def test_so_many_questions_show_the_difference_and_one_fewer_does_not(difference):
    needed = questions_needed(difference, 0.5)
    assert detectable(needed, 0.5) <= abs(difference) < detectable(needed - 1, 0.5)


def test_what_cannot_be_found_is_not_promised():
    assert questions_needed(0.0) is None
    assert questions_needed(0.1, 0.0) is None
    assert questions_needed(1e-6) is None
    assert math.isnan(detectable(1))
    assert math.isnan(detectable(10, 0.0))
