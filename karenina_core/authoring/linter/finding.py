"""What the linter says, and how rules say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from karenina_core.schemas import AnyTrait, VerificationConfig
from karenina_core.schemas.primitives import TracePrimitive
from karenina_core.templates import FieldSpec, TemplateSpec

Severity = Literal["error", "warning", "hint"]
"""`error`: right answers fail or wrong ones pass. `warning`: probably not as meant. `hint`: could be better."""
FormData = dict[str, Any]
"""A template as a form holds it while it is typed: the JSON data of a `TemplateSpec` that need not be valid yet."""


@dataclass(frozen=True)
class SpecFix:
    """A change of the fields and rules that answers a finding.

    Attributes:
        label: What it does, for a button.
        edit: The change; it leaves its argument as it is.
    """

    label: str
    edit: Callable[[TemplateSpec], TemplateSpec]


@dataclass(frozen=True)
class SourceFix:
    """A change of the source text that answers a finding."""

    label: str
    edit: Callable[[str], str]


@dataclass(frozen=True)
class FormFix:
    """A change of what was typed into a form that answers a finding."""

    label: str
    edit: Callable[[FormData], FormData]


@dataclass(frozen=True)
class TraitFix:
    """A change of one rubric trait that answers a finding."""

    label: str
    edit: Callable[[AnyTrait], AnyTrait]


@dataclass(frozen=True)
class Finding:
    """One thing to mend.

    Attributes:
        code: Stable short name of the rule, such as `truth_fails_rule`.
        severity: How much it matters.
        field: The field or trait it is about; None where it is about the whole.
        what: What was found, one sentence.
        why: Why it matters.
        next: What to do about it.
        fix: The change that mends it, where there is one that needs no further thought.
        line: Line in the source, counted from 1, where it is known.
    """

    code: str
    severity: Severity
    field: str | None
    what: str
    why: str
    next: str
    fix: SpecFix | SourceFix | FormFix | TraitFix | None = None
    line: int | None = None


@dataclass(frozen=True)
class Context:
    """What is known beside the template.

    Attributes:
        question: The text of the question, where known.
        reference_answer: What people know to be true, where known.
        config: How it will be run, where known.
    """

    question: str | None = None
    reference_answer: str | None = None
    config: VerificationConfig | None = None


@dataclass(frozen=True)
class FieldFix:
    """New values of attributes of a field, with a label for a button."""

    label: str
    changes: Mapping[str, Any]

    def on(self, name: str) -> SpecFix:
        """Return the fix for the field of that name."""
        return SpecFix(self.label, lambda spec: changed_field(spec, name, self.changes))


@dataclass(frozen=True)
class Said:
    """What a rule has to say: a finding without code and severity, which the table of rules holds.

    Attributes:
        what: What was found.
        why: Why it matters.
        next: What to do.
        fix: The change that mends it.
        field: The field, where a rule about the whole template speaks of one.
    """

    what: str
    why: str
    next: str
    fix: FieldFix | SpecFix | None = None
    field: str | None = None


FieldCheckFunction = Callable[[FieldSpec, Context], Said | None]
TemplateCheckFunction = Callable[[TemplateSpec, Context], Iterator[Said]]


@dataclass(frozen=True)
class FieldRule:
    """A line of the table of rules that look at one field."""

    code: str
    severity: Severity
    check: FieldCheckFunction


@dataclass(frozen=True)
class TemplateRule:
    """A line of the table of rules that look at the whole template."""

    code: str
    severity: Severity
    check: TemplateCheckFunction


def changed_field(spec: TemplateSpec, name: str, changes: Mapping[str, Any]) -> TemplateSpec:
    """Return a spec with new values for attributes of one field.

    Raises:
        ValueError: The field would not be valid.
    """
    data = spec.model_dump()
    data["fields"] = [{**item, **changes} if item["name"] == name else item for item in data["fields"]]
    return TemplateSpec.model_validate(data)


def with_rule(item: FieldSpec, **parameters: Any) -> dict[str, Any]:
    """Return the change that gives the primitive of a field new parameters."""
    return {"verify_with": {**(item.verify_with or {}), **parameters}}


def uses_truth(item: FieldSpec) -> bool:
    """Whether the rule of a field compares with its ground truth; False for fields without a rule."""
    rule = item.primitive
    return item.own_rule is not None or isinstance(rule, TracePrimitive) or bool(rule and rule.uses_ground_truth)
