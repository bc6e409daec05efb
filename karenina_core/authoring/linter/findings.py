"""What the linter says, and how its rules say it: a rule is one function with a decorator."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from karenina_core.schemas import VerificationConfig
from karenina_core.templates import FieldSpec, TemplateSpec

Severity = Literal["error", "warning", "hint"]
"""`error`: right answers fail or wrong ones pass. `warning`: probably not as meant. `hint`: could be better."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
Target = Literal["template", "source", "form", "trait"]
Subject = Literal["field", "template", "trait"]


@dataclass(frozen=True)
class Fix:
    """A change that answers a finding.

    Attributes:
        label: What it does, for a button.
        edit: The change; it leaves its argument as it is.
        target: What `edit` takes and returns: a `TemplateSpec`, a source text, the data of a form, or a rubric trait.
    """

    label: str
    edit: Callable[[Any], Any]
    target: Target = "template"


@dataclass(frozen=True)
class Finding:
    """One thing to improve.

    Attributes:
        code: Stable short name of the rule, such as `truth_fails_rule`.
        severity: How much it matters.
        field: The field or trait it is about; None where it is about the whole.
        what: What is wrong, one sentence.
        why: Why it matters.
        next: What to do about it.
        fix: The change that settles it, where there is one that needs no further thought.
        line: Line in the source, counted from 1, where it is known.
    """

    code: str
    severity: Severity
    field: str | None
    what: str
    why: str
    next: str
    fix: Fix | None = None
    line: int | None = None


class Known(NamedTuple):
    """What is known beside a field: question, reference answer, how it will be run, and truths that methods state."""

    question: str | None = None
    reference_answer: str | None = None
    config: VerificationConfig | None = None
    truths: Mapping[str, Any] = {}


class Problem(NamedTuple):
    """What a rule has to say of its subject.

    Attributes:
        what: What is wrong, one sentence.
        label: What the fix does, for a button; blank where there is none.
        changes: New values of attributes that settle it: of the named field, otherwise of the subject.
        field: The field, where a rule about a whole template speaks of one.
        line: Line in the source, where the rule knows it.
    """

    what: str
    label: str = ""
    changes: Mapping[str, Any] | None = None
    field: str | None = None
    line: int | None = None


class Rule(NamedTuple):
    """A rule of the linter: why it matters and what to do are the two paragraphs of its function's docstring."""

    code: str
    severity: Severity
    why: str
    next: str
    check: Callable[..., Iterable[Problem]]


RULES: dict[Subject, list[Rule]] = defaultdict(list)
F = TypeVar("F", bound=Callable[..., Iterable[Problem]])


def rule(subject: Subject, severity: Severity) -> Callable[[F], F]:
    """Make a function a rule of the linter. Its name is the code; its docstring says why it matters and what to do."""

    def register(check: F) -> F:
        paragraphs = (inspect.getdoc(check) or "").partition("\n\n")
        why, _, advice = (" ".join(text.split()) for text in paragraphs)
        RULES[subject].append(Rule(check.__name__, severity, why, advice, check))
        return check

    return register


def parameters(item: FieldSpec) -> dict[str, Any]:
    """Return the stored form of a field's built-in rule; empty where there is none."""
    return {} if item.own_rule or item.verify_with is None else item.verify_with


def with_rule(item: FieldSpec, **changes: Any) -> dict[str, Any]:
    """Return the change that gives the primitive of a field new parameters."""
    return {"verify_with": {**(item.verify_with or {}), **changes}}


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with the gravest first, otherwise as they come."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def findings_of(
    kind: Subject, subject: Any, *known: Any, name: str | None = None, lines: Mapping[str, int | None] | None = None
) -> Iterator[Finding]:
    """Yield what the rules of a kind say; a fix that would not settle its finding is left out.

    Args:
        kind: Which rules.
        subject: What they look at.
        *known: What else they take.
        name: The field or trait that the subject is; None for a whole template.
        lines: Where the fields stand in the source.
    """
    target: Target = "trait" if kind == "trait" else "template"
    for check in RULES[kind]:
        for problem in check.check(subject, *known):
            about, fix = problem.field if name is None else name, None
            if problem.changes is not None and (name is None or _settles(check, problem, subject, known)):
                fix = Fix(problem.label, _edit(kind, about, problem.changes), target)
            line = problem.line or (lines or {}).get(about or "")
            yield Finding(check.code, check.severity, about, problem.what, check.why, check.next, fix, line)


def _settles(check: Rule, problem: Problem, subject: Any, known: tuple[Any, ...]) -> bool:
    try:
        changed = _changed(subject, problem.changes or {})
    except ValueError:
        return False
    return problem.field not in {other.field for other in check.check(changed, *known)}


def _changed(subject: Any, changes: Mapping[str, Any]) -> Any:
    """Return a field, a trait or a template with new values of attributes; a field is checked as it is when read."""
    if isinstance(subject, FieldSpec):
        return FieldSpec.model_validate({**subject.model_dump(), **changes})
    return subject.model_copy(update=changes)


def _edit(kind: Subject, name: str | None, changes: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the change of a trait, of a field of a template, or of a template where no field is named."""
    if kind == "trait" or name is None:
        return lambda subject: _changed(subject, changes)

    def edit(spec: TemplateSpec) -> TemplateSpec:
        fields = [_changed(item, changes) if item.name == name else item for item in spec.fields]
        return TemplateSpec.model_validate({**spec.model_dump(), "fields": [item.model_dump() for item in fields]})

    return edit
