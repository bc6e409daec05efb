"""Contents as a file of the newest form; whatever a file held beyond them is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karenina_core.benchmark.checkpoint import question_properties, root_properties
from karenina_core.benchmark.checkpoint.entries import template_node, template_source
from karenina_core.benchmark.checkpoint.properties import ABSENT, laid_over, write_over
from karenina_core.benchmark.checkpoint.rubrics import write_ratings
from karenina_core.benchmark.checkpoint.vocabulary import (
    CONTEXT,
    CUSTOM_PREFIX,
    FORMAT_VERSION,
    FORMAT_VERSION_NAME,
    GLOBAL,
    GLOBAL_RUBRIC_DESCRIPTION,
    GLOBAL_RUBRIC_NAME,
    QUESTION,
    QUESTION_RUBRIC_DESCRIPTION,
    QUESTION_RUBRIC_NAME,
)
from karenina_core.benchmark.contents import Contents
from karenina_core.benchmark.entry import BenchmarkQuestion, Entry
from karenina_core.schemas import Rubric

ELEMENTS = "dataFeedElement"
"""Where a file holds its questions."""


def write_frame(contents: Contents, *, deep_judgment: bool = True) -> dict[str, Any]:
    """Return the JSON of a file without its questions. It shares parts with the contents, so it is for reading only.

    Args:
        contents: What to write.
        deep_judgment: Whether to keep the `deep_judgment_*` settings that traits of a file may carry.
    """
    node = contents.node
    values = {
        "@context": CONTEXT,
        "@type": "DataFeed",
        "name": contents.name,
        "description": _given(contents.description),
        "version": contents.version,
        "creator": contents.creator,
        "dateCreated": contents.created_at,
        "dateModified": contents.modified_at,
        "rating": _ratings(contents.rubric, GLOBAL, node),
        ELEMENTS: [],
        "additionalProperty": write_over(
            node.get("additionalProperty"),
            _root_properties(contents),
            known=lambda name: True,
            decode=root_properties.decode,
            encode=lambda name, value: value,
        ),
    }
    frame = laid_over(node, values)
    return frame if deep_judgment else _quiet(frame)


def write_elements(contents: Contents, *, deep_judgment: bool = True) -> Iterator[Mapping[str, Any]]:
    """Yield the `DataFeedItem`s of a file, one for each question; for reading only, too."""
    for entry in contents.entries.values():
        node = write_entry(entry)
        yield node if deep_judgment else {**node, "item": _quiet(node["item"])}


def write_entry(entry: Entry) -> Mapping[str, Any]:
    """Return the `DataFeedItem` of a question."""
    if entry.clean:
        return entry.node
    question, node = entry.question, entry.node
    values = {
        "@type": "DataFeedItem",
        "@id": question.id,
        "dateCreated": question.date_created,
        "dateModified": question.date_modified,
        "keywords": ABSENT,  # their place is in the question
        "item": _item(entry, node.get("item") or {}),
    }
    return laid_over(node, values)


def _item(entry: Entry, item: Mapping[str, Any]) -> dict[str, Any]:
    question = entry.question
    values = {
        "@type": "Question",
        "text": question.question,
        "acceptedAnswer": _answer(question, item),
        "hasPart": _template(question, item),
        "rating": _ratings(entry.rubric, QUESTION, item),
        "additionalProperty": write_over(
            item.get("additionalProperty"),
            _question_properties(entry),
            known=question_properties.known,
            decode=question_properties.decode,
            encode=question_properties.encode,
        ),
        "keywords": question.keywords if question.keywords or "keywords" in item else ABSENT,
    }
    return laid_over(item, values)


def _answer(question: BenchmarkQuestion, item: Mapping[str, Any]) -> dict[str, Any]:
    read = item.get("acceptedAnswer")
    base = read if isinstance(read, dict) else {}
    if isinstance(read, list) and read and isinstance(read[0], dict):
        base = read[0]
    return {"@type": "Answer", **base, "text": question.raw_answer}


def _template(question: BenchmarkQuestion, item: Mapping[str, Any]) -> dict[str, Any]:
    base = template_node(item)
    source = question.answer_template
    text = base.get("text") if source == template_source(base) else source
    return {
        "@type": "SoftwareSourceCode",
        "name": f"{question.question[:30]}... Answer Template",
        **base,
        "text": text or "",
        "programmingLanguage": "Python",
    }


def _ratings(rubric: Rubric | None, scope: str, node: Mapping[str, Any]) -> Any:
    ratings = write_ratings(rubric, scope, node.get("rating"))
    return ratings if ratings or "rating" in node else ABSENT


def _given(value: Any) -> Any:
    return ABSENT if value is None else value


def _rubric_names(rubric: Rubric | None, name: str, description: str) -> dict[str, Any]:
    return {name: _given(rubric.name), description: _given(rubric.description)} if rubric is not None else {}


def _root_properties(contents: Contents) -> dict[str, Any]:
    values = {
        **contents.properties,
        **_rubric_names(contents.rubric, GLOBAL_RUBRIC_NAME, GLOBAL_RUBRIC_DESCRIPTION),
        FORMAT_VERSION_NAME: FORMAT_VERSION,
    }
    return laid_over({}, values)


def _question_properties(entry: Entry) -> dict[str, Any]:
    question = entry.question
    examples = question.few_shot_examples
    values = {
        "finished": question.finished,
        "author": _given(question.author),
        "sources": _given(question.sources),
        **{f"{CUSTOM_PREFIX}{name}": value for name, value in (question.custom_metadata or {}).items()},
        "few_shot_examples": ABSENT if examples is None else [example.model_dump() for example in examples],
        "answer_notes": _given(question.answer_notes),
        "workspace_path": _given(question.workspace_path),
        **_rubric_names(entry.rubric, QUESTION_RUBRIC_NAME, QUESTION_RUBRIC_DESCRIPTION),
    }
    return laid_over({}, values)


def _quiet(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node whose ratings hold no deep judgment settings."""
    if "rating" not in holder:
        return dict(holder)
    return {**holder, "rating": [_quiet_rating(rating) for rating in holder["rating"]]}


def _quiet_rating(rating: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in rating.items() if not key.startswith("deep_judgment_")}
    if "additionalProperty" in kept:
        kept["additionalProperty"] = [node for node in kept["additionalProperty"] if not _is_deep_judgment(node)]
    return kept


def _is_deep_judgment(node: Any) -> bool:
    return isinstance(node, dict) and str(node.get("name")).startswith("deep_judgment_")
