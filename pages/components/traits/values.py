"""Rubric traits as the flat values a form edits, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.schemas import (
    METRICS_BY_MODE,
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    RubricTrait,
    StoredTrait,
)

Values = dict[str, Any]

DIRECTIONS: dict[str, bool | None] = {"higher": True, "lower": False, "none": None}
NEW: dict[str, Values] = {
    "llm": {
        "name": "",
        "description": "",
        "kind": "score",
        "min_score": 1,
        "max_score": 5,
        "classes": "",
        "direction": "higher",
    },
    "regex": {
        "name": "",
        "description": "",
        "pattern": "",
        "case_sensitive": True,
        "invert": False,
        "direction": "higher",
    },
    "metric": {
        "name": "",
        "description": "",
        "metrics": ["precision", "recall", "f1"],
        "tp_instructions": "",
        "tn_instructions": "",
        "fp_instructions": "",
        "fn_instructions": "",
        "repeated_extraction": True,
    },
}
"""What the form of a new trait shows, by type."""

_LISTS = ("tp_instructions", "tn_instructions", "fp_instructions", "fn_instructions")


def values_of(trait: RubricTrait | ManualRubricTrait | MetricRubricTrait) -> Values:
    """Return what the form shows of a trait."""
    dumped = trait.model_dump()
    values = {name: dumped.get(name) for name in NEW[trait.type]}
    values["description"] = trait.description or ""
    if "direction" in values:
        values["direction"] = next(name for name, higher in DIRECTIONS.items() if higher is trait.higher_is_better)
    if isinstance(trait, RubricTrait):
        values["kind"] = "binary" if trait.is_binary else trait.kind
        values["classes"] = "\n".join(f"{name}: {text}" for name, text in (trait.classes or {}).items())
    if isinstance(trait, MetricRubricTrait):
        values |= {name: "\n".join(dumped[name]) for name in _LISTS}
    return values


def trait_of(kind: str, values: Mapping[str, Any], was: AnyTrait | None = None) -> AnyTrait:
    """Return the trait a form describes.

    Args:
        kind: `llm`, `regex` or `metric`.
        values: The values of the form.
        was: The trait that was edited; what the form does not show is taken from it.

    Raises:
        ValueError: The values do not make a trait; says why.
    """
    if not values["name"].strip():
        raise ValueError("Give the trait a name.")
    data = {**values, "name": values["name"].strip(), "description": values["description"].strip() or None}
    data["summary"] = was.summary if was else None
    if "direction" in data:
        data["higher_is_better"] = DIRECTIONS[data.pop("direction")]
    if kind == "llm":
        data["classes"] = _classes(data["classes"]) if data["kind"] == "literal" else None
        return RubricTrait.model_validate(data)
    if kind == "regex":
        return ManualRubricTrait.model_validate(data)
    return MetricRubricTrait.model_validate(data | {name: lines(data[name]) for name in _LISTS})


def lines(text: str) -> list[str]:
    """Return the lines of a text that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def metric_mode(values: Mapping[str, Any]) -> str:
    """Return the evaluation mode that follows from the lists of a metric trait."""
    return "full_matrix" if lines(values["tn_instructions"]) else "tp_only"


def unavailable_metrics(values: Mapping[str, Any]) -> list[str]:
    """Return the chosen metrics that the mode cannot compute."""
    return [name for name in values["metrics"] if name not in METRICS_BY_MODE[metric_mode(values)]]


def kind_in_words(trait: AnyTrait) -> str:
    """Return what a trait yields, such as `score 1–5`, or that it is not evaluated."""
    if isinstance(trait, StoredTrait):
        return f"{trait.kind}: kept, not evaluated"
    if isinstance(trait, ManualRubricTrait):
        return "pattern, inverted" if trait.invert else "pattern"
    if isinstance(trait, MetricRubricTrait):
        return ", ".join(trait.metrics)
    if trait.kind == "score":
        return f"score {trait.min_score}–{trait.max_score}"
    return "yes / no" if trait.is_binary else f"one of {len(trait.classes or {})} classes"


def direction_in_words(trait: AnyTrait) -> str:
    """Return which end of a trait is the good one."""
    return {True: "↑ higher", False: "↓ lower", None: "–"}[trait.higher_is_better]


def _classes(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines(text))
    return {name.strip(): description.strip() for name, _, description in pairs}
