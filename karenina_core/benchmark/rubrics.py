"""The rubrics of a benchmark: one for all questions, and one of each question's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.base import BenchmarkBase, make_rubric
from karenina_core.errors import InputError
from karenina_core.schemas.entities.rubric import AnyTrait, Rubric, merge_rubrics


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
