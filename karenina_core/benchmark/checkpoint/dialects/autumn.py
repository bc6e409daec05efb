"""Files of the graphical editor since autumn 2025: nearly the present form, but with another default for metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.properties import listed, objects, property_node, values_by_name
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.benchmark.checkpoint.vocabulary import FORMAT_VERSION_NAME

_MARK = "checkpoint_format_version"
_NAME = "repeated_extraction"


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether the editor wrote the file and left its default for repeated mentions unsaid."""
    elements = document.get("dataFeedElement")
    marks = values_by_name(document.get("additionalProperty"))
    # Whatever saved the file in the present form has said what it means.
    if not isinstance(elements, list) or _MARK not in marks or FORMAT_VERSION_NAME in marks:
        return False
    questions = (node.get("item") for node in objects(elements))
    holders = [document, *(question for question in questions if isinstance(question, dict))]
    return any(_is_silent(rating) for holder in holders for rating in objects(holder.get("rating")))


def convert(document: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """Return the document with the default said."""
    return {
        **_with_ratings(document, repairs),
        "dataFeedElement": [
            {**node, "item": _with_ratings(node["item"], repairs)}
            if isinstance(node, dict) and isinstance(node.get("item"), dict)
            else node
            for node in document["dataFeedElement"]
        ],
    }


def _is_silent(rating: Mapping[str, Any]) -> bool:
    return str(rating.get("additionalType")).endswith("MetricRubricTrait") and _NAME not in values_by_name(
        rating.get("additionalProperty")
    )


def _with_ratings(holder: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    if not isinstance(holder.get("rating"), list | dict):
        return dict(holder)
    return {**holder, "rating": [_outspoken(rating, repairs) for rating in listed(holder["rating"])]}


def _outspoken(rating: Any, repairs: Repairs) -> Any:
    if not isinstance(rating, dict) or not _is_silent(rating):
        return rating
    repairs.add(f"trait {rating.get('name')}", "repeated mentions are not said to count once", "every mention counts")
    properties = rating.get("additionalProperty")
    return {**rating, "additionalProperty": [*listed(properties), property_node(_NAME, False)]}
