"""Rules on a template as a whole: how its fields make the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from karenina_core.authoring.linter.finding import Context, Said, SpecFix
from karenina_core.authoring.linter.words import words
from karenina_core.schemas import AllOf, AnyOf, AtLeastN, FieldCheck, quoted
from karenina_core.templates import TemplateSpec

MANY_FIELDS = 10


def decides_nothing(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """No rule at all."""
    if not spec.verified and not spec.own_code:
        yield Said(
            "No field has a rule.", "The template decides nothing.", "Give at least one field a truth and a rule."
        )


def leaves_field_out(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """A verified field that the composition does not look at."""
    if spec.verify_strategy is None:
        return
    used = set(spec.verify_strategy.field_names())
    for item in spec.verified:
        if item.name not in used:
            yield Said(
                "The composition leaves the field out.",
                "Whether it is right or wrong changes no verdict.",
                "Add it to the composition, or take its rule away.",
                SpecFix("Require it as well", lambda spec, name=item.name: _also(spec, name)),  # type: ignore[misc]
                field=item.name,
            )


def _also(spec: TemplateSpec, name: str) -> TemplateSpec:
    check, strategy = FieldCheck(field_name=name), spec.verify_strategy
    conditions = [*strategy.conditions, check] if isinstance(strategy, AllOf) else [strategy, check]
    return spec.model_copy(update={"verify_strategy": AllOf(conditions=conditions)})


def composes_nothing(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """A composition that says the same as none."""
    strategy = spec.verify_strategy
    if strategy is None or set(strategy.field_names()) != {item.name for item in spec.verified}:
        return
    plain = not isinstance(strategy, FieldCheck) and all(isinstance(part, FieldCheck) for part in strategy.conditions)
    single = isinstance(strategy, AnyOf) and len(strategy.conditions) == 1
    every = isinstance(strategy, AtLeastN) and strategy.n == len(strategy.conditions)
    if plain and (isinstance(strategy, AllOf) or single or every):
        yield Said(
            "The composition asks for every field, as a template without one does.",
            "It only makes the template longer.",
            "Remove it.",
            SpecFix("Remove the composition", lambda spec: spec.model_copy(update={"verify_strategy": None})),
        )


def counts_for_nothing(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """A field of weight zero."""
    for item in spec.verified:
        if item.weight == 0:
            yield Said(
                "The field has the weight 0.",
                "It decides the verdict but not the score, which are then hard to explain together.",
                "Give it a weight above 0.",
                SpecFix("Give it the weight 1", lambda spec, name=item.name: _weighted(spec, name)),  # type: ignore[misc]
                field=item.name,
            )


def _weighted(spec: TemplateSpec, name: str) -> TemplateSpec:
    fields = [item.model_copy(update={"weight": 1.0}) if item.name == name else item for item in spec.fields]
    return spec.model_copy(update={"fields": fields})


def asks_twice(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """Two fields that ask the judge for the same."""
    seen: dict[tuple[str, ...], str] = {}
    for item in spec.judged:
        asked = tuple(words(item.description))
        first = seen.setdefault(asked, item.name) if asked else item.name
        if first != item.name:
            yield Said(
                f"The description is the same as that of {quoted(first)}.",
                "The judge gives both the same value.",
                "Say what makes the two different, or remove one.",
                field=item.name,
            )


def extracts_for_nothing(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """A field that is extracted and not verified."""
    for item in spec.fields:
        if item.verify_with is None and not spec.own_code and spec.verified:
            yield Said(
                "The field is extracted, but no rule verifies it.",
                "It is shown in results and changes no verdict.",
                "Give it a truth and a rule, or remove it if nobody needs to see it.",
                field=item.name,
            )


def has_another_name(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """An answer class that is not named `Answer`."""
    if spec.class_name != "Answer":
        yield Said(
            f"The class is named {spec.class_name}.",
            "Other tools that read this benchmark look for a class named Answer.",
            "Name it Answer.",
            SpecFix("Name it Answer", lambda spec: spec.model_copy(update={"class_name": "Answer"})),
        )


def asks_for_much(spec: TemplateSpec, context: Context) -> Iterator[Said]:
    """So many fields that one error is likely."""
    if len(spec.verified) > MANY_FIELDS and spec.verify_strategy is None:
        yield Said(
            f"All of {len(spec.verified)} fields must be right.",
            "One misread field fails the whole answer, and the more fields, the likelier that is.",
            "Split the question, or let a part of the fields be enough.",
        )
