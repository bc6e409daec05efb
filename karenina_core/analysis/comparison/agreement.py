"""How far judges agree with each other, with people and with themselves."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from karenina_core.analysis.comparison.ratings import PEOPLE, UNDECIDED
from karenina_core.analysis.intervals import LEVEL, proportion

if TYPE_CHECKING:
    import pandas as pd

FEW = 10
"""Below this number of common ratings an agreement says next to nothing."""

_PAIR = [
    "a",
    "b",
    "n",
    "agreed",
    "share",
    "low",
    "high",
    "kappa",
    "kappa_low",
    "kappa_high",
    "alpha",
    "left_out",
    "few",
]


class Kappa(NamedTuple):
    """Cohen's kappa with its 95 % interval; not numbers where it is 0/0.

    Full agreement has no interval: nothing tells how far it would scatter. Else the interval is the asymptotic one,
    which takes ratings as independent: for few ratings it is rough.
    """

    value: float
    low: float
    high: float


class Consistency(NamedTuple):
    """How often a judge gives repeats of a question the same verdict.

    Attributes:
        judge: Its name.
        same: Questions (of one model) whose repeats all have the same verdict.
        n: Questions with two verdicts at least.
        share: Of the two, 0 to 1, with its 95 % interval.
        low: Lower end.
        high: Upper end.
        alpha: Krippendorff's alpha of the repeats.
    """

    judge: str
    same: int
    n: int
    share: float
    low: float
    high: float
    alpha: float


def agreement(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return how far every two raters agree on what both rated.

    Args:
        ratings: See `ratings`.

    Returns:
        `a`, `b` (people last), `n` (units that both rated with an opinion), `agreed`, `share` with its Wilson
        interval `low` and `high`, `kappa` (Cohen's) with `kappa_low` and `kappa_high`, `alpha` (Krippendorff's, of
        the two), `left_out` (units that both looked at, where one has no opinion), `few`.
    """
    import pandas as pd

    wide = _wide(ratings)
    questions = ratings.groupby("unit", sort=False)["question_id"].first().reindex(wide.index)
    rows = [_pair(wide[[a, b]], questions) for a, b in combinations(raters_of(ratings), 2)]
    return pd.DataFrame(rows, columns=_PAIR)


def raters_of(ratings: pd.DataFrame) -> list[str]:
    """Return the raters in the order in which they appear, people last."""
    names = [str(name) for name in ratings["rater"].unique()]
    return [name for name in names if name != PEOPLE] + [name for name in names if name == PEOPLE]


def kappa(table: pd.DataFrame) -> Kappa:
    """Return Cohen's kappa of a square table of counts, labels of one rater by labels of the other."""
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    total = table.to_numpy(dtype=float).sum()
    expected = float((table.sum(axis=1) * table.sum(axis=0)).sum())
    if not total or expected == total**2:
        return Kappa(math.nan, math.nan, math.nan)
    # Also computes a test, which divides by nothing where no label is common to both; it is not used.
    with np.errstate(divide="ignore", invalid="ignore"):
        found = cohens_kappa(table.to_numpy())
    value, error = float(found.kappa), float(found.std_kappa)
    if not error:
        return Kappa(value, math.nan, math.nan)
    reach = error * _quantile()
    return Kappa(value, max(-1.0, value - reach), min(1.0, value + reach))


def alpha(ratings: pd.DataFrame) -> float:
    """Return Krippendorff's alpha of all raters, whoever rated which unit; for labels without an order.

    Returns:
        1 for full agreement, 0 for what chance gives; not a number when no unit has two opinions, or when there is
        only one opinion in all.
    """
    given = ratings[~ratings["label"].isin(UNDECIDED)]
    counts = given.groupby(["unit", "label"], observed=True).size().unstack(fill_value=0)
    return _alpha(counts[counts.sum(axis=1) > 1])


def cells(ratings: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return how often which label of one rater met which label of another, labels without an opinion included.

    Returns:
        `a_label`, `b_label` and `n`, the most frequent first.
    """
    both = _wide(ratings).reindex(columns=[a, b]).dropna()
    counted = both.groupby([a, b], observed=True).size()
    table = counted.rename_axis(["a_label", "b_label"]).rename("n").reset_index()
    return table[table["n"] > 0].sort_values("n", ascending=False, kind="stable").reset_index(drop=True)


def behind(
    ratings: pd.DataFrame, a: str, b: str, a_label: str | None = None, b_label: str | None = None
) -> pd.DataFrame:
    """Return the evaluations behind a cell.

    Args:
        ratings: See `ratings`.
        a: One rater.
        b: The other.
        a_label: What the one said; with neither label, all on which the two differ.
        b_label: What the other said.

    Returns:
        One row per unit: `question_id`, `run_id`, `item`, `a_result`, `b_result` (result ids), `a_label`, `b_label`.
    """
    sides = [
        ratings[ratings["rater"] == name]
        .drop_duplicates("unit")
        .set_index("unit")[["question_id", "run_id", "item", "result_id", "label"]]
        for name in (a, b)
    ]
    both = sides[0].merge(sides[1][["result_id", "label"]], left_index=True, right_index=True, suffixes=("_a", "_b"))
    if a_label is None and b_label is None:
        kept = both["label_a"] != both["label_b"]
    else:
        kept = (both["label_a"] == a_label) & (both["label_b"] == b_label)
    names = {"result_id_a": "a_result", "result_id_b": "b_result", "label_a": "a_label", "label_b": "b_label"}
    return both[kept].rename(columns=names).reset_index(drop=True)


def consistency(ratings: pd.DataFrame, judge: str) -> Consistency:
    """Return how often repeats got the same verdict.

    Different repeats are different answers, so this is what the model and its judge do together.

    Args:
        ratings: See `ratings.repeat_ratings`.
        judge: The judge's name.
    """
    given = ratings[~ratings["label"].isin(UNDECIDED)]
    units = given.groupby("unit").agg(
        n=("label", "size"), labels=("label", "nunique"), question=("question_id", "first")
    )
    several = units[units["n"] > 1]
    share = proportion((several["labels"] == 1).to_list(), several["question"].to_list())
    return Consistency(judge, share.successes, share.n, share.rate, share.low, share.high, alpha(ratings))


def _wide(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return one row per unit and one column per rater; where a rater speaks twice, the first counts."""
    single = ratings.drop_duplicates(["unit", "rater"])
    return single.pivot(index="unit", columns="rater", values="label").astype(object)


def _pair(wide: pd.DataFrame, questions: pd.Series[str]) -> dict[str, object]:
    a, b = map(str, wide.columns)
    seen = wide.dropna()
    decided = seen[~seen.isin(UNDECIDED).any(axis=1)]
    same = decided[a] == decided[b]
    share = proportion(same.to_list(), questions.loc[decided.index].to_list())
    labels = sorted({*decided[a], *decided[b]})
    table = _crossed(decided, labels)
    both = table.to_numpy()
    value = kappa(table)
    units = {label: (decided == label).sum(axis=1) for label in labels}
    return {
        "a": a,
        "b": b,
        "n": share.n,
        "agreed": share.successes,
        "share": share.rate,
        "low": share.low,
        "high": share.high,
        "kappa": value.value,
        "kappa_low": value.low,
        "kappa_high": value.high,
        "alpha": _alpha(_frame(units)) if both.size else math.nan,
        "left_out": len(seen) - len(decided),
        "few": share.n < FEW,
    }


def _crossed(decided: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    a, b = decided.columns
    counted = decided.groupby([a, b], observed=True).size().unstack(fill_value=0)
    return counted.reindex(index=labels, columns=labels, fill_value=0)


def _frame(columns: dict[str, pd.Series[int]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns)


def _alpha(counts: pd.DataFrame) -> float:
    """Return alpha of a table with one row per unit and one column per label."""
    if counts.shape[1] < 2 or counts.empty:
        return math.nan
    import krippendorff

    return float(krippendorff.alpha(value_counts=counts.to_numpy(), level_of_measurement="nominal"))


def _quantile() -> float:
    from scipy.stats import norm

    return float(norm.ppf((1 + LEVEL) / 2))
