"""Which two arms are put side by side before anybody has chosen.

Runs that were made from each other have the same answers, so that what people want to see is what became of one model
between them. Of other runs it is the first two models.
"""

from __future__ import annotations

from collections.abc import Sequence

from karenina_core.analysis.comparison.arms import Arm

Families = Sequence[Sequence[str]]
"""Ids of runs that were made from each other, the oldest first in each family."""


def baselines(arms: Sequence[Arm], families: Families) -> list[Arm]:
    """Return arms in the order in which they are proposed as baseline.

    Those that a later revision has too come first, the oldest run before others.

    Args:
        arms: The arms that take part.
        families: Revisions of the same run.
    """
    last = max(map(len, families), default=0)

    def place(arm: Arm) -> int:
        age = _age(arm, arm, families)
        return age if any(_age(other, arm, families) > age for other in arms) else last

    return sorted(arms, key=place)


def candidates(baseline: Arm, arms: Sequence[Arm], families: Families) -> list[Arm]:
    """Return the other arms in the order in which they are proposed as candidate: the latest revision comes first.

    Args:
        baseline: What they are compared with.
        arms: The arms that take part.
        families: Revisions of the same run.
    """
    return sorted((arm for arm in arms if arm != baseline), key=lambda arm: -_age(arm, baseline, families))


def _age(arm: Arm, like: Arm, families: Families) -> int:
    """Return how many revisions came before an arm that is the same model and judge as another; -1 where it is not."""
    if arm[1:] != like[1:]:
        return -1
    return next((family.index(arm.run_id) for family in families if {arm.run_id, like.run_id} <= set(family)), -1)
