"""What repeats tell: right at least once in k tries, and right in all k."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.comparison.arms import ARM, Arm, Tallies
from karenina_core.analysis.comparison.significance import question_interval

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = [
    *ARM, "k", "questions", "left_out", "once", "once_low", "once_high", "always", "always_low", "always_high",
]  # fmt: skip


def pass_at_k(tries: Any, right: Any, k: int) -> Any:
    """Return the chance that at least one of k tries is right, from more tries than that, without bias.

    `1 - C(n - c, k) / C(n, k)`: Chen and others 2021 (2107.03374), equation 1.

    Args:
        tries: Tries per question, at least k each.
        right: How many of them were right.
        k: Tries that a user would take.

    Returns:
        One number per question, 0 to 1.
    """
    from scipy.stats import hypergeom

    return hypergeom.sf(0, tries, right, k)


def pass_hat_k(tries: Any, right: Any, k: int) -> Any:
    """Return the chance that all of k tries are right, from more tries than that, without bias.

    `C(c, k) / C(n, k)`: Yao and others 2024 (2406.12045), section 5.

    Args:
        tries: Tries per question, at least k each.
        right: How many of them were right.
        k: Tries that all have to be right.

    Returns:
        One number per question, 0 to 1.
    """
    from scipy.stats import hypergeom

    return hypergeom.pmf(k, tries, right, k)


def most_repeats(counts: Tallies, arms: Sequence[Arm]) -> int:
    """Return the largest number of verdicts that any question has in one of the arms."""
    return max((int(counts[arm]["evaluated"].max()) for arm in arms if arm in counts and len(counts[arm])), default=0)


def repeat_rates(counts: Tallies, arms: Sequence[Arm], most: int = 10) -> pd.DataFrame:
    """Return for every arm and every k how often one try of k, and every try of k, is right.

    Args:
        counts: See `arms.tallies`.
        arms: The arms that take part.
        most: The largest k.

    Returns:
        `run_id`, `answering_model`, `parsing_model`, `k`, `questions` (with k verdicts at least), `left_out`
        (questions with fewer), `once` (pass@k) and `always` (pass^k), each the mean over questions with its 95 %
        interval `_low`, `_high`.
    """
    import pandas as pd

    rows = [
        row
        for arm in arms
        if arm in counts
        for k in range(1, min(most, most_repeats(counts, [arm])) + 1)
        for row in [_row(arm, counts[arm], k)]
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _row(arm: Arm, table: pd.DataFrame, k: int) -> dict[str, Any]:
    enough = table[table["evaluated"] >= k]
    tries, right = enough["evaluated"].to_numpy(), enough["passed"].to_numpy()
    row = {**arm._asdict(), "k": k, "questions": len(enough), "left_out": len(table) - len(enough)}
    for name, chances in (("once", pass_at_k(tries, right, k)), ("always", pass_hat_k(tries, right, k))):
        low, high = question_interval(chances)
        row |= {name: float(chances.mean()) if len(chances) else math.nan, f"{name}_low": low, f"{name}_high": high}
    return row
