"""The arithmetic of a metric trait in words, for people who check it."""

from __future__ import annotations

from collections.abc import Sequence

from karenina_core.pipeline.metrics import ExtractedItem, metric_values
from karenina_core.schemas import MetricRubricTrait


def arithmetic(metrics: Sequence[str], tp: int, fp: int, tn: int, fn: int) -> list[str]:
    """Return one line for each metric, such as `precision = 3 / (3 + 1) = 0.75`."""
    values, undefined = metric_values(metrics, tp, fp, tn, fn)
    sums = {
        "precision": f"{tp} / ({tp} + {fp})",
        "recall": f"{tp} / ({tp} + {fn})",
        "f1": f"2 × {tp} / (2 × {tp} + {fp} + {fn})",
        "accuracy": f"({tp} + {tn}) / ({tp} + {tn} + {fp} + {fn})",
        "specificity": f"{tn} / ({tn} + {fp})",
    }
    return [
        f"{name} = {sums[name]}: nothing to divide by, so it has no value"
        if name in undefined
        else f"{name} = {sums[name]} = {values[name]:.2f}"
        for name in metrics
    ]


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
