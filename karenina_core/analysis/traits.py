"""Rubric outcomes as rows: one per trait, one per metric of a metric trait."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karenina_core.analysis.cells import clean_text
from karenina_core.analysis.columns import TraitKind
from karenina_core.schemas import METRICS_BY_MODE, AnyTrait, ConfusionPart, RubricPart, RubricTrait, VerificationResult

Definitions = Mapping[str, AnyTrait]
Row = dict[str, Any]


def by_name(traits: Iterable[AnyTrait]) -> Definitions:
    """Return trait definitions by name; the last of a name wins."""
    return {trait.name: trait for trait in traits}


class Known(NamedTuple):
    """What the results of a run tell about one trait, so that rows without a value can say what is missing."""

    kind: TraitKind
    metrics: tuple[str, ...]
    provenance: str
    questions: frozenset[str]


def known_traits(results: Sequence[VerificationResult]) -> dict[str, Known]:
    """Return every trait that has a value somewhere."""
    known: dict[str, Known] = {}
    for result in results:
        for name, kind in _kinds(result.rubric).items():
            earlier = known[name].questions if name in known else frozenset[str]()
            metrics = tuple(row["metric"] for row in _values(result.rubric, name, kind) if "metric" in row)
            provenance = result.rubric.provenance.get(name, "")
            known[name] = Known(kind, metrics, provenance, earlier | {result.question.id})
    return known


def trait_rows(result: VerificationResult, known: Mapping[str, Known], definitions: Definitions) -> Iterator[Row]:
    """Return the rows of one result, without the result's own columns."""
    rubric = result.rubric
    own = _kinds(rubric)
    for name in dict.fromkeys([*own, *rubric.errors, *_missed(result, known)]):
        kind = own.get(name) or (known[name].kind if name in known else "")
        shared = _shared(result, name, kind, definitions.get(name))
        nothing = [{"metric": metric} for metric in known[name].metrics] if name in known else []
        for row in _values(rubric, name, kind) if name in own else nothing or [{}]:
            yield {**shared, **row}


def _missed(result: VerificationResult, known: Mapping[str, Known]) -> Iterator[str]:
    """Yield the traits a broken result would have had."""
    if result.failure is None or result.rubric.performed:
        return
    for name, trait in known.items():
        if trait.provenance == "global" or result.question.id in trait.questions:
            yield name


def _kinds(rubric: RubricPart) -> dict[str, TraitKind]:
    kinds: dict[str, TraitKind] = {}
    for name, score in rubric.scores.items():
        kinds[name] = "llm_binary" if isinstance(score, bool) else "llm_score"
    kinds |= dict.fromkeys(rubric.labels, "llm_literal")
    kinds |= dict.fromkeys(rubric.regex, "regex")
    kinds |= dict.fromkeys([*rubric.metrics, *rubric.confusion], "metric")
    return kinds


def _shared(result: VerificationResult, name: str, kind: str, definition: AnyTrait | None) -> Row:
    rubric = result.rubric
    minimum, maximum = range_of(kind, definition)
    reason, error = rubric.reasons.get(name), rubric.errors.get(name)
    if error is None and result.failure is not None and not rubric.performed:
        error = result.failure.reason
    return {
        "trait": clean_text(name),
        "kind": kind,
        "metric": "",
        "label": "",
        "provenance": rubric.provenance.get(name, ""),
        "reason": clean_text(reason) if reason else None,
        "error": clean_text(error) if error else None,
        "undefined": False,
        "minimum": minimum,
        "maximum": maximum,
        "higher_is_better": definition.higher_is_better if definition else None,
    }


def range_of(kind: str, definition: AnyTrait | None) -> tuple[float, float]:
    """Return the lowest and the highest possible value of a trait; not numbers where they are not known."""
    if kind in ("llm_binary", "regex", "metric"):
        return 0.0, 1.0
    if isinstance(definition, RubricTrait):
        if definition.classes:
            return 0.0, len(definition.classes) - 1.0
        return float(definition.min_score), float(definition.max_score)
    return math.nan, math.nan


def _values(rubric: RubricPart, name: str, kind: str) -> Iterable[Row]:
    if kind == "metric":
        return _metric_values(rubric.metrics.get(name, {}), rubric.confusion.get(name)) or [{}]
    if kind == "llm_literal":
        return [{"value": rubric.scores.get(name), "label": clean_text(rubric.labels[name])}]
    value = rubric.regex[name] if kind == "regex" else rubric.scores[name]
    return [{"value": float(value), "label": ("yes" if value else "no") if isinstance(value, bool) else str(value)}]


def _metric_values(metrics: Mapping[str, float], confusion: ConfusionPart | None) -> list[Row]:
    counts = {name: len(getattr(confusion, name)) for name in ("tp", "fp", "tn", "fn")} if confusion else {}
    # A metric that is 0/0 may be left out of the values or stand there as 0: the list of undefined ones decides.
    undefined = [name for name in METRICS_BY_MODE["full_matrix"] if confusion and name in confusion.undefined]
    values: dict[str, float] = {**metrics, **dict.fromkeys(undefined, math.nan)}
    return [
        {
            **counts,
            "metric": name,
            "value": value,
            "label": "undefined" if math.isnan(value) else f"{value:.2f}",
            "undefined": math.isnan(value),
        }
        for name, value in values.items()
    ]
