"""Which traits say the same: rank correlations between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.groups import keys
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

    return pd.DataFrame(list(_pairs(_means(frame))), columns=_COLUMNS)


def _means(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of every trait, one row per question and model, one column per trait."""
    import numpy as np
    import pandas as pd

    scored = frame[frame["kind"].isin(["llm_score", "llm_binary", "regex"]) & frame["value"].notna()]
    rows, traits = keys(scored, ["question_id", "answering_model"]), keys(scored, ["trait"])
    cells, shape = rows.codes * len(traits) + traits.codes, (len(rows), len(traits))
    sizes = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, scored["value"].to_numpy(), minlength=len(sizes))
    means = np.divide(sums, sizes, out=np.full(len(sizes), math.nan), where=sizes > 0).reshape(shape)
    names = scored["trait"].iloc[traits.first].astype("str")
    return pd.DataFrame(means, columns=names).iloc[:, :MOST_TRAITS]


def _pairs(wide: pd.DataFrame) -> Iterator[dict[str, Any]]:
    from scipy.stats import rankdata

    known = wide.notna()
    # Ranks among all rows; where some lack a value, those of a pair are ranked by themselves.
    ranks = {name: rankdata(wide[name]) for name in wide.columns[known.all()]}
    for first, second in combinations(wide.columns, 2):
        if first in ranks and second in ranks:
            both = ranks[first], ranks[second]
        else:
            rows = known[first] & known[second]
            both = rankdata(wide.loc[rows, first]), rankdata(wide.loc[rows, second])
        correlation, low, high = _correlated(*both)
        row = {"first": str(first), "second": str(second), "n": len(both[0]), "correlation": correlation}
        yield {**row, "low": low, "high": high, "few": len(both[0]) < FEW}


def _correlated(first: Any, second: Any) -> tuple[float, float, float]:
    """Return Spearman's correlation, which is Pearson's of the ranks, and its interval."""
    from scipy.stats import pearsonr

    if len(first) < 2 or first.min() == first.max() or second.min() == second.max():
        return math.nan, math.nan, math.nan
    found = pearsonr(first, second)
    interval = found.confidence_interval(LEVEL)
    return float(found.statistic), float(interval.low), float(interval.high)
