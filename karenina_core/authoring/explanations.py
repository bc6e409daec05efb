"""Why an answer passes or fails: what each primitive's own explanation says, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from karenina_core.errors import InputError
from karenina_core.schemas import (
    NOTHING_EXTRACTED,
    AllOf,
    AnyOf,
    AtLeastN,
    FieldCheck,
    FieldEvidence,
    FieldResult,
    listed,
    quoted,
)
from karenina_core.schemas.primitives import Explanation, SemanticMatch, Step, TracePrimitive
from karenina_core.templates import FieldSpec, Template, TemplateSpec, read_template, write_primitive, write_template
from karenina_core.text import counted

Subject = str | Template | TemplateSpec
"""A template source, a template that was read, or what a form holds."""
Node = AllOf | AnyOf | AtLeastN | FieldCheck
MARKS = {True: "✓", False: "✗", None: "…"}
_EXPECTED = "expected, "  # begins the label of a step on the side of the truth


def template_of(subject: Subject) -> Template:
    """Return the template.

    Raises:
        TemplateError: A source cannot be read.
        InputError: What a form holds verifies nothing yet, or belongs to a source with code of its own.
    """
    if isinstance(subject, TemplateSpec):
        subject = write_template(subject)
    return read_template(subject) if isinstance(subject, str) else subject


class Link(NamedTuple):
    """One thing that was done to a value.

    Attributes:
        name: What was done, such as `lowercase`.
        output: The value after it, as text.
        changed: Whether it made a difference.
    """

    name: str
    output: str
    changed: bool = True


class Chain(NamedTuple):
    """A value as text, and what was done to it, also what changed nothing."""

    input: str
    links: tuple[Link, ...] = ()

    def __str__(self) -> str:
        return "".join([self.input, *(f" → {link.name} → {link.output}" for link in self.links if link.changed)])


@dataclass(frozen=True)
class FieldSteps:
    """How one field got its verdict.

    Attributes:
        field: Its name.
        rule: The call that builds its rule; blank where none decides it.
        found: What the judge extracted, or the response, and what was done to it.
        expected: The truth and what was done to it; None where the rule does not use it.
        result: The verdict of the field; None where nothing was extracted or it is not decided here.
        reason: The verdict in one sentence, as the rule says it.
    """

    field: str
    rule: str
    found: Chain
    expected: Chain | None
    result: bool | None
    reason: str

    def __str__(self) -> str:
        return f"{self.found} {MARKS[self.result]}"


class VerdictSteps(NamedTuple):
    """How field results make the verdict.

    Attributes:
        text: The composition with a mark behind each part, such as `any of (a ✓, b ✗) ✓`.
        result: Whether it holds; None where that depends on what is not decided here.
    """

    text: str
    result: bool | None

    def __str__(self) -> str:
        return self.text


def explain(
    template: Subject,
    values: Mapping[str, Any],
    response: str = "",
    *,
    similarities: Mapping[str, float] | None = None,
) -> tuple[FieldSteps, ...]:
    """Return how every field gets its verdict.

    Args:
        template: The template.
        values: What a judge would extract, by field; a missing value is a null.
        response: The answer's text, for fields that read it.
        similarities: Cosine similarity by `SemanticMatch` field, where known; such fields are not decided without.

    Raises:
        TemplateError: The template cannot be read, or its own code fails on these values.
    """
    template = template_of(template)
    own = {item.name: item for item in template.evaluate(values, response).fields} if template.spec.own_code else {}
    return tuple(
        explain_field(item, values.get(item.name), response, (similarities or {}).get(item.name))
        if item.primitive is not None
        else _own_steps(item, values.get(item.name), own.get(item.name))
        for item in template.spec.fields
    )


def explain_field(item: FieldSpec, value: Any, response: str = "", similarity: float | None = None) -> FieldSteps:
    """Return how one field with a built-in rule gets its verdict."""
    rule = item.primitive
    assert rule is not None
    written = write_primitive(rule)
    reads_response, uses_truth = isinstance(rule, TracePrimitive), getattr(rule, "uses_ground_truth", True)
    start = f"the response of {counted(len(response), 'character')}" if reads_response else _shown(value)
    if value is None and not reads_response:
        return FieldSteps(item.name, written, Chain(start), None, None, NOTHING_EXTRACTED)
    result: bool | None
    try:
        if isinstance(rule, TracePrimitive):
            explanation = rule.explain_trace(response)
            result = explanation.passed == bool(item.ground_truth)
        elif isinstance(rule, SemanticMatch) and similarity is None:
            explanation, result = Explanation(False, (), "The embedding check of a run decides this field."), None
        elif isinstance(rule, SemanticMatch):
            explanation = rule.explain_similarity(similarity or 0.0)
            explanation = explanation._replace(steps=(Step("similarity", start, f"{similarity:.3f}"),))
            result = explanation.passed
        else:
            explanation = rule.explain(value, item.ground_truth)
            result = bool(explanation.passed)
    except InputError as error:
        return FieldSteps(item.name, written, Chain(start), None, None, str(error))
    reason = explanation.reason
    if reads_response and not item.ground_truth:
        reason += " It must not hold."
    links = {expected: _links(explanation.steps, expected) for expected in (False, True)}
    truth = Chain(_shown(item.ground_truth), links[True]) if uses_truth and not reads_response else None
    return FieldSteps(item.name, written, Chain(start, links[False]), truth, result, reason)


def _links(steps: Iterable[Step], expected: bool) -> tuple[Link, ...]:
    return tuple(
        Link(label.removeprefix(_EXPECTED), after, before != after)
        for label, before, after in steps
        if label.startswith(_EXPECTED) == expected
    )


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return f"[{listed(value)}]" if isinstance(value, list | tuple) else quoted(value)


def _own_steps(item: FieldSpec, value: Any, evidence: FieldEvidence | None) -> FieldSteps:
    """Return what is known of a field that the template's own code decides, or nothing."""
    if evidence is None or item.verify_with is None:
        reason = "No rule decides this field by itself." if value is not None else NOTHING_EXTRACTED
        return FieldSteps(item.name, "", Chain(_shown(value)), None, None, reason)
    rule, truth = str(item.verify_with["type"]), Chain(_shown(item.ground_truth))
    return FieldSteps(item.name, rule, Chain(_shown(value)), truth, evidence.result, evidence.reason)


def explain_verdict(template: Subject, fields: Iterable[FieldSteps]) -> VerdictSteps:
    """Return how the results of fields make the verdict.

    Where the template's own code decides, this is only what its rules say.
    """
    spec = template if isinstance(template, TemplateSpec) else template_of(template).spec
    steps = list(fields)
    strategy = spec.verify_strategy or AllOf(conditions=[FieldCheck(field_name=item.name) for item in spec.verified])
    results: dict[str, FieldResult] = {item.field: item.result for item in steps}
    undecided = {item.field for item in steps if item.result is None and item.found.input != "nothing"}
    return _node(strategy, results, undecided)


def _node(node: Node, results: Mapping[str, FieldResult], undecided: set[str]) -> VerdictSteps:
    # More right fields never make a condition fail, so the two extremes decide whether the open fields matter.
    worst = node.passes({**results, **dict.fromkeys(undecided, False)})
    best = node.passes({**results, **dict.fromkeys(undecided, True)})
    result = worst if worst == best else None
    if isinstance(node, FieldCheck):
        return VerdictSteps(f"{node.field_name} {MARKS[result]}", result)
    label = f"at least {node.n} of" if isinstance(node, AtLeastN) else "any of" if isinstance(node, AnyOf) else "all of"
    inside = ", ".join(_node(part, results, undecided).text for part in node.conditions)
    return VerdictSteps(f"{label} ({inside}) {MARKS[result]}", result)
