"""Is a difference between paired questions real: intervals, tests and corrections, all from libraries.

What is passed in are differences per question, so repeats of a question never count as new evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.intervals import LEVEL, mean_interval

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 1 - LEVEL
FEWEST = 6
"""Fewer questions with a difference can never show one: six of six have a chance of 1 in 32, five of five 1 in 16."""

RESAMPLES = 9_999
SEED = 20_240_501  # the same data give the same interval every time
MOST_BOOTSTRAPPED = 1_000
"""Above this many questions the mean is as good as normal, and the t interval is the bootstrap's."""

MOST_PERMUTED = 200
"""Above this many questions with a difference the t test gives what the permutation test gives."""

_AT_ONCE = 2_000_000  # numbers held while resampling


class Test(NamedTuple):
    """The outcome of a test.

    Attributes:
        p: Chance of a difference at least this large, either way, if there were none; not a number without data.
        name: Which test it was.
    """

    p: float
    name: str


def question_interval(values: Any) -> tuple[float, float]:
    """Return the 95 % interval of a mean over questions: bootstrap over questions, bias-corrected and accelerated.

    Args:
        values: One number per question, such as a paired difference or a share of right answers.

    Returns:
        Both ends; not numbers when fewer than two values differ, for then nothing tells how far they scatter.
    """
    return question_intervals(values, [LEVEL])[0]


def question_intervals(values: Any, levels: Sequence[float]) -> list[tuple[float, float]]:
    """Return the intervals of `question_interval` at several levels, from the same samples.

    Args:
        values: One number per question.
        levels: How often such intervals hold the true mean, 0 to 1 each.
    """
    import numpy as np

    sample = np.asarray(values, dtype=float)
    if len(np.unique(sample)) < 2:
        return [(math.nan, math.nan)] * len(levels)
    if len(sample) > MOST_BOOTSTRAPPED:
        return [mean_interval(sample.tolist(), level) for level in levels]
    from scipy.stats import bootstrap

    intervals, found = [], None
    for level in levels:
        found = bootstrap(
            (sample,),
            np.mean,
            n_resamples=RESAMPLES if found is None else 0,
            bootstrap_result=found,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(SEED),
            batch=_AT_ONCE // len(sample),
        )
        low, high = found.confidence_interval
        intervals.append((float(low), float(high)))
    return intervals


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


def paired_test(questions: pd.DataFrame) -> Test:
    """Return the test of no difference: exact McNemar for one answer each, else a permutation test of questions.

    Args:
        questions: The table of `comparison.Matched`.
    """
    if questions.empty:
        return Test(math.nan, "no test")
    single = (questions[["baseline_evaluated", "candidate_evaluated"]] == 1).all(axis=None)
    return _mcnemar(questions) if single else _permutation(questions["difference"])


def holm(chances: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm for being several; those that are no numbers stay so and are not counted."""
    from statsmodels.stats.multitest import multipletests

    known = [chance for chance in chances if not math.isnan(chance)]
    corrected = iter(multipletests(known, alpha=ALPHA, method="holm")[1].tolist() if known else ())
    return [math.nan if math.isnan(chance) else float(next(corrected)) for chance in chances]


def _mcnemar(questions: pd.DataFrame) -> Test:
    from statsmodels.stats.contingency_tables import mcnemar

    before, after = questions["baseline_passed"] == 1, questions["candidate_passed"] == 1
    table = [[(before & after).sum(), (before & ~after).sum()], [(~before & after).sum(), (~before & ~after).sum()]]
    # Without any disagreement the library divides nothing by nothing; the chance is 1.
    p = float(mcnemar(table, exact=True).pvalue) if (before != after).any() else 1.0
    return Test(p, "exact McNemar test")


def _permutation(differences: pd.Series[float]) -> Test:
    import numpy as np
    from scipy.stats import permutation_test, ttest_1samp

    # Changing the sign of no difference changes nothing; without those, the test is exact more often.
    some = differences[differences != 0].to_numpy(dtype=float)
    if not len(some):
        return Test(1.0, "permutation test")
    if len(some) > MOST_PERMUTED:
        return Test(float(ttest_1samp(differences, 0).pvalue), "paired t test over questions")
    if len(some) == 1:
        return Test(1.0, "permutation test")
    found = permutation_test(
        (some,),
        np.sum,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
        batch=_AT_ONCE // len(some),
        vectorized=True,
    )
    return Test(min(1.0, float(found.pvalue)), "permutation test")
