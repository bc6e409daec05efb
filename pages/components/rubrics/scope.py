"""Which rubric is edited: that of all questions, or that of one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.schemas import AnyTrait, Rubric, merge_rubrics
from karenina_core.text import counted, first_free
from pages.components import forms, services
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import distinct, short

_SCOPES = {"global": "All questions", "question": "One question"}


@dataclass(frozen=True)
class Scope:
    """A rubric of a benchmark.

    Attributes:
        benchmark_id: The stored benchmark.
        benchmark_name: Its name.
        question_id: Whose rubric it is; None for the rubric of all questions.
        question: The text of that question; empty for all of them.
        rubric: Its traits, perhaps none.
        shared: The traits of all questions, where the rubric is that of one.
        inherited: Names of traits that apply as well, from the rubric of all questions.
        replaced: Names of such traits that the question replaces by its own.
    """

    benchmark_id: str
    benchmark_name: str
    question_id: str | None
    question: str
    rubric: Rubric
    shared: tuple[AnyTrait, ...] = ()
    inherited: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def draft_prefix(self) -> str:
        """The beginning of the names of its drafts."""
        return f"{self.benchmark_id}/trait/{self.question_id or '*'}/"

    def save(self, traits: Sequence[AnyTrait], new_names: Iterable[str] = ()) -> None:
        """Store these traits as the rubric; one without traits is removed.

        Args:
            traits: All of them.
            new_names: Names that are new to it.

        Raises:
            InputError: A new name is used already, or a trait is not valid.
        """
        with benchmark_choice.changing(self.benchmark_id) as benchmark:
            for name in new_names:
                benchmark.check_trait_name(name, self.question_id)
            before = self._of(benchmark)
            rubric = Rubric(name=before.name, description=before.description, traits=list(traits))
            if self.question_id is None and rubric:
                benchmark.set_global_rubric(rubric)
            elif self.question_id is None:
                benchmark.clear_global_rubric()
            elif rubric:
                benchmark.set_question_rubric(self.question_id, rubric)
            else:
                benchmark.remove_question_rubric(self.question_id)

    def now(self) -> list[AnyTrait]:
        """Return the traits as they are stored at this moment."""
        row = services.store().benchmarks.row(self.benchmark_id)
        return list(self._of(benchmark_choice.reading(row.id, row.revision)).traits)

    def copies(self, traits: Iterable[AnyTrait]) -> list[AnyTrait]:
        """Return copies of traits to add; one whose name is used already gets another name."""
        used = {trait.name for trait in (*self.now(), *self.shared)}
        copies: list[AnyTrait] = []
        for trait in traits:
            free = trait.name not in used
            name = trait.name if free else first_free(partial("{} {}".format, trait.name), used, start=2)
            used.add(name)
            copies.append(trait.model_copy(deep=True, update={"name": name}))
        return copies

    def _of(self, benchmark: Benchmark) -> Rubric:
        if self.question_id is None:
            return benchmark.get_global_rubric() or Rubric()
        return benchmark.get_question_rubric(self.question_id) or Rubric()


def choose(row: BenchmarkRow, benchmark: Benchmark, label: str) -> Scope | None:
    """Draw the choice; None when one question is wanted and there is none.

    Args:
        row: The benchmark.
        benchmark: Read from it.
        label: Of the choice.
    """
    shared = benchmark.get_global_rubric() or Rubric()
    if forms.linked("scope", label, _SCOPES, few=True) == "global":
        return Scope(row.id, row.name, None, "", shared)
    question_id = forms.linked("q", "Question", _labels(row.id, row.revision), what="question")
    if question_id is None:
        return None
    own = benchmark.get_question_rubric(question_id) or Rubric()
    traits, replaced = merge_rubrics(shared, own)
    inherited = tuple(trait.name for trait, origin in traits if origin == "global" and trait.type != "stored")
    text = benchmark.get_question(question_id).question
    return Scope(row.id, row.name, question_id, text, own, tuple(shared.traits), inherited, tuple(replaced))


@st.cache_resource(max_entries=8, show_spinner=False)
def _labels(benchmark_id: str, revision: int) -> Mapping[str, str]:
    benchmark = benchmark_choice.reading(benchmark_id, revision)

    def label(name: str) -> str:
        rubric = benchmark.get_question_rubric(name)
        own = f" · {counted(len(rubric.traits), 'own trait')}" if rubric else ""
        return short(benchmark.get_question(name).question, 100) + own

    return distinct(benchmark.get_question_ids(), label)
