"""How many questions it takes to tell two models apart, by the power of the paired t test."""

from __future__ import annotations

import math

from karenina_core.analysis.comparison.significance import ALPHA

POWER = 0.8
ASSUMED_SD = 1 / 3
"""Scatter of paired differences where nothing is known yet: a variance of 1/9, as Miller 2024 (2411.00640) plans."""

MOST = 1_000_000
"""Nobody asks more questions than that; a difference that needs more is too small to look for."""


def questions_needed(difference: float, scatter: float = ASSUMED_SD) -> int | None:
    """Return how many matched questions show a difference of this size four times out of five.

    Args:
        difference: Between the rates, -1 to 1.
        scatter: Standard deviation of the differences per question.

    Returns:
        The number, at least 2; None when there is no difference or scatter, or when it would take over a million.
    """
    from statsmodels.stats.power import TTestPower

    if not difference or not scatter or math.isnan(difference) or math.isnan(scatter):
        return None
    effect = abs(difference) / scatter
    power = TTestPower()
    if power.power(effect, MOST, ALPHA) < POWER:
        return None
    if power.power(effect, 2, ALPHA) >= POWER:
        return 2
    return math.ceil(float(power.solve_power(effect_size=effect, alpha=ALPHA, power=POWER)))


def detectable(questions: int, scatter: float = ASSUMED_SD) -> float:
    """Return the smallest difference between rates that so many matched questions show four times out of five.

    Args:
        questions: Matched questions.
        scatter: Standard deviation of the differences per question.

    Returns:
        A difference of 0 to 1; not a number with fewer than two questions, or without scatter.
    """
    from statsmodels.stats.power import TTestPower

    if questions < 2 or not scatter or math.isnan(scatter):
        return math.nan
    effect = float(TTestPower().solve_power(nobs=questions, alpha=ALPHA, power=POWER))
    return min(1.0, effect * scatter)
