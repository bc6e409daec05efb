"""Which traits say the same: rank correlations between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.intervals import LEVEL
from karenina_core.analysis.statistics import FEW

if TYPE_CHECKING:
    import pandas as pd

MOST_TRAITS = 15
"""More traits than this make a grid that nobody reads; the first ones are taken."""
SAME = 0.9
"""From this correlation on, two traits hardly tell anything different."""
_COLUMNS = ["first", "second", "n", "correlation", "low", "high", "few"]


def trait_correlations(frame: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's correlation of every two traits, one row per pair.

    Scores are averaged over the repeats and judges of a question and model first, so that repeats do not pretend to
    be new evidence.

    Args:
        frame: A table of `traits_frame`; scores, yes-or-no and pattern traits are compared.

    Returns:
        `first` and `second`, `n` (questions and models with a value of both), `correlation` (-1 to 1, missing where
        one of them never changes), `low` and `high` (95 % interval), `few`.
    """
    import pandas as pd

    scored = frame[frame["kind"].isin(["llm_score", "llm_binary", "regex"]) & frame["value"].notna()]
    means = scored.groupby(["question_id", "answering_model", "trait"], sort=False)["value"].mean()
    wide = means.unstack("trait")
    return pd.DataFrame(list(_pairs(wide.iloc[:, :MOST_TRAITS])), columns=_COLUMNS)


def _pairs(wide: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for first, second in combinations(wide.columns, 2):
        both = wide[[first, second]].dropna()
        correlation, low, high = _spearman(both[first], both[second])
        row = {"first": str(first), "second": str(second), "n": len(both), "correlation": correlation}
        yield {**row, "low": low, "high": high, "few": len(both) < FEW}


def _spearman(first: pd.Series[float], second: pd.Series[float]) -> tuple[float, float, float]:
    from scipy.stats import pearsonr

    if len(first) < 2 or first.nunique() < 2 or second.nunique() < 2:
        return math.nan, math.nan, math.nan
    # Spearman's correlation is Pearson's of the ranks.
    found = pearsonr(first.rank(), second.rank())
    interval = found.confidence_interval(LEVEL)
    return float(found.statistic), float(interval.low), float(interval.high)
