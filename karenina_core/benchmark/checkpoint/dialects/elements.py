"""Files whose elements are the questions themselves, and whose rubrics are plain objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.dialects.gui_v2 import question_item
from karenina_core.benchmark.checkpoint.nodes import GLOBAL, Repairs, listed
from karenina_core.benchmark.checkpoint.traits import ratings_of_rubric, rubric_names

_RUBRICS = ("globalRubric", "rubric")


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether an element is a bare question, or the file has a rubric object."""
    elements = document.get("dataFeedElement")
    if not isinstance(elements, list):
        return False
    return any(isinstance(document.get(key), dict) for key in _RUBRICS) or any(map(_is_question, elements))


def convert(document: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """Return the document with every question wrapped and every rubric as ratings."""
    root = dict(document)
    for rubric in [root.pop(key) for key in _RUBRICS if isinstance(root.get(key), dict)]:
        added = {
            "rating": ratings_of_rubric(rubric, GLOBAL, "global rubric", repairs),
            "additionalProperty": rubric_names(rubric, GLOBAL),
        }
        root |= {key: [*listed(root.get(key)), *new] for key, new in added.items() if new}
    elements = document["dataFeedElement"]
    return {**root, "dataFeedElement": [_wrapped(e, repairs) if _is_question(e) else e for e in elements]}


def _is_question(element: Any) -> bool:
    return isinstance(element, dict) and "item" not in element and ("name" in element or "text" in element)


def _wrapped(question: Mapping[str, Any], repairs: Repairs) -> Any:
    key = question.get("identifier")
    repairs.add(f"question {key or question.get('text')}", "the element is the question itself", "wrapped")
    return question_item(key, {name: value for name, value in question.items() if name != "identifier"}, repairs)
