"""Files whose elements are the questions themselves, and whose rubrics are plain objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.dialects.gui_v2 import rubric_names
from karenina_core.benchmark.checkpoint.legacy_traits import ratings_of_rubric
from karenina_core.benchmark.checkpoint.properties import listed, property_node
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.benchmark.checkpoint.vocabulary import (
    GLOBAL,
    GLOBAL_RUBRIC_DESCRIPTION,
    GLOBAL_RUBRIC_NAME,
    QUESTION,
    QUESTION_RUBRIC_DESCRIPTION,
    QUESTION_RUBRIC_NAME,
)

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
    rubrics = [document[key] for key in _RUBRICS if isinstance(document.get(key), dict)]
    carried = [rating for rubric in rubrics for rating in ratings_of_rubric(rubric, GLOBAL, "global rubric", repairs)]
    names = [node for rubric in rubrics for node in rubric_names(rubric, GLOBAL_RUBRIC_NAME, GLOBAL_RUBRIC_DESCRIPTION)]
    root = {key: value for key, value in document.items() if not (key in _RUBRICS and isinstance(value, dict))}
    if carried:
        root["rating"] = [*listed(root.get("rating")), *carried]
    if names:
        root["additionalProperty"] = [*listed(root.get("additionalProperty")), *names]
    root["dataFeedElement"] = [
        _wrapped(element, repairs) if _is_question(element) else element for element in document["dataFeedElement"]
    ]
    return root


def _is_question(element: Any) -> bool:
    return isinstance(element, dict) and "item" not in element and ("name" in element or "text" in element)


def _wrapped(question: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    text = question.get("text") or question.get("name")
    where = f"question {question.get('identifier') or text}"
    repairs.add(where, "the element is the question itself", "wrapped in a DataFeedItem")
    rubric = question.get("rubric")
    moved = _MOVED if question.get("text") else _MOVED | {"name"}
    item = {key: value for key, value in question.items() if key not in moved}
    item |= {
        "text": text,
        "hasPart": question.get("hasPart")
        or {"@type": "SoftwareSourceCode", "text": question.get("answerTemplate") or ""},
    }
    ratings = ratings_of_rubric(rubric, QUESTION, where, repairs)
    if ratings:
        item["rating"] = [*listed(question.get("rating")), *ratings]
    properties = rubric_names(rubric, QUESTION_RUBRIC_NAME, QUESTION_RUBRIC_DESCRIPTION)
    if "finished" in question:
        properties.append(property_node("finished", question["finished"]))
    if properties:
        item["additionalProperty"] = [*listed(question.get("additionalProperty")), *properties]
    dates = {key: question[key] for key in ("dateCreated", "dateModified") if key in question}
    return {"@type": "DataFeedItem", "@id": question.get("identifier"), **dates, "item": item}
