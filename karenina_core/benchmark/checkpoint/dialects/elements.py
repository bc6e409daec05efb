"""Files whose elements are the questions themselves, and whose rubrics are plain objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.nodes import GLOBAL, QUESTION, Repairs, listed, property_node
from karenina_core.benchmark.checkpoint.traits import ratings_of_rubric, rubric_names

_RUBRICS = ("globalRubric", "rubric")
_MOVED = frozenset({"identifier", "answerTemplate", "rubric", "finished", "dateCreated", "dateModified"})


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
        ratings = ratings_of_rubric(rubric, GLOBAL, "global rubric", repairs)
        root |= _extended(root, ratings, rubric_names(rubric, GLOBAL))
    elements = document["dataFeedElement"]
    return {**root, "dataFeedElement": [_wrapped(e, repairs) if _is_question(e) else e for e in elements]}


def _is_question(element: Any) -> bool:
    return isinstance(element, dict) and "item" not in element and ("name" in element or "text" in element)


def _extended(
    node: Mapping[str, Any], ratings: list[dict[str, Any]], properties: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the lists of a node to which something is added."""
    added = {"rating": ratings, "additionalProperty": properties}
    return {key: [*listed(node.get(key)), *new] for key, new in added.items() if new}


def _wrapped(question: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    text = question.get("text") or question.get("name")
    where = f"question {question.get('identifier') or text}"
    repairs.add(where, "the element is the question itself", "wrapped in a DataFeedItem")
    rubric = question.get("rubric")
    properties = rubric_names(rubric, QUESTION)
    if "finished" in question:
        properties.append(property_node("finished", question["finished"]))
    moved = _MOVED if question.get("text") else _MOVED | {"name"}
    template = {"@type": "SoftwareSourceCode", "text": question.get("answerTemplate") or ""}
    item = {
        **{key: value for key, value in question.items() if key not in moved},
        "text": text,
        "hasPart": question.get("hasPart") or template,
        **_extended(question, ratings_of_rubric(rubric, QUESTION, where, repairs), properties),
    }
    dates = {key: question[key] for key in ("dateCreated", "dateModified") if key in question}
    return {"@type": "DataFeedItem", "@id": question.get("identifier"), **dates, "item": item}
