"""Shares and means with 95 % intervals, clustered by question where questions repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

LEVEL = 0.95


class Proportion(NamedTuple):
    """A share of successes with its Wilson interval; not numbers when there is nothing to share.

    Attributes:
        successes: Rows that succeeded.
        n: All rows.
        rate: Their share, 0 to 1.
        low: Lower end of the interval.
        high: Upper end.
    """

    successes: int
    n: int
    rate: float
    low: float
    high: float


def proportion(outcomes: Sequence[bool], questions: Sequence[str] = ()) -> Proportion:
    """Return a share with its interval.

    Repeated answers to the same question resemble each other, so they count for less than as many questions:
    the interval is Wilson's for the effective sample size, which follows from the standard error clustered by
    question. Where every question occurs once this is the plain Wilson interval.

    Args:
        outcomes: True for a success.
        questions: The question of each outcome; without it every outcome stands for itself.
    """
    import numpy as np

    n, successes = len(outcomes), int(np.sum(outcomes))
    if not n:
        return Proportion(0, 0, math.nan, math.nan, math.nan)
    low, high = wilson([successes / n], [effective_size(outcomes, questions)])
    return Proportion(successes, n, successes / n, float(low[0]), float(high[0]))


def wilson(rates: Any, sizes: Any) -> tuple[Any, Any]:
    """Return the lower and upper ends of the Wilson score intervals of shares.

    Args:
        rates: The shares, 0 to 1; not a number where there is none.
        sizes: The numbers of rows they were observed in.

    Returns:
        Two arrays, not numbers where there is no share.
    """
    import numpy as np
    from statsmodels.stats.proportion import proportion_confint

    shares, rows = np.asarray(rates, dtype=float), np.asarray(sizes, dtype=float)
    low, high = np.full(shares.shape, math.nan), np.full(shares.shape, math.nan)
    known = rows > 0
    if known.any():
        low[known], high[known] = proportion_confint(
            shares[known] * rows[known], rows[known], alpha=1 - LEVEL, method="wilson"
        )
    return low, high


def mean_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return the t interval of a mean.

    Not numbers when there are fewer than two values or all are equal: then nothing tells how far they scatter.

    Args:
        values: The values.
        level: How often such intervals hold the true mean, 0 to 1.
    """
    if len(set(values)) < 2:
        return math.nan, math.nan
    from statsmodels.stats.weightstats import DescrStatsW

    low, high = DescrStatsW(list(values)).tconfint_mean(alpha=1 - level)
    return float(low), float(high)


def effective_size(outcomes: Sequence[bool], questions: Sequence[str]) -> float:
    """Return how many independent rows the outcomes are worth, at most as many as there are."""
    import numpy as np

    n, distinct = len(outcomes), len(np.unique(np.asarray(questions)))
    if distinct in (0, 1, n):
        # One question only: its repetitions are what is asked about, and they are independent.
        return n
    rate = float(np.sum(outcomes)) / n
    if rate in (0, 1):
        # Without any variation nothing tells how alike the repetitions are: only questions count.
        return distinct
    error = _clustered_error(outcomes, questions)
    return min(float(n), rate * (1 - rate) / error**2) if error > 0 else n


def _clustered_error(outcomes: Sequence[bool], questions: Sequence[str]) -> float:
    import numpy as np
    from statsmodels.regression.linear_model import OLS

    groups = np.unique(np.asarray(questions), return_inverse=True)[1]
    fit = OLS(np.asarray(outcomes, dtype=float), np.ones(len(outcomes))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    return float(fit.bse[0])
