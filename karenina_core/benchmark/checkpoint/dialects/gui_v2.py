"""The first graphical editor's own JSON: no `@context`, questions by id under `checkpoint`.

A variant lists them under `questions`, with their templates apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.nodes import (
    CONTEXT,
    CUSTOM_PREFIX,
    GLOBAL,
    QUESTION,
    Repairs,
    listed,
    property_node,
)
from karenina_core.benchmark.checkpoint.traits import ratings_of_rubric, rubric_names

_ROOT_KEYS = ("version", "checkpoint", "questions", "templates", "global_rubric", "globalRubric", "dataset_metadata")
_PROPERTIES = (
    "finished",
    "original_answer_template",
    "author",
    "sources",
    "few_shot_examples",
    "answer_notes",
    "workspace_path",
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
    rubric = document.get("global_rubric") or document.get("globalRubric")
    records = _listed_records(document) if _is_listing(document) else document["checkpoint"]
    root = {
        "@context": CONTEXT,
        "@type": "DataFeed",
        **{key: value for key, value in document.items() if key not in _ROOT_KEYS},
        **(metadata if isinstance(metadata, dict) else {}),
        "rating": ratings_of_rubric(rubric, GLOBAL, "global rubric", repairs),
        "dataFeedElement": [question_item(str(key), record, repairs) for key, record in records.items()],
    }
    names = rubric_names(rubric, GLOBAL)
    return {**root, "@type": "DataFeed"} | ({"additionalProperty": names} if names else {})


def _is_listing(document: Mapping[str, Any]) -> bool:
    questions = document.get("questions")
    return isinstance(questions, list) and all(isinstance(item, dict) and "question" in item for item in questions)


def _listed_records(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the questions of the listing variant as the usual records, by id."""
    templates = document.get("templates")
    templates = templates if isinstance(templates, dict) else {}
    records = {}
    for number, question in enumerate(document["questions"], start=1):
        record = dict(question)
        key = record.pop("id", None)
        template = templates.get(key)
        record["answer_template"] = template.get("template") if isinstance(template, dict) else template
        record["question_rubric"] = record.pop("rubric", None)
        record["finished"] = record.pop("isFinished", record.get("finished"))
        records[str(key if "id" in question else f"question_{number}")] = record
    return records


def question_item(key: Any, record: Any, repairs: Repairs) -> Any:
    """Return the `DataFeedItem` of a question that is stored as a plain object; what it does not know stays in it.

    Args:
        key: Its id.
        record: The object; anything else is returned as it is.
        repairs: Gets a note of what was not read as it stands.
    """
    if not isinstance(record, Mapping):
        return record
    where, rest = f"question {key}", dict(record)

    def take(*names: str) -> Any:
        return next((value for value in [rest.pop(name, None) for name in names] if value is not None), None)

    text, template = take("question", "text") or take("name"), take("answer_template", "answerTemplate")
    modified, rubric, custom = (
        take("last_modified", "dateModified"),
        take("question_rubric", "rubric"),
        take("custom_metadata"),
    )
    created, keywords, tags = take("date_created", "dateCreated"), take("keywords"), take("tags")
    nodes = listed(take("additionalProperty"))
    nodes += [property_node(name, value) for name in _PROPERTIES if (value := take(name)) is not None]
    if isinstance(custom, Mapping):
        nodes += [property_node(f"{CUSTOM_PREFIX}{name}", value) for name, value in custom.items()]
    if keywords is None and tags is not None:
        repairs.add(where, "the keywords are named 'tags'", "read as keywords")
    item = {
        "@type": "Question",
        "acceptedAnswer": {"@type": "Answer", "text": take("raw_answer")},
        "hasPart": {"@type": "SoftwareSourceCode", "text": template or ""},
        **rest,
        "text": text,
        "rating": [*listed(rest.get("rating")), *ratings_of_rubric(rubric, QUESTION, where, repairs)],
        "additionalProperty": [*nodes, *rubric_names(rubric, QUESTION)],
        "keywords": tags if keywords is None else keywords,
    }
    dates = {"dateCreated": created or modified, "dateModified": modified}
    return {"@type": "DataFeedItem", "@id": key, **dates, "item": item}
