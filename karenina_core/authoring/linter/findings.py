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
Subject = Literal["field", "template", "methods", "trait"]


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
    """What is known beside the template: question, reference answer, and how it will be run."""

    question: str | None = None
    reference_answer: str | None = None
    config: VerificationConfig | None = None


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

    def finding(self, problem: Problem, field: str | None, fix: Fix | None, line: int | None = None) -> Finding:
        """Return what the rule says as a finding."""
        return Finding(self.code, self.severity, field, problem.what, self.why, self.next, fix, problem.line or line)

    def settled(self, problem: Problem, changed: Any, *known: Any) -> bool:
        """Whether the rule does not say the same of the changed subject."""
        return problem.field not in {other.field for other in self.check(changed, *known)}


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


def changed_field(spec: TemplateSpec, name: str, changes: Mapping[str, Any]) -> TemplateSpec:
    """Return a spec with new values for attributes of one field.

    Raises:
        ValueError: The field would not be valid.
    """
    data = spec.model_dump()
    data["fields"] = [{**item, **changes} if item["name"] == name else item for item in data["fields"]]
    return TemplateSpec.model_validate(data)


def template_fix(label: str, field: str | None, changes: Mapping[str, Any]) -> Fix:
    """Return the fix that gives a field, or the template where none is named, new values of attributes."""
    if field is None:
        return Fix(label, lambda spec: spec.model_copy(update=changes))
    return Fix(label, lambda spec: changed_field(spec, field, changes))


def parameters(item: FieldSpec) -> dict[str, Any]:
    """Return the stored form of a field's built-in rule; empty where there is none."""
    return {} if item.own_rule or item.verify_with is None else item.verify_with


def with_rule(item: FieldSpec, **changes: Any) -> dict[str, Any]:
    """Return the change that gives the primitive of a field new parameters."""
    return {"verify_with": {**(item.verify_with or {}), **changes}}


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with the gravest first, otherwise as they come."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def field_findings(spec: TemplateSpec, item: FieldSpec, known: Known, line: int | None) -> Iterator[Finding]:
    """Yield what the rules for fields say of one; a fix that would not settle its finding is left out."""
    for check in RULES["field"]:
        for problem in check.check(item, known):
            fix = template_fix(problem.label, item.name, problem.changes) if problem.changes is not None else None
            try:
                settled = fix and check.settled(
                    problem, next(other for other in fix.edit(spec).fields if other.name == item.name), known
                )
            except ValueError:
                settled = False
            yield check.finding(problem, item.name, fix if settled else None, line)
