"""Which trait touches which question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from karenina_core.schemas import AnyTrait, Rubric, StoredTrait

Touch = Literal["global", "own", ""]


class TraitReach(NamedTuple):
    """How far a trait reaches.

    Attributes:
        name: Of the trait.
        kind: `llm`, `regex`, `metric`, or `stored` for one that is kept but not evaluated.
        scope: Whether it belongs to all questions or to single ones.
        questions: How many questions it is evaluated for.
        replaced: How many questions have a trait of that name of their own instead; of global traits only.
    """

    name: str
    kind: str
    scope: Literal["global", "own"]
    questions: int
    replaced: int


@dataclass(frozen=True)
class Coverage:
    """Which trait touches which question; traits that are kept but not evaluated touch none.

    Attributes:
        shared: The traits of all questions.
        own: Those of single questions, by question, for all questions in their order.
    """

    shared: tuple[AnyTrait, ...]
    own: Mapping[str, tuple[AnyTrait, ...]]

    @cached_property
    def reaches(self) -> tuple[TraitReach, ...]:
        """Every trait once: those of all questions first, then those of single ones, the most frequent first."""
        replaced: Counter[str] = Counter()
        touched: Counter[tuple[str, str]] = Counter()
        shared = {trait.name for trait in self.shared}
        for traits in self.own.values():
            replaced.update(shared.intersection(trait.name for trait in traits))
            touched.update((trait.name, trait.type) for trait in traits)
        overall = [
            TraitReach(
                trait.name, trait.type, "global", self._evaluated(trait) * (len(self.own) - replaced[trait.name]),
                replaced[trait.name],
            )
            for trait in self.shared
        ]  # fmt: skip
        single = [
            TraitReach(name, kind, "own", 0 if kind == "stored" else number, 0)
            for (name, kind), number in touched.most_common()
        ]
        return (*overall, *single)

    @cached_property
    def untouched(self) -> tuple[str, ...]:
        """The questions no trait is evaluated for."""
        return tuple(name for name in self.own if not self.names(name))

    def touch(self, question_id: str, name: str) -> Touch:
        """Say by which rubric a trait of that name is evaluated for a question; empty when it is not."""
        own = [trait for trait in self.own[question_id] if trait.name == name]
        if own:
            return "own" if self._evaluated(own[0]) else ""
        return "global" if any(trait.name == name and self._evaluated(trait) for trait in self.shared) else ""

    def names(self, question_id: str) -> list[str]:
        """Return the traits that are evaluated for a question, its own last."""
        own = self.own[question_id]
        taken = {trait.name for trait in own}
        shared = [trait.name for trait in self.shared if trait.name not in taken and self._evaluated(trait)]
        return shared + [trait.name for trait in own if self._evaluated(trait)]

    def replaced(self, question_id: str) -> list[str]:
        """Return the traits of all questions that a question replaces by its own."""
        own = {trait.name for trait in self.own[question_id]}
        return [trait.name for trait in self.shared if trait.name in own]

    @staticmethod
    def _evaluated(trait: AnyTrait) -> bool:
        return not isinstance(trait, StoredTrait)


def coverage_of(shared: Rubric | None, own: Mapping[str, Rubric | None]) -> Coverage:
    """Return the coverage of rubrics.

    Args:
        shared: The rubric of all questions.
        own: The rubric of every question, None for those without one of their own.
    """
    return Coverage(
        tuple(shared.traits if shared else ()),
        {name: tuple(rubric.traits if rubric else ()) for name, rubric in own.items()},
    )
