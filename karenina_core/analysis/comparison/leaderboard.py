"""Who is ahead, in groups that cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from karenina_core.analysis.comparison.arms import ARM, Arm, Tallies
from karenina_core.analysis.comparison.pairs import Pair, compare_all
from karenina_core.analysis.statistics import pass_rate

if TYPE_CHECKING:
    import pandas as pd

MOST_ARMS = 20
"""More arms than that make hundreds of comparisons, whose correction lets nothing be told."""

Edges = Mapping[Arm, set[Arm]]


def leaderboard(frame: pd.DataFrame, counts: Tallies, arms: Sequence[Arm]) -> pd.DataFrame:
    """Return the arms, the best first, with the groups of those that cannot be told apart.

    Every two arms are tested on the questions that both have a verdict for, corrected by Holm over all of them.

    Args:
        frame: A results table with a column `run_id`.
        counts: Its tallies.
        arms: The arms that take part.

    Returns:
        `run_id`, `answering_model`, `parsing_model`, then of the arm's own answers `passed`, `evaluated`,
        `not_evaluated`, `n`, `questions`, `rate`, `low`, `high` (Wilson) and `few`; `shared_questions` (with a verdict
        in every arm) and `shared_rate` on them, by which the arms are ordered where there are any; `rank` (1 plus the
        arms that are better beyond chance) and `ties` (a letter for each group it belongs to; arms that share a
        letter cannot be told apart).
    """
    import pandas as pd

    chosen = pd.MultiIndex.from_tuples([tuple(arm) for arm in arms], names=ARM)
    # Whether an arm has rows or not, it has a line.
    rates = pass_rate(_rows_of(frame, chosen), ARM).set_index(ARM).reindex(chosen).reset_index()
    shared = shared_questions(counts, arms)
    rates["shared_questions"] = len(shared)
    rates["shared_rate"] = [_shared_rate(counts, arm, shared) for arm in arms]
    pairs = compare_all(counts, arms)
    rates["rank"] = [1 + sum(_beaten_by(arm, pair) for pair in pairs) for arm in arms]
    order = rates.sort_values(["shared_rate", "rate"], ascending=False, na_position="last", kind="stable").index
    best_first = [arms[place] for place in order]
    letters = tie_letters(best_first, pairs)
    table = rates.loc[order].reset_index(drop=True)
    whole = ["passed", "evaluated", "not_evaluated", "n", "questions"]
    table[whole] = table[whole].fillna(0).astype("int64")
    few = table["few"].astype("boolean").fillna(True).astype(bool)
    return table.assign(few=few, ties=[letters[arm] for arm in best_first])


def shared_questions(counts: Tallies, arms: Sequence[Arm]) -> list[str]:
    """Return the questions that every arm has a verdict for."""
    decided = [counts[arm].index[counts[arm]["evaluated"] > 0] if arm in counts else () for arm in arms]
    if not decided:
        return []
    everywhere = set(decided[0]).intersection(*decided[1:])
    return [str(question) for question in decided[0] if question in everywhere]


def tie_letters(best_first: Sequence[Arm], pairs: Collection[Pair]) -> dict[Arm, str]:
    """Return the letters of the groups each arm belongs to; `a` is the group of the best.

    A group holds arms of which no two can be told apart. An arm may belong to several: being indistinguishable from
    one neighbour and from the other does not make the neighbours indistinguishable.
    """
    alike: dict[Arm, set[Arm]] = {arm: set() for arm in best_first}
    for pair in pairs:
        if pair.finding not in ("better", "worse"):
            alike[pair.baseline].add(pair.candidate)
            alike[pair.candidate].add(pair.baseline)
    place = {arm: number for number, arm in enumerate(best_first)}
    groups = sorted(sorted(map(place.__getitem__, group)) for group in _groups(set(), set(best_first), set(), alike))
    return {
        arm: "".join(_letter(number) for number, group in enumerate(groups) if place[arm] in group)
        for arm in best_first
    }


def _groups(inside: set[Arm], possible: set[Arm], done: set[Arm], alike: Edges) -> Iterator[set[Arm]]:
    """Yield the largest sets of mutually alike arms (Bron and Kerbosch's algorithm, with a pivot)."""
    if not possible and not done:
        yield inside
        return
    pivot = max(possible | done, key=lambda arm: len(alike[arm] & possible))
    for arm in possible - alike[pivot]:
        yield from _groups(inside | {arm}, possible & alike[arm], done & alike[arm], alike)
        possible = possible - {arm}
        done = done | {arm}


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"({number + 1})"


def _rows_of(frame: pd.DataFrame, arms: pd.MultiIndex) -> pd.DataFrame:
    import pandas as pd

    return frame[pd.MultiIndex.from_frame(frame[ARM].astype(str)).isin(arms)]


def _shared_rate(counts: Tallies, arm: Arm, shared: Sequence[str]) -> float:
    if not shared:
        return math.nan
    own = counts[arm].loc[list(shared)]
    return float((own["passed"] / own["evaluated"]).mean())


def _beaten_by(arm: Arm, pair: Pair) -> bool:
    return (pair.baseline == arm and pair.finding == "better") or (pair.candidate == arm and pair.finding == "worse")
