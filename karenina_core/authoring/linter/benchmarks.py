"""The linter over a whole benchmark, and fixes applied: to a source, a form, or everywhere in a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

from karenina_core.authoring.forms import FormData, form_data
from karenina_core.authoring.linter.findings import SEVERITIES, Finding, Severity
from karenina_core.authoring.linter.forms import lint_form
from karenina_core.authoring.linter.rubrics import lint_rubric
from karenina_core.authoring.linter.templates import lint
from karenina_core.authoring.source_edits import edit_source
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, KareninaError
from karenina_core.schemas import VerificationConfig
from karenina_core.templates import TemplateSpec, read_template

Subject = TypeVar("Subject", str, FormData)
_MOST = 200  # fixes at once; a template has at most that many fields


@dataclass(frozen=True)
class QuestionFindings:
    """What could be better in one question.

    Attributes:
        template: Findings of its template; none where it has none.
        rubric: Findings of its own traits.
    """

    template: tuple[Finding, ...]
    rubric: tuple[Finding, ...]

    @property
    def worst(self) -> Severity | None:
        """The gravest severity, None where there is no finding."""
        severities = {finding.severity for finding in (*self.template, *self.rubric)}
        return next((severity for severity in SEVERITIES if severity in severities), None)


@dataclass(frozen=True)
class BenchmarkFindings:
    """What could be better in a benchmark.

    Attributes:
        questions: By question id; only questions with a finding.
        rubric: Findings of the global traits.
    """

    questions: Mapping[str, QuestionFindings]
    rubric: tuple[Finding, ...]


def lint_benchmark(
    benchmark: Benchmark,
    config: VerificationConfig | None = None,
    *,
    lint_template: Callable[..., Sequence[Finding]] = lint,
) -> BenchmarkFindings:
    """Return what could be better in the templates and rubrics of a benchmark.

    Args:
        benchmark: The benchmark; it is left as it is.
        config: How it will be run; without it, no rule looks at settings of runs.
        lint_template: Does what `lint` does, such as one that remembers what it returned before.
    """
    overall = benchmark.get_global_rubric()
    shared = overall.traits if overall else []
    questions = {}
    for question in benchmark.get_all_questions():
        own, source = benchmark.get_question_rubric(question.id), question.answer_template
        known = {"question": question.question, "reference_answer": question.raw_answer, "config": config}
        template = tuple(lint_template(source, **known)) if source else ()
        findings = QuestionFindings(template, tuple(lint_rubric(own.traits, shared=shared)) if own else ())
        if findings.worst is not None:
            questions[question.id] = findings
    return BenchmarkFindings(questions, tuple(lint_rubric(shared)))


def repaired(subject: Subject, finding: Finding) -> Subject:
    """Return a source, or what was typed in a form, with the fix of a finding applied.

    What the fix does not concern stays: a source byte for byte.

    Args:
        subject: What the finding is about; a form is left as it is.
        finding: A finding of `lint` or `lint_form`.

    Raises:
        InputError: The finding has no such fix, or the source cannot hold the change.
        TemplateError: The source cannot be read.
        ValidationError: The fix needs a form that makes a template, and this one does not.
    """
    fix = finding.fix
    if fix is None or fix.target not in ("template", "source" if isinstance(subject, str) else "form"):
        raise InputError(f"There is no fix for {finding.code!r}.", next=finding.next)
    if fix.target != "template":
        return cast(Subject, fix.edit(subject))
    if isinstance(subject, str):
        return edit_source(subject, fix.edit(read_template(subject).spec))
    return form_data(fix.edit(TemplateSpec.model_validate(subject)))


class Repaired(NamedTuple):
    """A source, or a form, after its fixes.

    Attributes:
        result: The source or the form.
        applied: The findings that were settled, in their order.
    """

    result: Any
    applied: tuple[Finding, ...]


def repair_all(subject: str | FormData, **known: Any) -> Repaired:
    """Return a source, or what was typed in a form, with every fix applied that can be, one after the other.

    Args:
        subject: The source or the form, valid or not; a form is left as it is.
        **known: What `lint` takes beside it, such as `reference_answer`.
    """
    look: Callable[..., list[Finding]] = lint if isinstance(subject, str) else lint_form
    return _repaired(subject, lambda now: look(now, **known), repaired)


def _repaired(
    subject: Any, look: Callable[[Any], Sequence[Finding]], repair: Callable[[Any, Finding], Any]
) -> Repaired:
    applied: list[Finding] = []
    tried: set[tuple[str, str | None, str]] = set()
    for _ in range(_MOST):
        open_findings = (item for item in look(subject) if item.fix and (item.code, item.field, item.what) not in tried)
        finding = next(open_findings, None)
        if finding is None:
            break
        # A fix that does not settle its finding is not tried a second time.
        tried.add((finding.code, finding.field, finding.what))
        try:
            changed = repair(subject, finding)
        except (KareninaError, ValueError):
            continue
        if changed != subject:
            subject = changed
            applied.append(finding)
    return Repaired(subject, tuple(applied))


def repair_benchmark(benchmark: Benchmark, places: Iterable[str | None], code: str, field: str | None = None) -> int:
    """Apply the fixes of all findings of a code, and return how many there were.

    A template whose source cannot hold a fix, because code of its own stands there, is left as it is.

    Args:
        benchmark: It is changed.
        places: Ids of questions; None for the global rubric.
        code: Such as `truth_fails_rule`.
        field: Only findings about this field or trait.
    """

    def meant(findings: Iterable[Finding]) -> list[Finding]:
        return [item for item in findings if item.code == code and item.fix and field in (None, item.field)]

    overall, count = benchmark.get_global_rubric(), 0
    for place in dict.fromkeys(places):
        question = None if place is None else benchmark.get_question(place)
        if place is not None and question is not None and question.answer_template:
            known = {"question": question.question, "reference_answer": question.raw_answer}
            look = lambda source, known=known: meant(lint(source, **known))  # noqa: E731
            source, applied = _repaired(question.answer_template, look, repaired)
            if applied:
                benchmark.add_answer_template(place, source)
                count += len(applied)
        rubric = overall if place is None else benchmark.get_question_rubric(place)
        if rubric is not None:
            shared = overall.traits if overall is not None and place is not None else []
            look = lambda traits, shared=shared: meant(lint_rubric(traits, shared=shared))  # noqa: E731
            traits, applied = _repaired(rubric.traits, look, _repaired_traits)
            if applied:
                better = rubric.model_copy(update={"traits": traits})
                benchmark.set_global_rubric(better) if place is None else benchmark.set_question_rubric(place, better)
                count += len(applied)
    return count


def _repaired_traits(traits: Sequence[Any], finding: Finding) -> list[Any]:
    return [finding.fix.edit(trait) if finding.fix and trait.name == finding.field else trait for trait in traits]
