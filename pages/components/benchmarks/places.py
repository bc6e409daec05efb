"""Everything to be mended in a whole benchmark, each thing once: what the linter found, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from karenina_core.authoring import REVIEW_PROPERTY, BenchmarkFindings, Finding, Severity, lint, lint_benchmark
from karenina_core.benchmark import UNFINISHED, Problem
from pages.components.benchmarks import choice as benchmark_choice

_SEVERITIES: dict[str, Severity] = {"error": "error", "warning": "warning", "info": "hint"}
_ORDER = list(_SEVERITIES.values())
_TRAITS = ("trait", "conflict")
_WORDS = {
    "no_template": "No template",
    "no_answer": "No reference answer",
    "no_text": "No text",
    "empty": "No questions",
    "other": "To be known",
}


@dataclass(frozen=True)
class Place:
    """A finding and where it is.

    Attributes:
        question_id: The question; None for the global rubric and the benchmark as a whole.
        in_rubric: Whether it is about a trait.
        finding: What it is.
        on_whole: Whether it is about the benchmark as a whole.
    """

    question_id: str | None
    in_rubric: bool
    finding: Finding
    on_whole: bool = False

    @property
    def key(self) -> str:
        """What identifies it among the findings of the benchmark."""
        return f"{self.question_id}/{self.in_rubric}/{self.finding.code}/{self.finding.field}/{self.finding.what}"


@st.cache_resource(max_entries=8, show_spinner=False)
def found(benchmark_id: str, revision: int) -> BenchmarkFindings:
    """Return the findings of a stored benchmark."""
    return lint_benchmark(benchmark_choice.reading(benchmark_id, revision), lint_template=_linted)


# After an edit of one question, the templates of all others need no second look.
@lru_cache(maxsize=20_000)
def _linted(source: str, *, question: str, reference_answer: str, config: None) -> tuple[Finding, ...]:
    return tuple(lint(source, question=question, reference_answer=reference_answer))


def places(findings: BenchmarkFindings, problems: Sequence[Problem]) -> list[Place]:
    """Return what is to be mended, the gravest first. That questions are unfinished is left to the button for it."""
    every = [*_of_linter(findings), *_of_check(findings, problems)]
    return sorted(every, key=lambda place: _ORDER.index(place.finding.severity))


def checked(benchmark_id: str, revision: int) -> list[str]:
    """Return the unfinished questions in which nothing but hints was found, and that a run can evaluate."""
    benchmark = benchmark_choice.reading(benchmark_id, revision)
    states = benchmark_choice.checked(benchmark_id, revision).states
    findings = found(benchmark_id, revision).questions
    return [
        question.id
        for question in benchmark
        if states[question.id].obstacles == (UNFINISHED,)
        and (question.id not in findings or findings[question.id].worst == "hint")
        and not (question.custom_metadata or {}).get(REVIEW_PROPERTY)
    ]


def in_words(code: str) -> str:
    """Return the short name of a kind of finding for people."""
    return _WORDS.get(code) or code.replace("_", " ").capitalize()


def _of_linter(findings: BenchmarkFindings) -> Iterator[Place]:
    yield from (Place(None, True, finding) for finding in findings.rubric)
    for name, of_question in findings.questions.items():
        yield from (Place(name, False, finding) for finding in of_question.template)
        yield from (Place(name, True, finding) for finding in of_question.rubric)


def _of_check(findings: BenchmarkFindings, problems: Sequence[Problem]) -> Iterator[Place]:
    for problem in problems:
        if problem.code == "unfinished" or (problem.code == "template" and _told(findings, problem)):
            continue
        about_trait = problem.code in _TRAITS
        finding = Finding(
            problem.code,
            _SEVERITIES[problem.severity],
            problem.where.rpartition(", trait ")[2] if problem.code == "trait" else None,
            problem.what,
            "",
            problem.next,
            line=problem.line,
        )
        yield Place(problem.question_id, about_trait, finding, problem.question_id is None and not about_trait)


def _told(findings: BenchmarkFindings, problem: Problem) -> bool:
    """Say whether the linter says of the same template that it cannot be read."""
    of_question = findings.questions.get(problem.question_id or "")
    return of_question is not None and bool(of_question.template)
