"""Why an answer passes or fails: the evidence of every field, as the primitives' own explanations put it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from karenina_core.schemas import FieldEvidence, listed, quoted
from karenina_core.schemas.primitives import SemanticMatch
from karenina_core.templates import Evaluation, FieldSpec, Template, TemplateSpec, read_template, write_template

Subject = str | Template | TemplateSpec
"""A template source, a template that was read, or what a form holds."""
_EXPECTED = "expected, "  # begins the label of a step on the side of the truth
_MARKS = {True: "✓", False: "✗", None: "…"}


@dataclass(frozen=True)
class StoredAnswer:
    """What is known of an answer that was judged already.

    Attributes:
        values: What the judge extracted, by field; a missing value is a null.
        response: The answer's text, for fields that read it.
        similarities: Cosine similarity by `SemanticMatch` field, where known; such a field is not decided without.
    """

    values: Mapping[str, Any]
    response: str = ""
    similarities: Mapping[str, float] = field(default_factory=dict)


def template_of(subject: Subject) -> Template:
    """Return the template.

    Raises:
        TemplateError: A source cannot be read.
        InputError: What a form holds verifies nothing yet, or belongs to a source with code of its own.
    """
    if isinstance(subject, TemplateSpec):
        subject = write_template(subject)
    return read_template(subject) if isinstance(subject, str) else subject


def template_of_field(item: FieldSpec, spec: TemplateSpec | None = None) -> Template:
    """Return the template of a single field with a built-in rule, with the nested models of its own template."""
    return template_of(TemplateSpec(fields=[item], models=spec.models if spec else []))


def explain(template: Subject, answer: StoredAnswer) -> Evaluation:
    """Return how every field of an answer gets its result, and what verdict they make.

    Raises:
        TemplateError: The template cannot be read, a pattern takes too long, or the template's own code fails.
    """
    template = template_of(template)
    evaluation = template.evaluate(answer.values, answer.response)
    rules = {item.name: item.primitive for item in template.spec.fields if item.name in evaluation.pending}
    decided = {
        name: (rule.passes(answer.similarities[name]), answer.similarities[name])
        for name, rule in rules.items()
        if isinstance(rule, SemanticMatch) and name in answer.similarities
    }
    return template.complete(evaluation, decided) if decided else evaluation


def steps_in_line(item: FieldEvidence, *, of_truth: bool = False) -> str:
    """Return what was done to a value in one line, such as `"Bcl-2" → lowercase → "bcl-2" ✓`.

    Args:
        item: The evidence of a field.
        of_truth: Whether to follow the truth instead of what was found; it has no mark at its end.
    """
    value = item.expected if of_truth else item.extracted
    start = f"[{listed(value)}]" if isinstance(value, list) else "nothing" if value is None else quoted(value)
    steps = [
        f" → {label.removeprefix(_EXPECTED)} → {after}"
        for label, before, after in item.steps
        if label.startswith(_EXPECTED) == of_truth and before != after
    ]
    start = "the response" if item.is_trace and not of_truth else start
    return "".join([start, *steps, "" if of_truth else f" {_MARKS[item.result]}"])
