"""The rubrics of a benchmark: one for all questions, and one of each question's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.base import BenchmarkBase, make_rubric
from karenina_core.benchmark.coverage import Coverage, coverage_of
from karenina_core.errors import InputError
from karenina_core.schemas import AnyTrait, Rubric, merge_rubrics


class RubricMethods(BenchmarkBase):
    """Setting and reading rubrics. Rubrics go in and out as copies."""

    def set_global_rubric(self, rubric: Rubric | Mapping[str, Any]) -> None:
        """Set the traits that are evaluated for every question.

        Raises:
            InputError: Trait names are repeated, or a trait is not valid.
        """
        self._contents.rubric = make_rubric(rubric)
        self._touch()

    def get_global_rubric(self) -> Rubric | None:
        """Return the traits that are evaluated for every question, None when there are none."""
        return _copy(self._contents.rubric)

    def clear_global_rubric(self) -> bool:
        """Remove the global rubric; False when there was none."""
        had_one = self._contents.rubric is not None
        self._contents.rubric = None
        self._touch()
        return had_one

    def add_global_rubric_trait(self, trait: AnyTrait) -> None:
        """Add one trait to the global rubric.

        Raises:
            InputError: A trait of that name is there already.
        """
        self._contents.rubric = _with(self._contents.rubric, trait)
        self._touch()

    def set_question_rubric(self, question_id: str, rubric: Rubric | Mapping[str, Any]) -> None:
        """Set a question's own traits.

        Raises:
            InputError: There is no such question, trait names are repeated, or a trait is not valid.
        """
        self._set_rubric(self._entry(question_id), make_rubric(rubric))

    def get_question_rubric(self, question_id: str) -> Rubric | None:
        """Return a question's own traits, None when it has none."""
        return _copy(self._entry(question_id).rubric)

    def get_merged_rubric_for_question(self, question_id: str) -> Rubric | None:
        """Return the traits that apply to a question: the global ones and its own, which win where names meet."""
        traits, _ = merge_rubrics(self._contents.rubric, self._entry(question_id).rubric)
        return _copy(Rubric(traits=[trait for trait, _ in traits])) if traits else None

    def add_question_rubric_trait(self, question_id: str, trait: AnyTrait) -> None:
        """Add one trait to a question's own rubric.

        Raises:
            InputError: There is no such question, or a trait of that name is there already.
        """
        entry = self._entry(question_id)
        self._set_rubric(entry, _with(entry.rubric, trait))

    def remove_question_rubric(self, question_id: str) -> bool:
        """Remove a question's own rubric; False when it has none."""
        entry = self._entry(question_id)
        if entry.rubric is None:
            return False
        self._set_rubric(entry, None)
        return True

    def all_traits(self) -> list[AnyTrait]:
        """Return the global traits, then those of single questions; of several with one name, the first."""
        rubrics = [self._contents.rubric, *(entry.rubric for entry in self._contents.entries.values())]
        named: dict[str, AnyTrait] = {}
        for rubric in rubrics:
            for trait in rubric.traits if rubric else ():
                named.setdefault(trait.name, trait)
        return [trait.model_copy(deep=True) for trait in named.values()]

    def trait_coverage(self) -> Coverage:
        """Return which trait touches which question."""
        rubrics = {name: _copy(entry.rubric) for name, entry in self._contents.entries.items()}
        return coverage_of(_copy(self._contents.rubric), rubrics)

    def check_trait_name(self, name: str, question_id: str | None = None) -> None:
        """Make sure that a new trait may have a name: results are kept by it, whatever the kind of the trait.

        Files may hold rubrics that share names; there the trait of the question is evaluated.

        Args:
            name: Of the new trait.
            question_id: The question it is for; all questions when not given.

        Raises:
            InputError: The rubric it is for, or one that is evaluated beside it, has a trait of that name.
        """
        next_step = "Choose another name, or edit that trait."
        shared = self._contents.rubric is not None and self._contents.rubric.trait(name) is not None
        if question_id is not None:
            own = self._entry(question_id).rubric
            if own is not None and own.trait(name):
                raise InputError(f"This question has a trait {name!r} already.", next=next_step)
            if shared:
                why = "Of two traits with one name only the question's own would be evaluated."
                raise InputError(f"A trait of all questions is named {name!r}.", why, next_step)
            return
        if shared:
            raise InputError(f"The rubric of all questions has a trait {name!r} already.", next=next_step)
        entries = self._contents.entries.values()
        owners = [entry.question.question for entry in entries if entry.rubric is not None and entry.rubric.trait(name)]
        if owners:
            whose = f"{owners[0][:80]!r}" if len(owners) == 1 else f"{len(owners)} questions"
            why = "It would not be evaluated there, because a question's own trait comes first."
            raise InputError(f"A trait of {whose} is named {name!r}.", why, next_step)

    def clear_all_rubrics(self) -> int:
        """Remove the global rubric and those of all questions, and return how many there were."""
        removed = sum(self.remove_question_rubric(question_id) for question_id in list(self._contents.entries))
        return removed + self.clear_global_rubric()


def _copy(rubric: Rubric | None) -> Rubric | None:
    return None if rubric is None else rubric.model_copy(deep=True)


def _with(rubric: Rubric | None, trait: AnyTrait) -> Rubric | None:
    if rubric is not None and rubric.trait(trait.name):
        raise InputError(f"The rubric has a trait {trait.name!r} already.", next="Choose another name.")
    data = rubric.model_dump() if rubric is not None else {"traits": []}
    return make_rubric({**data, "traits": [*data["traits"], trait.model_dump()]})
