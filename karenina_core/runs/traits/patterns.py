"""A pattern trait over stored answers: which match, and how many of each model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from karenina_core import patterns
from karenina_core.errors import InputError
from karenina_core.runs.reverification import RunAnswer
from karenina_core.schemas import ManualRubricTrait

BUDGET_SECONDS = 5.0
"""For all answers together; a person waits for it."""


class Searched(NamedTuple):
    """An answer that was searched.

    Attributes:
        spans: Start and end of every match.
        passes: Whether the trait holds.
    """

    answer: RunAnswer
    spans: tuple[tuple[int, int], ...]
    passes: bool


class PatternReport(NamedTuple):
    """What became of a search.

    Attributes:
        searched: The answers that were searched, in their order.
        total: How many there are.
        problem: Why the others were not; often empty.
    """

    searched: tuple[Searched, ...]
    total: int
    problem: str

    def by_model(self) -> dict[str, list[Searched]]:
        """Return the searched answers of every model."""
        found: dict[str, list[Searched]] = {}
        for item in self.searched:
            found.setdefault(item.answer.model, []).append(item)
        return found


def flags_of(trait: ManualRubricTrait) -> tuple[str, ...]:
    """Return the flags a trait's pattern is searched with."""
    return () if trait.case_sensitive else ("IGNORECASE",)


def search_answers(
    trait: ManualRubricTrait, answers: Iterable[RunAnswer], clock: Callable[[], float] = time.monotonic
) -> PatternReport:
    """Search answers for a trait's pattern, as a run would, and stop when that takes too long.

    Args:
        trait: The trait.
        answers: The answers.
        clock: Seconds.
    """
    waiting, begun = list(answers), clock()
    searched: list[Searched] = []
    for answer in waiting:
        if clock() - begun > BUDGET_SECONDS:
            why = f"The search was stopped after {BUDGET_SECONDS:g} s."
            return PatternReport(tuple(searched), len(waiting), why)
        try:
            spans = patterns.spans(trait.pattern, answer.text, flags_of(trait))
        except InputError as error:
            return PatternReport(tuple(searched), len(waiting), str(error))
        searched.append(Searched(answer, tuple(spans), bool(spans) != trait.invert))
    return PatternReport(tuple(searched), len(waiting), "")
