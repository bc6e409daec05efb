"""One `DataFeedItem` of a file as a question of a benchmark."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from karenina_core.benchmark.checkpoint.legacy_traits import ratings_of_carriers
from karenina_core.benchmark.checkpoint.placeholders import is_placeholder
from karenina_core.benchmark.checkpoint.properties import UNREADABLE, listed, values_by_name
from karenina_core.benchmark.checkpoint.question_properties import DECODERS, decode_with_remark
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.benchmark.checkpoint.rubrics import make_rubric, read_traits
from karenina_core.benchmark.checkpoint.vocabulary import (
    CUSTOM_PREFIX,
    QUESTION,
    QUESTION_CARRIERS,
    QUESTION_RUBRIC_DESCRIPTION,
    QUESTION_RUBRIC_NAME,
)
from karenina_core.benchmark.entry import BenchmarkQuestion, Entry
from karenina_core.schemas import AnyTrait, Rubric
from karenina_core.schemas.entities.question import question_id
from karenina_core.text import first_free

_PLAIN_FIELDS = ("author", "sources", "few_shot_examples", "answer_notes", "workspace_path")


class Dates(NamedTuple):
    """When the file was created and changed; stands in for questions that do not say."""

    created: str
    modified: str


class ReadEntry(NamedTuple):
    """A question, and the global traits that stood among its own."""

    entry: Entry
    strays: list[AnyTrait]


def read_entry(
    node: dict[str, Any], taken: Container[str], dates: Dates, repairs: Repairs, *, converted: bool = False
) -> ReadEntry:
    """Read one question.

    Args:
        node: The `DataFeedItem`, whose `item` is an object. It is not changed.
        taken: The ids given so far.
        dates: For questions without dates.
        repairs: Gets a note of every liberty taken.
        converted: Whether the node is not what the file holds.
    """
    before = len(repairs)
    item = node["item"]
    text = _text(item, repairs)
    stored_id = _id(node, item, text, taken, repairs)
    where = f"question {stored_id}"
    properties = _properties(item, where, repairs)
    rubric, strays = _rubric(item, properties, where, repairs)
    data = {
        "question": text,
        "raw_answer": _answer(item, where, repairs),
        "answer_template": _template(item, where, repairs),
        "keywords": _keywords(node, item, where, repairs),
        "date_created": _date(node, "dateCreated", dates.created, where, repairs),
        "date_modified": _date(node, "dateModified", dates.modified, where, repairs),
        "question_rubric": None if rubric is None else rubric.model_dump(mode="json"),
        "custom_metadata": properties["custom"] or None,
        "finished": bool(properties["finished"]),
        "stored_id": stored_id,
        **{name: properties.get(name) for name in _PLAIN_FIELDS},
    }
    question = BenchmarkQuestion.model_validate(data)
    return ReadEntry(Entry(question, rubric, node, clean=not converted and len(repairs) == before), strays)


def question_text(item: Mapping[str, Any]) -> str:
    """Return the text of a Question node, empty when it has none."""
    text = item.get("text")
    if isinstance(text, str) and text:
        return text
    name = item.get("name")
    return name if isinstance(name, str) else ""


def answer_text(item: Mapping[str, Any]) -> Any:
    """Return what a Question node gives as its answer: a text where all is well."""
    answer = item.get("acceptedAnswer")
    if isinstance(answer, list) and answer:
        answer = answer[0]
    return answer.get("text") if isinstance(answer, dict) else answer


def template_node(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the node that holds the template of a Question node, empty when there is none."""
    part = item.get("hasPart")
    if isinstance(part, list):
        part = next((node for node in part if isinstance(node, dict) and "text" in node), None)
    return part if isinstance(part, dict) else {}


def template_source(node: Mapping[str, Any]) -> str | None:
    """Return the template a node holds, None when there is none worth the name."""
    source = node.get("text")
    return source if isinstance(source, str) and source.strip() and not is_placeholder(source) else None


def _text(item: Mapping[str, Any], repairs: Repairs) -> str:
    text = question_text(item)
    if not text.strip():
        repairs.add("a question", "it has no text", "kept without one")
    elif item.get("text") != text:
        repairs.add(f"question {text[:40]!r}", "its text stands under 'name'", "read from there")
    return text


def _id(node: Mapping[str, Any], item: Mapping[str, Any], text: str, taken: Container[str], repairs: Repairs) -> str:
    given = next((value for value in (node.get("@id"), item.get("@id")) if value not in (None, "")), None)
    if given is None:
        stored_id = question_id(text)
    else:
        stored_id = given if isinstance(given, str) else str(given)
    if stored_id in taken:
        stored_id, repeated = free_id(stored_id, taken), stored_id
        repairs.add(f"question {repeated}", "another question has the same id", f"it got the id {stored_id}")
    elif node.get("@id") != stored_id:
        source = "the id of its Question" if given is not None else "the hash of its text"
        repairs.add(f"question {stored_id}", "its DataFeedItem has no id", f"{source} is used")
    return stored_id


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return `wanted`, numbered if it is taken."""
    return first_free(lambda number: f"{wanted}-{number}", taken) if wanted in taken else wanted


def _properties(item: Mapping[str, Any], where: str, repairs: Repairs) -> dict[str, Any]:
    read: dict[str, Any] = {"custom": {}, "finished": None}
    for name, value in values_by_name(item.get("additionalProperty"), where, repairs).items():
        if name.startswith(CUSTOM_PREFIX):
            read["custom"][name.removeprefix(CUSTOM_PREFIX)] = value
        elif name in DECODERS:
            decoded, remark = decode_with_remark(name, value)
            if decoded is UNREADABLE and name not in QUESTION_CARRIERS:
                repairs.add(where, f"the property {name!r} cannot be read", "kept as it is, not used")
            elif decoded is not UNREADABLE:
                read[name] = decoded
            if remark:
                repairs.add(where, f"the property {name!r} has an unusual form", remark)
    if read["finished"] is None:
        repairs.add(where, "there is no 'finished' flag", "read as unfinished")
    return read


def _rubric(
    item: Mapping[str, Any], properties: Mapping[str, Any], where: str, repairs: Repairs
) -> tuple[Rubric | None, list[AnyTrait]]:
    ratings = item.get("rating")
    if not QUESTION_CARRIERS.keys().isdisjoint(properties):
        carried = ratings_of_carriers(item.get("additionalProperty"), QUESTION_CARRIERS, QUESTION, where, repairs)
        ratings = [*listed(ratings), *carried]
    name, description = properties.get(QUESTION_RUBRIC_NAME), properties.get(QUESTION_RUBRIC_DESCRIPTION)
    if ratings in (None, []) and name is None and description is None:
        return None, []
    own, strays = read_traits(ratings, QUESTION, where, repairs)
    return make_rubric(own, where, repairs, name, description), strays


def _answer(item: Mapping[str, Any], where: str, repairs: Repairs) -> str:
    answer = answer_text(item)
    if not isinstance(item.get("acceptedAnswer"), dict) and answer is not None:
        repairs.add(where, "the accepted answer is not one Answer object", "the first text is used")
    if isinstance(answer, str):
        return answer
    if answer is None:
        repairs.add(where, "there is no reference answer", "kept without one")
        return ""
    repairs.add(where, "the reference answer is no text", "turned into text")
    return str(answer)


def _template(item: Mapping[str, Any], where: str, repairs: Repairs) -> str | None:
    if isinstance(item.get("hasPart"), list):
        repairs.add(where, "the template stands in a list", "the first code is used")
    node = template_node(item)
    language = node.get("programmingLanguage", "Python")
    if language != "Python":
        repairs.add(where, f"the template's language is {language!r}", "read as Python")
    source = template_source(node)
    if source is None and node.get("text"):
        repairs.add(where, "the template is only a placeholder that decides nothing", "read as no template")
    return source


def _keywords(node: Mapping[str, Any], item: Mapping[str, Any], where: str, repairs: Repairs) -> list[str]:
    keywords = item.get("keywords")
    if not keywords and node.get("keywords"):
        keywords = node["keywords"]
        repairs.add(where, "the keywords stand beside the question", "read from there")
    if isinstance(keywords, str):
        keywords = [word.strip() for word in keywords.split(",") if word.strip()]
        repairs.add(where, "the keywords are one text", "split at the commas")
    return [str(word) for word in keywords] if isinstance(keywords, list) else []


def _date(node: Mapping[str, Any], key: str, default: str, where: str, repairs: Repairs) -> str:
    value = node.get(key)
    if isinstance(value, str) and value:
        return value
    repairs.add(where, f"there is no {key}", "the file's date is used")
    return default
