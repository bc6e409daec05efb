"""The first graphical editor's own JSON: no `@context`, questions by id under `checkpoint`.

A variant lists them under `questions`, with their templates apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.legacy_traits import ratings_of_rubric
from karenina_core.benchmark.checkpoint.properties import property_node
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.benchmark.checkpoint.vocabulary import (
    CONTEXT,
    CUSTOM_PREFIX,
    GLOBAL,
    GLOBAL_RUBRIC_DESCRIPTION,
    GLOBAL_RUBRIC_NAME,
    QUESTION,
    QUESTION_RUBRIC_DESCRIPTION,
    QUESTION_RUBRIC_NAME,
)

_ROOT_KEYS = frozenset(
    {"version", "checkpoint", "questions", "templates", "global_rubric", "globalRubric", "dataset_metadata"}
)
_PROPERTIES = (
    "finished",
    "original_answer_template",
    "author",
    "sources",
    "few_shot_examples",
    "answer_notes",
    "workspace_path",
)
_QUESTION_KEYS = frozenset(
    {
        *_PROPERTIES,
        "question",
        "raw_answer",
        "answer_template",
        "date_created",
        "last_modified",
        "question_rubric",
        "custom_metadata",
        "keywords",
        "tags",
    }
)


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether this is such a file."""
    if "@context" in document or "dataFeedElement" in document:
        return False
    return isinstance(document.get("checkpoint"), dict) or _is_listing(document)


def convert(document: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """Return the document in the present form."""
    repairs.add("the file", "it is a graphical editor's file of version 2, without @context", "converted")
    metadata = document.get("dataset_metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    rubric = document.get("global_rubric") or document.get("globalRubric")
    records = _listed_records(document) if _is_listing(document) else document["checkpoint"]
    root = {
        "@context": CONTEXT,
        "@type": "DataFeed",
        **{key: value for key, value in document.items() if key not in _ROOT_KEYS},
        **{key: value for key, value in metadata.items() if key != "@type"},
        "rating": ratings_of_rubric(rubric, GLOBAL, "global rubric", repairs),
        "dataFeedElement": [_item(str(key), record, repairs) for key, record in records.items()],
    }
    names = rubric_names(rubric, GLOBAL_RUBRIC_NAME, GLOBAL_RUBRIC_DESCRIPTION)
    return {**root, "additionalProperty": names} if names else root


def rubric_names(rubric: Any, name: str, description: str) -> list[dict[str, Any]]:
    """Return the properties that hold a plain rubric object's own name and description."""
    if not isinstance(rubric, Mapping):
        return []
    pairs = ((name, rubric.get("name")), (description, rubric.get("description")))
    return [property_node(key, value) for key, value in pairs if isinstance(value, str)]


def _is_listing(document: Mapping[str, Any]) -> bool:
    questions = document.get("questions")
    return isinstance(questions, list) and all(isinstance(item, dict) and "question" in item for item in questions)


def _listed_records(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the questions of the listing variant as the usual records, by id."""
    templates = document.get("templates")
    templates = templates if isinstance(templates, dict) else {}
    records = {}
    for number, listed in enumerate(document["questions"], start=1):
        template = templates.get(listed.get("id"))
        record = {key: value for key, value in listed.items() if key not in ("id", "isFinished", "rubric")}
        record["answer_template"] = template.get("template") if isinstance(template, dict) else template
        record["question_rubric"] = listed.get("rubric")
        record["finished"] = listed.get("isFinished", listed.get("finished"))
        records[str(listed.get("id", f"question_{number}"))] = record
    return records


def _item(key: str, record: Any, repairs: Repairs) -> Any:
    if not isinstance(record, Mapping):
        return record
    where = f"question {key}"
    rubric = record.get("question_rubric")
    item: dict[str, Any] = {
        "@type": "Question",
        **{name: value for name, value in record.items() if name not in _QUESTION_KEYS},
        "text": record.get("question"),
        "acceptedAnswer": {"@type": "Answer", "text": record.get("raw_answer")},
        "hasPart": {"@type": "SoftwareSourceCode", "text": record.get("answer_template") or ""},
        "rating": ratings_of_rubric(rubric, QUESTION, where, repairs),
        "additionalProperty": [
            *_properties(record),
            *rubric_names(rubric, QUESTION_RUBRIC_NAME, QUESTION_RUBRIC_DESCRIPTION),
        ],
        "keywords": _keywords(record, where, repairs),
    }
    modified = record.get("last_modified")
    dates = {"dateCreated": record.get("date_created") or modified, "dateModified": modified}
    return {"@type": "DataFeedItem", "@id": key, **dates, "item": item}


def _properties(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    nodes = [property_node(name, record[name]) for name in _PROPERTIES if record.get(name) is not None]
    custom = record.get("custom_metadata")
    if isinstance(custom, Mapping):
        nodes += [property_node(f"{CUSTOM_PREFIX}{name}", value) for name, value in custom.items()]
    return nodes


def _keywords(record: Mapping[str, Any], where: str, repairs: Repairs) -> Any:
    if record.get("keywords") is None and record.get("tags") is not None:
        repairs.add(where, "the keywords are named 'tags'", "read as keywords")
        return record["tags"]
    return record.get("keywords") or []
