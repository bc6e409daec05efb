import math

import pytest

from karenina_core.analysis import ASSUMED_SD, questions_needed
from karenina_core.analysis.comparison.power import detectable


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


def test_a_difference_far_beyond_its_scatter_takes_a_handful():
    assert questions_needed(1.0, 0.01) == 2
    assert 2 < questions_needed(0.9, 0.3) < 6


def test_what_cannot_be_found_is_not_promised():
    assert questions_needed(0.0) is None
    assert questions_needed(0.1, 0.0) is None
    assert questions_needed(1e-6) is None
    assert math.isnan(detectable(1))
    assert math.isnan(detectable(10, 0.0))
