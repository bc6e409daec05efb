"""`explain`: why an answer passes or fails, field by field and step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from karenina_core.authoring.chains import compared, traced
from karenina_core.authoring.steps import Chain, FieldSteps, VerdictSteps
from karenina_core.authoring.subject import Subject, template_of
from karenina_core.errors import InputError
from karenina_core.schemas import (
    NOTHING_EXTRACTED,
    AllOf,
    AnyOf,
    AtLeastN,
    FieldCheck,
    FieldEvidence,
    FieldResult,
    quoted,
)
from karenina_core.schemas.primitives import Primitive, SemanticMatch, TracePrimitive
from karenina_core.templates import FieldSpec, Template, TemplateSpec, write_primitive

Node = AllOf | AnyOf | AtLeastN | FieldCheck


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
    own = _own_evidence(template, values, response) if template.spec.own_code else {}
    known = similarities or {}
    return tuple(
        explain_field(item, values.get(item.name), response, known.get(item.name))
        if item.primitive is not None
        else _told(item, values.get(item.name), own.get(item.name))
        for item in template.spec.fields
    )


def explain_field(item: FieldSpec, value: Any, response: str = "", similarity: float | None = None) -> FieldSteps:
    """Return how one field with a built-in rule gets its verdict."""
    rule = item.primitive
    assert rule is not None
    written = write_primitive(rule)
    if isinstance(rule, SemanticMatch) and value is not None:
        return _semantic(item, rule, value, similarity)
    if value is None and not isinstance(rule, TracePrimitive):
        return FieldSteps(item.name, written, Chain("nothing"), "", "", None, None, NOTHING_EXTRACTED)
    try:
        return _decided(item, rule, value, response, written)
    except InputError as error:
        return FieldSteps(item.name, written, Chain(quoted(value)), "", "", None, None, str(error))


def _decided(item: FieldSpec, rule: Primitive, value: Any, response: str, written: str) -> FieldSteps:
    if isinstance(rule, TracePrimitive):
        told, wanted = rule.explain_trace(response), bool(item.ground_truth)
        found, relation, target, expected = traced(rule, response, told.passed, wanted)
        result = told.passed == wanted
        reason = told.reason if wanted else f"{told.reason} It shall not hold."
        return FieldSteps(item.name, written, found, relation, target, expected, result, reason)
    told = rule.explain(value, item.ground_truth)
    found, relation, target, expected = compared(rule, value, item.ground_truth, told)
    return FieldSteps(item.name, written, found, relation, target, expected, bool(told.passed), told.reason)


def _semantic(item: FieldSpec, rule: SemanticMatch, value: Any, similarity: float | None) -> FieldSteps:
    written, expected = write_primitive(rule), Chain(quoted(item.ground_truth))
    if similarity is None:
        reason = "The embedding check of a run decides this field."
        relation = "is compared in meaning with"
        return FieldSteps(item.name, written, Chain(quoted(value)), relation, expected.input, expected, None, reason)
    told = rule.explain_similarity(similarity)
    relation = "≥" if told.passed else "<"
    found = Chain(f"similarity {similarity:.3f}")
    return FieldSteps(item.name, written, found, relation, f"{rule.threshold:g}", expected, told.passed, told.reason)


def _own_evidence(template: Template, values: Mapping[str, Any], response: str) -> dict[str, FieldEvidence]:
    return {item.name: item for item in template.evaluate(values, response).fields}


def _told(item: FieldSpec, value: Any, evidence: FieldEvidence | None) -> FieldSteps:
    """Return what is known of a field that the template's own code decides, or nothing."""
    found = Chain("nothing" if value is None else quoted(value))
    if evidence is None or item.verify_with is None:
        reason = "No rule decides this field by itself." if value is not None else NOTHING_EXTRACTED
        return FieldSteps(item.name, "", found, "", "", None, None, reason)
    rule, relation = str(item.verify_with["type"]), "passes" if evidence.result else "does not pass"
    expected = Chain(quoted(item.ground_truth))
    return FieldSteps(item.name, rule, found, relation, rule, expected, evidence.result, evidence.reason)


def explain_verdict(template: Subject | TemplateSpec, fields: Iterable[FieldSteps]) -> VerdictSteps:
    """Return how the results of fields make the verdict.

    Where the template's own code decides, this is only what its rules say.
    """
    spec = template if isinstance(template, TemplateSpec) else template_of(template).spec
    results = {item.field: item for item in fields}
    strategy = spec.verify_strategy or AllOf(conditions=[FieldCheck(field_name=item.name) for item in spec.verified])
    known: dict[str, FieldResult] = {name: item.result for name, item in results.items()}
    open_fields = {name for name, item in results.items() if item.result is None and item.found.input != "nothing"}
    return _node(strategy, known, open_fields)


def _node(node: Node, results: Mapping[str, FieldResult], undecided: set[str]) -> VerdictSteps:
    result = _three_valued(node, results, undecided)
    match node:
        case FieldCheck(field_name=name):
            return VerdictSteps(name, result)
        case AllOf(conditions=conditions):
            label = "all of"
        case AnyOf(conditions=conditions):
            label = "any of"
        case AtLeastN(n=n, conditions=conditions):
            label = f"at least {n} of"
    return VerdictSteps(label, result, tuple(_node(part, results, undecided) for part in conditions))


def _three_valued(node: Node, results: Mapping[str, FieldResult], undecided: set[str]) -> bool | None:
    """Return whether a condition holds however the open fields turn out, None where it depends on them.

    More right fields never make a condition fail, so the two extremes tell.
    """
    worst = node.passes({**results, **dict.fromkeys(undecided, False)})
    best = node.passes({**results, **dict.fromkeys(undecided, True)})
    return worst if worst == best else None
