"""`near_misses`: a self-test of a template with answers that are nearly right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from karenina_core.authoring.explain import explain_field
from karenina_core.authoring.measured_variants import Expected, Variant
from karenina_core.authoring.steps import FieldSteps
from karenina_core.authoring.subject import Subject, template_of
from karenina_core.authoring.variants import variants
from karenina_core.errors import InputError
from karenina_core.templates import FieldSpec, Template

Verdict = Literal["pass", "fail", "refused", "undecided"]
"""`refused`: the value does not fit the type, so the judge is asked again. `undecided`: only a run can tell."""


@dataclass(frozen=True)
class Case:
    """One row of the self-test: one field varied, its verdict as the template decides it.

    Attributes:
        field: The field.
        label: How the value differs from the truth.
        values: What the judge extracts: the variant, and the truth in the other fields.
        response: The response, for rules that read it; otherwise None.
        expected: What an author will want.
        verdict: What the rule of the field says.
        steps: How it came to that; None where the value is refused.
    """

    field: str
    label: str
    values: Mapping[str, Any]
    response: str | None
    expected: Expected
    verdict: Verdict
    steps: FieldSteps | None = None

    @property
    def surprising(self) -> bool:
        """Whether the verdict is not what an author will want."""
        wrong = {"pass": ("fail", "refused"), "fail": ("pass",), "either": ()}
        return self.verdict in wrong[self.expected]


def near_misses(template: Subject, *, accepted: Sequence[Any] = (), rejected: Sequence[Any] = ()) -> list[Case]:
    """Return how a template decides on variants of its own truth, surprises first, then what passes.

    Fields without a built-in rule have no variants: what they expect is in the template's own code.

    Args:
        template: The template.
        accepted: Further values that must pass in its text fields, such as notes name them.
        rejected: Values that must fail in its text fields.

    Raises:
        TemplateError: The template cannot be read.
        InputError: It verifies nothing.
    """
    read = template_of(template)
    truths = {item.name: item.ground_truth for item in read.spec.verified}
    cases = [
        _case(read, item, variant, truths)
        for item in read.spec.fields
        if item.primitive is not None
        for variant in _all_variants(item, accepted, rejected)
    ]
    order = {"pass": 0, "undecided": 1, "fail": 2, "refused": 3}
    return sorted(cases, key=lambda case: (not case.surprising, order[case.verdict]))


def _all_variants(item: FieldSpec, accepted: Sequence[Any], rejected: Sequence[Any]) -> Iterator[Variant]:
    seen: list[Any] = []
    named = [Variant("accepted by the notes", value, "pass") for value in accepted]
    named += [Variant("rejected by the notes", value, "fail") for value in rejected]
    for variant in [*(named if item.type == "str" else ()), *variants(item)]:
        if not any(type(value) is type(variant.value) and value == variant.value for value in seen):
            seen.append(variant.value)
            yield variant


def _case(template: Template, item: FieldSpec, variant: Variant, truths: Mapping[str, Any]) -> Case:
    if item.is_trace:
        steps = explain_field(item, None, variant.value)
        verdict: Verdict = "undecided" if steps.result is None else "pass" if steps.result else "fail"
        return Case(item.name, variant.label, truths, variant.value, variant.expected, verdict, steps)
    values = {**truths, item.name: variant.value}
    try:
        value = template.validate_reply({**dict.fromkeys(_judged(template)), item.name: variant.value})[item.name]
    except InputError:
        return Case(item.name, variant.label, values, None, variant.expected, "refused", None)
    steps = explain_field(item, value)
    verdict = _verdict(steps, value)
    return Case(item.name, variant.label, values, None, variant.expected, verdict, steps)


def _judged(template: Template) -> list[str]:
    return [item.name for item in template.spec.judged]


def _verdict(steps: FieldSteps, value: Any) -> Verdict:
    if steps.result is None:
        return "fail" if value is None else "undecided"
    return "pass" if steps.result else "fail"
