"""Is a difference between paired questions real: intervals, tests, corrections and power, all from libraries.

What is passed in are differences per question, so repeats of a question never count as new evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.statistics import LEVEL, mean_interval

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 1 - LEVEL
FEWEST = 6  # differing questions; six of six have a chance of 1 in 32, five of five 1 in 16, which shows nothing
MOST_BOOTSTRAPPED = 1_000  # questions; above, the mean is as good as normal, and the t interval is the bootstrap's
MOST_PERMUTED = 200  # differing questions; above, the t test gives what the permutation test gives
RESAMPLES = 9_999
SEED = 20_240_501  # the same data give the same interval every time
POWER = 0.8
ASSUMED_SD = 1 / 3  # of differences where nothing is known: a variance of 1/9, as Miller 2024 (2411.00640) plans
_MOST_QUESTIONS = 1_000_000  # a difference that needs more is too small to look for
_AT_ONCE = 2_000_000  # numbers held while resampling


class TestResult(NamedTuple):
    """The outcome of a test.

    Attributes:
        p: Chance of a difference at least this large, either way, if there were none; not a number without data.
        name: Which test it was.
    """

    p: float
    name: str


def question_interval(values: Any, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of a mean over questions: bootstrap over questions, bias-corrected and accelerated.

    Args:
        values: One number per question, such as a paired difference or a share of right answers.
        level: How often such intervals hold the true mean, 0 to 1.

    Returns:
        Both ends; not numbers when fewer than two values differ, for then nothing tells how far they scatter.
    """
    import numpy as np

    sample = np.asarray(values, dtype=float)
    if len(np.unique(sample)) < 2:
        return math.nan, math.nan
    if len(sample) > MOST_BOOTSTRAPPED:
        return mean_interval(sample.tolist(), level)
    from scipy.stats import bootstrap

    low, high = bootstrap(
        (sample,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(SEED),
        batch=_AT_ONCE // len(sample),
    ).confidence_interval
    return float(low), float(high)


def joint_level(pairs: int) -> float:
    """Return the level at which each of several intervals is, so that all hold together as often as one of 95 % does.

    Args:
        pairs: How many there are (Bonferroni); 0 counts as 1.
    """
    return 1 - ALPHA / max(pairs, 1)


def fewest(pairs: int) -> int:
    """Return how many questions must differ, all in one direction, for the exact test to show a difference.

    Args:
        pairs: How many comparisons are judged together, this one as the strictest (Bonferroni, the first step of
            Holm); 0 counts as 1.
    """
    return next(number for number in range(1, 64) if 2 * 0.5**number * max(pairs, 1) <= ALPHA)


def holm(chances: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm for being several; those that are no numbers stay so and are not counted."""
    from statsmodels.stats.multitest import multipletests

    known = [chance for chance in chances if not math.isnan(chance)]
    corrected = iter(multipletests(known, alpha=ALPHA, method="holm")[1].tolist() if known else ())
    return [math.nan if math.isnan(chance) else float(next(corrected)) for chance in chances]


def paired_test(questions: pd.DataFrame) -> TestResult:
    """Return the test of no difference: exact McNemar for one answer each, else a permutation test of questions.

    Args:
        questions: The table of `comparison.Matched`.
    """
    if questions.empty:
        return TestResult(math.nan, "no test")
    single = (questions[["baseline_evaluated", "candidate_evaluated"]] == 1).all(axis=None)
    return _mcnemar(questions) if single else _permutation(questions["difference"])


def _mcnemar(questions: pd.DataFrame) -> TestResult:
    from statsmodels.stats.contingency_tables import mcnemar

    before, after = questions["baseline_passed"] == 1, questions["candidate_passed"] == 1
    table = [[(before & after).sum(), (before & ~after).sum()], [(~before & after).sum(), (~before & ~after).sum()]]
    # Without any disagreement the library divides nothing by nothing; the chance is 1.
    p = float(mcnemar(table, exact=True).pvalue) if (before != after).any() else 1.0
    return TestResult(p, "exact McNemar test")


def _permutation(differences: pd.Series[float]) -> TestResult:
    import numpy as np
    from scipy.stats import permutation_test, ttest_1samp

    # Changing the sign of no difference changes nothing; without those, the test is exact more often.
    some = differences[differences != 0].to_numpy(dtype=float)
    if len(some) > MOST_PERMUTED:
        return TestResult(float(ttest_1samp(differences, 0).pvalue), "paired t test over questions")
    if len(some) < 2:
        return TestResult(1.0, "permutation test")
    found = permutation_test(
        (some,),
        np.sum,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
        batch=_AT_ONCE // len(some),
        vectorized=True,
    )
    return TestResult(min(1.0, float(found.pvalue)), "permutation test")


def questions_needed(difference: float, scatter: float = ASSUMED_SD) -> int | None:
    """Return how many matched questions show a difference of this size four times out of five (paired t test).

    Args:
        difference: Between the rates, -1 to 1.
        scatter: Standard deviation of the differences per question.

    Returns:
        The number, at least 2; None when there is no difference or scatter, or when it would take over a million.
    """
    from statsmodels.stats.power import TTestPower

    if not difference or not scatter or math.isnan(difference) or math.isnan(scatter):
        return None
    effect, power = abs(difference) / scatter, TTestPower()
    if power.power(effect, _MOST_QUESTIONS, ALPHA) < POWER:
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
