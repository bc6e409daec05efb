"""Metric traits: from the items a judge reads out of a response to a confusion matrix and its metrics."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from karenina_core.pipeline.prompts import known_items
from karenina_core.schemas import ConfusionPart, MetricRubricTrait


class ExtractedItem(BaseModel):
    """One item the response names.

    Attributes:
        item: The response's wording.
        matches: The instruction it is the same as, according to the judge.
        item_class: The class the response gives it; only where classes are asked for.
    """

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    item: str
    matches: str | None = None
    item_class: Literal["positive", "negative"] | None = Field(default=None, alias="class")


class ExtractedItems(BaseModel):
    """The judge's whole reply for a metric trait."""

    model_config = ConfigDict(extra="ignore")

    items: list[ExtractedItem] = Field(max_length=500)


def items_schema(trait: MetricRubricTrait) -> dict[str, Any]:
    """Return the JSON schema of the judge's reply."""
    item: dict[str, Any] = {
        "item": {"type": "string", "description": "the item in the response's words"},
        "matches": {"anyOf": [{"type": "string", "enum": known_items(trait)}, {"type": "null"}]},
    }
    if trait.evaluation_mode == "full_matrix":
        item["class"] = {"type": "string", "enum": ["positive", "negative"]}
    entry = {"type": "object", "properties": item, "required": list(item), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"items": {"type": "array", "items": entry, "maxItems": 200}},
        "required": ["items"],
        "additionalProperties": False,
    }


def confusion(trait: MetricRubricTrait, items: Iterable[ExtractedItem]) -> ConfusionPart:
    """Sort extracted items into the buckets of the confusion matrix.

    In `tp_only` mode every item that is not a true positive is a false positive, and a positive instruction that
    was not extracted is a false negative. In `full_matrix` mode only what the response mentions is counted; the
    rest is listed as not mentioned.
    """
    known = _Known(trait)
    part = ConfusionPart()
    seen: set[str] = set()
    for item in items:
        instruction = known.find(item)
        identity = _normal(instruction or item.item)
        if not identity or (identity in seen and trait.repeated_extraction):
            continue
        seen.add(identity)
        bucket = _bucket(trait, instruction, item, known)
        if bucket:
            getattr(part, bucket).append(instruction or item.item)
    missing = [text for text in trait.tp_instructions if _normal(text) not in seen]
    if trait.evaluation_mode == "full_matrix":
        part.not_mentioned = missing + [text for text in trait.tn_instructions if _normal(text) not in seen]
    else:
        part.fn = missing
    return part


def _bucket(trait: MetricRubricTrait, instruction: str | None, item: ExtractedItem, known: _Known) -> str | None:
    positive = instruction is not None and _normal(instruction) in known.tp
    if trait.evaluation_mode != "full_matrix":
        return "tp" if positive else "fp"
    negative = instruction is not None and _normal(instruction) in known.tn
    if not positive and not negative:
        return None
    if item.item_class == "negative":
        return "tn" if negative else "fn"
    return "tp" if positive else "fp"


class _Known:
    """The instructions of a trait, looked up by normalised text."""

    def __init__(self, trait: MetricRubricTrait) -> None:
        self.tp = {_normal(text): text for text in trait.tp_instructions}
        self.tn = {_normal(text): text for text in trait.tn_instructions}
        expected = {_normal(text): text for text in [*trait.fp_instructions, *trait.fn_instructions]}
        self.all = {**expected, **self.tn, **self.tp}

    def find(self, item: ExtractedItem) -> str | None:
        """Return the instruction an item stands for: by its own words first, else as the judge says."""
        return self.all.get(_normal(item.item)) or self.all.get(_normal(item.matches or ""))


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return re.sub(r"\s+", " ", folded).strip(string.punctuation + string.whitespace)


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None


def _f1(tp: int, fp: int, tn: int, fn: int) -> float | None:
    return _ratio(2 * tp, 2 * tp + fp + fn)


_FORMULAS: dict[str, Callable[[int, int, int, int], float | None]] = {
    "precision": lambda tp, fp, tn, fn: _ratio(tp, tp + fp),
    "recall": lambda tp, fp, tn, fn: _ratio(tp, tp + fn),
    "f1": _f1,
    "accuracy": lambda tp, fp, tn, fn: _ratio(tp + tn, tp + tn + fp + fn),
    "specificity": lambda tp, fp, tn, fn: _ratio(tn, tn + fp),
}


def metric_values(metrics: Sequence[str], tp: int, fp: int, tn: int, fn: int) -> tuple[dict[str, float], list[str]]:
    """Compute metrics from counts.

    Precision = TP/(TP+FP), recall = TP/(TP+FN), F1 = 2TP/(2TP+FP+FN) (the harmonic mean of both), accuracy =
    (TP+TN)/all, specificity = TN/(TN+FP).

    Returns:
        Values from 0 to 1 by metric, and the metrics whose denominator was 0; those are given as 0.
    """
    values = {name: _FORMULAS[name](tp, fp, tn, fn) for name in metrics}
    undefined = [name for name, value in values.items() if value is None]
    return {name: value or 0.0 for name, value in values.items()}, undefined


def evaluate(trait: MetricRubricTrait, items: Iterable[ExtractedItem]) -> tuple[dict[str, float], ConfusionPart]:
    """Return a trait's metrics and the items behind them."""
    part = confusion(trait, items)
    values, part.undefined = metric_values(trait.metrics, len(part.tp), len(part.fp), len(part.tn), len(part.fn))
    return values, part
