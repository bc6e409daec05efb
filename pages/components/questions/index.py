"""What the list of questions shows and searches, prepared once for every revision of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import BenchmarkQuestion, QuestionState
from pages.components import services
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import short

VIEWS = ("All", "Ready", "Draft", "Issues", "Needs review", "Failing in run")
FAILING = "Failing in run"
_STATES = {"Ready": "ready", "Draft": "draft", "Issues": "issue"}

Failures = Mapping[str, Mapping[str, tuple[int, int]]]
"""How many verdicts failed, and how many there are, by question and answering model; of questions that failed."""


@dataclass(frozen=True)
class Listed:
    """A question in the list.

    Attributes:
        text: One line of its text.
        searched: What a search looks into, in lower case.
        state: Where it stands.
        review: Why a person has to look at its template, one sentence a line; empty where nobody has to.
    """

    id: str
    text: str
    searched: str
    state: QuestionState
    review: str


@dataclass(frozen=True)
class Index:
    """The questions of a benchmark, in their order.

    Attributes:
        questions: By id.
        keywords: All keywords, sorted.
        counts: How many questions each view has; without the one that needs a run.
    """

    questions: Mapping[str, Listed]
    keywords: Sequence[str]
    counts: Mapping[str, int]


@st.cache_resource(max_entries=4, show_spinner="Reading the questions and checking their templates…")
def index(benchmark_id: str, revision: int) -> Index:
    """Return the questions of a stored benchmark as the list needs them."""
    benchmark = benchmark_choice.reading(benchmark_id, revision)
    states = benchmark_choice.checked(benchmark_id, revision).states
    listed = {question.id: _listed(question, states[question.id]) for question in benchmark}
    words = {word for question in benchmark for word in question.keywords}
    counts = {view: sum(_is_in(item, view, {}) for item in listed.values()) for view in VIEWS if view != FAILING}
    return Index(listed, sorted(words, key=str.casefold), counts)


def shown(found: Index, view: str, search: str, failures: Failures) -> list[str]:
    """Return the ids of the questions of a view that hold the searched text, in the order of the benchmark."""
    wanted = search.strip().casefold()
    return [name for name, item in found.questions.items() if wanted in item.searched and _is_in(item, view, failures)]


@st.cache_data(max_entries=8, ttl=60, show_spinner=False)
def failures(run_id: str, counters: tuple[int, ...]) -> Failures:
    """Return what failed in a run; kept for a while, as long as its counters stay the same."""
    return services.store().results.failures(run_id)


def in_words(failed: Mapping[str, tuple[int, int]]) -> str:
    """Say for which models a question failed, and how often."""
    parts = [
        short(model, 60) + (f" ({wrong} of {verdicts})" if verdicts > 1 else "")
        for model, (wrong, verdicts) in sorted(failed.items())
        if wrong
    ]
    return ", ".join(parts)


def total(failed: Mapping[str, tuple[int, int]]) -> str:
    """Say how many of a question's verdicts failed."""
    wrong, verdicts = (sum(numbers[place] for numbers in failed.values()) for place in (0, 1))
    return f"{wrong} of {verdicts}"


def _listed(question: BenchmarkQuestion, state: QuestionState) -> Listed:
    searched = "\n".join([question.question, question.raw_answer, *question.keywords, question.id]).casefold()
    review = str((question.custom_metadata or {}).get(REVIEW_PROPERTY) or "")
    return Listed(question.id, short(question.question, 120), searched, state, review)


def _is_in(item: Listed, view: str, failed: Failures) -> bool:
    if view == FAILING:
        return item.id in failed
    if view == "Needs review":
        return bool(item.review)
    return view == "All" or item.state.state == _STATES[view]
