"""`review`: whether a draft of a template may be used as it is, or a person has to look at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karenina_core.authoring.linter.finding import Finding
from karenina_core.authoring.linter.lint import lint
from karenina_core.authoring.near_misses import Case, near_misses
from karenina_core.authoring.question_words import read_notes
from karenina_core.authoring.subject import Subject
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError

REVIEW_PROPERTY = "template_needs_review"
"""The custom property of a question whose template a person has to look at; holds the reasons, one a line."""


@dataclass(frozen=True)
class Review:
    """What the linter and the self-test say of a draft.

    Attributes:
        findings: What the linter found.
        cases: The rows of the self-test; none where there is nothing to test.
        reservations: What the drafting itself is not sure of.
    """

    findings: tuple[Finding, ...]
    cases: tuple[Case, ...] = ()
    reservations: tuple[str, ...] = ()

    @property
    def reasons(self) -> list[str]:
        """Why a person has to look at it, one sentence each; hints are no reason."""
        found = [
            f"{finding.field}: {finding.what}" if finding.field else finding.what
            for finding in self.findings
            if finding.severity != "hint"
        ]
        tested = [
            f"{case.field}: {case.label} should {case.expected}, but the verdict is {case.verdict}."
            for case in self.cases
            if case.surprising
        ]
        return [*self.reservations, *found, *tested]

    @property
    def failed(self) -> bool:
        """Whether it decides wrongly as it stands: a finding that is an error, or a surprise of the self-test."""
        errors = any(finding.severity == "error" for finding in self.findings)
        return errors or any(case.surprising for case in self.cases)

    @property
    def needs_review(self) -> bool:
        """Whether a person has to look at it."""
        return bool(self.reasons)


def review(
    template: Subject,
    *,
    question: str | None = None,
    reference_answer: str | None = None,
    notes: str | None = None,
    reservations: Sequence[str] = (),
) -> Review:
    """Return what the linter and the self-test say of a draft. No model is asked, and no code of it is run.

    Args:
        template: The draft, readable or not.
        question: The text of the question.
        reference_answer: What people know to be true.
        notes: Remarks on edge cases; answers that they accept or reject are tried.
        reservations: What whoever drafted it is not sure of.
    """
    findings = lint(template, question=question, reference_answer=reference_answer)
    said = read_notes(notes)
    try:
        cases = near_misses(template, accepted=said.accepted, rejected=said.rejected)
    except InputError:
        cases = []
    return Review(tuple(findings), tuple(cases), tuple(reservations))


def add_draft(benchmark: Benchmark, question_id: str, source: str, reviewed: Review | None) -> None:
    """Give a question a drafted template, marked where a person has to look at it.

    The question of a draft that failed takes no part in runs until somebody marks it finished.

    Args:
        benchmark: Gets the template.
        question_id: The question.
        source: The draft.
        reviewed: What `review` said of it; None marks nothing.

    Raises:
        InputError: There is no such question.
        TemplateError: The template cannot be read.
    """
    benchmark.add_answer_template(question_id, source)
    if reviewed is not None and reviewed.needs_review:
        benchmark.set_question_custom_property(question_id, REVIEW_PROPERTY, "\n".join(reviewed.reasons))
    else:
        benchmark.remove_question_custom_property(question_id, REVIEW_PROPERTY)
    if reviewed is not None and reviewed.failed:
        benchmark.mark_unfinished(question_id)
