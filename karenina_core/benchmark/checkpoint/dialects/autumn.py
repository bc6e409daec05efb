"""Files of the graphical editor since autumn 2025: nearly the present form, but with another default for metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.nodes import (
    FORMAT_VERSION_NAME,
    Repairs,
    listed,
    objects,
    property_node,
    values_by_name,
)

_MARK = "checkpoint_format_version"
_NAME = "repeated_extraction"


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether the editor wrote the file and left out its default for repeated mentions."""
    elements = document.get("dataFeedElement")
    marks = values_by_name(document.get("additionalProperty"))
    # Whatever saved the file in the present form has stated what it means.
    if not isinstance(elements, list) or _MARK not in marks or FORMAT_VERSION_NAME in marks:
        return False
    holders = [document, *objects([node.get("item") for node in objects(elements)])]
    return any(_is_silent(rating) for holder in holders for rating in objects(holder.get("rating")))


def convert(document: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """Return the document with the default written out."""

    def element(node: Any) -> Any:
        item = node.get("item") if isinstance(node, dict) else None
        return {**node, "item": _with_ratings(item, repairs)} if isinstance(item, dict) else node

    elements = [element(node) for node in document["dataFeedElement"]]
    return {**_with_ratings(document, repairs), "dataFeedElement": elements}


def _is_silent(rating: Mapping[str, Any]) -> bool:
    is_metric = str(rating.get("additionalType")).endswith("MetricRubricTrait")
    return is_metric and _NAME not in values_by_name(rating.get("additionalProperty"))


def _with_ratings(holder: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    if not isinstance(holder.get("rating"), list | dict):
        return dict(holder)
    return {**holder, "rating": [_completed(rating, repairs) for rating in listed(holder["rating"])]}


def _completed(rating: Any, repairs: Repairs) -> Any:
    if not isinstance(rating, dict) or not _is_silent(rating):
        return rating
    repairs.add(f"trait {rating.get('name')}", "repeated mentions are not said to count once", "every mention counts")
    return {**rating, "additionalProperty": [*listed(rating.get("additionalProperty")), property_node(_NAME, False)]}
