"""Metric traits: from the items a judge reads out of a response to a confusion matrix and its metrics."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from karenina_core.pipeline.prompts import known_items
from karenina_core.schemas import ConfusionPart, MetricRubricTrait, nfc


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
    rest is listed as not mentioned. Mistakes that the trait lists as usual ones are named apart as expected.
    """
    positive = {_normal(text): text for text in trait.tp_instructions}
    negative = {_normal(text): text for text in trait.tn_instructions}
    others = {_normal(text): text for text in [*trait.fp_instructions, *trait.fn_instructions]}
    known = {**others, **negative, **positive}
    part = ConfusionPart()
    seen: set[str] = set()
    for item in items:
        # An item stands for an instruction by its own words first, else as the judge says.
        instruction = known.get(_normal(item.item)) or known.get(_normal(item.matches or ""))
        identity = _normal(instruction or item.item)
        if not identity or (identity in seen and trait.repeated_extraction):
            continue
        seen.add(identity)
        if trait.evaluation_mode != "full_matrix":
            bucket = "tp" if identity in positive else "fp"
        elif identity in positive:
            bucket = "fn" if item.item_class == "negative" else "tp"
        elif identity in negative:
            bucket = "tn" if item.item_class == "negative" else "fp"
        else:
            continue
        getattr(part, bucket).append(instruction or item.item)
    missing = [text for text in trait.tp_instructions if _normal(text) not in seen]
    if trait.evaluation_mode == "full_matrix":
        part.not_mentioned = missing + [text for text in trait.tn_instructions if _normal(text) not in seen]
    else:
        part.fn = missing
    usual_fp, usual_fn = (
        {_normal(text) for text in listed} for listed in (trait.fp_instructions, trait.fn_instructions)
    )
    part.expected_fp = [text for text in part.fp if _normal(text) in usual_fp]
    part.expected_fn = [text for text in part.fn if _normal(text) in usual_fn]
    return part


def _normal(text: str) -> str:
    folded = nfc(text).casefold()
    return re.sub(r"\s+", " ", folded).strip(string.punctuation + string.whitespace)


class Metric(NamedTuple):
    """A metric of a confusion matrix: its fraction, in numbers and in words."""

    fraction: Callable[[int, int, int, int], tuple[int, int]]
    written: str


_METRICS = {
    "precision": Metric(lambda tp, fp, tn, fn: (tp, tp + fp), "{tp} / ({tp} + {fp})"),
    "recall": Metric(lambda tp, fp, tn, fn: (tp, tp + fn), "{tp} / ({tp} + {fn})"),
    "f1": Metric(lambda tp, fp, tn, fn: (2 * tp, 2 * tp + fp + fn), "2 × {tp} / (2 × {tp} + {fp} + {fn})"),
    "accuracy": Metric(
        lambda tp, fp, tn, fn: (tp + tn, tp + tn + fp + fn), "({tp} + {tn}) / ({tp} + {tn} + {fp} + {fn})"
    ),
    "specificity": Metric(lambda tp, fp, tn, fn: (tn, tn + fp), "{tn} / ({tn} + {fp})"),
}


def metric_values(metrics: Sequence[str], tp: int, fp: int, tn: int, fn: int) -> tuple[dict[str, float], list[str]]:
    """Compute metrics from counts.

    Precision = TP/(TP+FP), recall = TP/(TP+FN), F1 = 2TP/(2TP+FP+FN) (the harmonic mean of both), accuracy =
    (TP+TN)/all, specificity = TN/(TN+FP).

    Returns:
        Values from 0 to 1 by metric, and the metrics whose denominator was 0; those are given as 0.
    """
    fractions = {name: _METRICS[name].fraction(tp, fp, tn, fn) for name in metrics}
    undefined = [name for name, (_, bottom) in fractions.items() if not bottom]
    return {name: top / bottom if bottom else 0.0 for name, (top, bottom) in fractions.items()}, undefined


def arithmetic(metrics: Sequence[str], tp: int, fp: int, tn: int, fn: int) -> list[str]:
    """Return one line for each metric, such as `precision = 3 / (3 + 1) = 0.75`."""
    values, undefined = metric_values(metrics, tp, fp, tn, fn)
    lines = []
    for name in metrics:
        value = "nothing to divide by, so it has no value" if name in undefined else f"{values[name]:.2f}"
        written = _METRICS[name].written.format(tp=tp, fp=fp, tn=tn, fn=fn)
        lines.append(f"{name} = {written}{':' if name in undefined else ' ='} {value}")
    return lines


def evaluate(trait: MetricRubricTrait, items: Iterable[ExtractedItem]) -> tuple[dict[str, float], ConfusionPart]:
    """Return a trait's metrics and the items behind them."""
    part = confusion(trait, items)
    values, part.undefined = metric_values(trait.metrics, len(part.tp), len(part.fp), len(part.tn), len(part.fn))
    return values, part


# Marking items by hand


def named_in(trait: MetricRubricTrait, response: str) -> list[str]:
    """Return the instructions whose words stand in a response, in the order of the trait.

    A first suggestion for marking by hand; it knows neither other wordings nor a "not".
    """
    text = f" {_words(response)} "
    items = dict.fromkeys([*trait.tp_instructions, *trait.tn_instructions, *trait.fp_instructions])
    return [item for item in items if _words(item) and f" {_words(item)} " in text]


def marked(positive: Sequence[str], negative: Sequence[str] = ()) -> list[ExtractedItem]:
    """Return items a person has marked by hand, as a judge would list them.

    Args:
        positive: Items the response gives as its answer, or puts in the positive class.
        negative: Items it puts in the negative class.
    """
    return [
        *(ExtractedItem(item=item, item_class="positive") for item in positive),
        *(ExtractedItem(item=item, item_class="negative") for item in negative),
    ]


def _words(text: str) -> str:
    return " ".join("".join(character if character.isalnum() else " " for character in text.casefold()).split())
