"""`lint_benchmark`: the findings of all templates and rubrics of a benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from karenina_core.authoring.linter.finding import Finding, Severity
from karenina_core.authoring.linter.lint import lint
from karenina_core.authoring.linter.rubrics import lint_rubric
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import VerificationConfig


@dataclass(frozen=True)
class QuestionFindings:
    """What is to be mended in one question.

    Attributes:
        template: Findings of its template; none where it has none.
        rubric: Findings of its own traits.
    """

    template: tuple[Finding, ...]
    rubric: tuple[Finding, ...]

    @property
    def worst(self) -> Severity | None:
        """The gravest severity, None where there is nothing to mend."""
        found = {finding.severity for finding in (*self.template, *self.rubric)}
        return next((severity for severity in ("error", "warning", "hint") if severity in found), None)


@dataclass(frozen=True)
class BenchmarkFindings:
    """What is to be mended in a benchmark.

    Attributes:
        questions: By question id; only questions with something to mend.
        rubric: Findings of the global traits.
    """

    questions: Mapping[str, QuestionFindings]
    rubric: tuple[Finding, ...]

    @property
    def count(self) -> dict[Severity, int]:
        """Number of findings by severity."""
        everything = [*self.rubric, *(f for found in self.questions.values() for f in (*found.template, *found.rubric))]
        counted = Counter(finding.severity for finding in everything)
        return {severity: counted[severity] for severity in ("error", "warning", "hint")}

    @property
    def by_code(self) -> dict[str, list[str]]:
        """The questions with a finding of a code, by code; the most frequent first."""
        found: dict[str, list[str]] = {}
        for question_id, item in self.questions.items():
            for code in dict.fromkeys(finding.code for finding in (*item.template, *item.rubric)):
                found.setdefault(code, []).append(question_id)
        return dict(sorted(found.items(), key=lambda entry: -len(entry[1])))


def lint_benchmark(
    benchmark: Benchmark,
    config: VerificationConfig | None = None,
    *,
    lint_template: Callable[..., Sequence[Finding]] = lint,
) -> BenchmarkFindings:
    """Return what is to be mended in the templates and rubrics of a benchmark.

    Args:
        benchmark: The benchmark; it is left as it is.
        config: How it will be run; without it, nothing is said about settings of runs.
        lint_template: Does what `lint` does, such as one that remembers what it has said before.
    """
    overall = benchmark.get_global_rubric()
    shared = overall.traits if overall else []
    questions = {}
    for question in benchmark.get_all_questions():
        own = benchmark.get_question_rubric(question.id)
        found = QuestionFindings(
            template=tuple(
                lint_template(
                    question.answer_template,
                    question=question.question,
                    reference_answer=question.raw_answer,
                    config=config,
                )
            )
            if question.answer_template
            else (),
            rubric=tuple(lint_rubric(own.traits, shared=shared)) if own else (),
        )
        if found.worst is not None:
            questions[question.id] = found
    return BenchmarkFindings(questions, tuple(lint_rubric(shared)))
