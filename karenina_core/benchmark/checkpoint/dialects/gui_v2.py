"""The first graphical editor's own JSON: no `@context`, questions by id under `checkpoint`.

A variant lists them under `questions`, with their templates apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.nodes import CONTEXT, CUSTOM_PREFIX, GLOBAL, QUESTION, Repairs, property_node
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
        "dataFeedElement": [_item(str(key), record, repairs) for key, record in records.items()],
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
    for number, listed in enumerate(document["questions"], start=1):
        record = dict(listed)
        key = record.pop("id", None)
        template = templates.get(key)
        record["answer_template"] = template.get("template") if isinstance(template, dict) else template
        record["question_rubric"] = record.pop("rubric", None)
        record["finished"] = record.pop("isFinished", record.get("finished"))
        records[str(key if "id" in listed else f"question_{number}")] = record
    return records


def _item(key: str, record: Any, repairs: Repairs) -> Any:
    if not isinstance(record, Mapping):
        return record
    where, rest = f"question {key}", dict(record)

    def take(name: str) -> Any:
        return rest.pop(name, None)

    text, answer, template, rubric = map(take, ("question", "raw_answer", "answer_template", "question_rubric"))
    created, modified, custom = map(take, ("date_created", "last_modified", "custom_metadata"))
    nodes = [property_node(name, value) for name in _PROPERTIES if (value := take(name)) is not None]
    if isinstance(custom, Mapping):
        nodes += [property_node(f"{CUSTOM_PREFIX}{name}", value) for name, value in custom.items()]
    keywords, tags = take("keywords"), take("tags")
    if keywords is None and tags is not None:
        repairs.add(where, "the keywords are named 'tags'", "read as keywords")
    item = {
        "@type": "Question",
        **rest,
        "text": text,
        "acceptedAnswer": {"@type": "Answer", "text": answer},
        "hasPart": {"@type": "SoftwareSourceCode", "text": template or ""},
        "rating": ratings_of_rubric(rubric, QUESTION, where, repairs),
        "additionalProperty": [*nodes, *rubric_names(rubric, QUESTION)],
        "keywords": tags if keywords is None else keywords,
    }
    dates = {"dateCreated": created or modified, "dateModified": modified}
    return {"@type": "DataFeedItem", "@id": key, **dates, "item": item}
