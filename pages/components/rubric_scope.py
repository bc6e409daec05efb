"""Which rubric is edited: that of all questions, or that of one question."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.schemas.entities.rubric import Rubric, merge_rubrics
from pages.components import benchmark_choice, state
from pages.components.text import short

_SCOPES = {"global": "All questions", "question": "One question"}


@dataclass(frozen=True)
class Scope:
    """A rubric of a benchmark.

    Attributes:
        question_id: Whose rubric it is; None for the rubric of all questions.
        rubric: Its traits, perhaps none.
        inherited: Names of traits that apply as well, from the rubric of all questions.
        replaced: Names of such traits that the question replaces by its own.
    """

    benchmark_id: str
    question_id: str | None
    rubric: Rubric
    inherited: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def draft_prefix(self) -> str:
        """The beginning of the names of its drafts."""
        return f"{self.benchmark_id}/trait/{self.question_id or '*'}/"

    def save(self, rubric: Rubric) -> None:
        """Store the rubric; one without traits is removed.

        Raises:
            InputError: It conflicts with another rubric.
        """
        with benchmark_choice.changing(self.benchmark_id) as benchmark:
            if self.question_id is None and rubric:
                benchmark.set_global_rubric(rubric)
            elif self.question_id is None:
                benchmark.clear_global_rubric()
            elif rubric:
                benchmark.set_question_rubric(self.question_id, rubric)
            else:
                benchmark.remove_question_rubric(self.question_id)


def choose(row: BenchmarkRow, benchmark: Benchmark) -> Scope | None:
    """Draw the choice; None when one question is wanted and there is none."""
    st.session_state["rubric_scope"] = state.selected("scope", _SCOPES)
    scope = st.segmented_control(
        "Applies to",
        list(_SCOPES),
        format_func=_SCOPES.__getitem__,
        required=True,
        key="rubric_scope",
        on_change=lambda: state.choose("scope", st.session_state["rubric_scope"]),
    )
    shared = benchmark.get_global_rubric() or Rubric()
    if scope == "global":
        return Scope(row.id, None, shared)
    ids = benchmark.get_question_ids()
    question_id = state.selected("q", ids)
    if question_id is None:
        return None
    st.session_state["rubric_question"] = question_id
    st.selectbox(
        "Question",
        ids,
        format_func=lambda name: _label(benchmark, name),
        key="rubric_question",
        on_change=lambda: state.choose("q", st.session_state["rubric_question"]),
    )
    own = benchmark.get_question_rubric(question_id) or Rubric()
    traits, replaced = merge_rubrics(shared, own)
    inherited = tuple(trait.name for trait, origin in traits if origin == "global" and trait.type != "stored")
    return Scope(row.id, question_id, own, inherited, tuple(replaced))


def _label(benchmark: Benchmark, name: str) -> str:
    rubric = benchmark.get_question_rubric(name)
    count = f" · {len(rubric.traits)} own" if rubric else ""
    return short(benchmark.get_question(name).question, 100) + count
