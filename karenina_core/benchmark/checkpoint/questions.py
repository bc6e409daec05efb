"""One `DataFeedItem` of a file as a question of a benchmark, and back; `PROPERTIES` says how its fields are held."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from pydantic_core import to_json

from karenina_core.benchmark.checkpoint.nodes import (
    ABSENT,
    CUSTOM_PREFIX,
    PLAIN,
    QUESTION,
    UNREADABLE,
    Codec,
    Repairs,
    laid_over,
    listed,
    plain,
    source_of,
    values_by_name,
    write_properties,
)
from karenina_core.benchmark.checkpoint.traits import (
    CARRIERS,
    RUBRIC_PROPERTIES,
    make_rubric,
    ratings_of_carriers,
    read_traits,
    rubric_texts,
    write_ratings,
)
from karenina_core.benchmark.question import BenchmarkQuestion, Entry, free_id
from karenina_core.schemas import AnyTrait, Rubric
from karenina_core.schemas.entities.question import question_id
from karenina_core.templates import upstream_spelling

_NAME, _DESCRIPTION = RUBRIC_PROPERTIES[QUESTION].values()


_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _flag(stored: Any) -> tuple[Any, str]:
    flag = _FLAGS.get(str(stored).strip().lower(), UNREADABLE)
    return flag, "" if isinstance(stored, bool) or flag is UNREADABLE else f"read as {str(flag).lower()}"


def text_or_unreadable(stored: Any) -> tuple[Any, str]:
    """Decode a property that holds a text."""
    return (stored if isinstance(stored, str) else UNREADABLE), ""


def _list_or_unreadable(stored: Any) -> tuple[Any, str]:
    return (stored if isinstance(plain(stored), list) else UNREADABLE), ""


def rubric_codecs(scope: str) -> dict[str, Codec]:
    """Return how the properties that belong to the rubric of a scope are held."""
    texts = dict.fromkeys(RUBRIC_PROPERTIES[scope].values(), Codec(text_or_unreadable))
    return texts | dict.fromkeys(CARRIERS[scope], Codec(_list_or_unreadable))


def _author(stored: Any) -> tuple[Any, str]:
    author = plain(stored)
    if isinstance(author, str) and author.strip():
        return {"name": author}, "read as the author's name"
    return (author if isinstance(author, dict) else UNREADABLE), ""


def _sources(stored: Any) -> tuple[Any, str]:
    sources = plain(stored)
    items = sources if isinstance(sources, list) else [sources]
    if not all(isinstance(source, dict | str) for source in items):
        return UNREADABLE, ""
    read = [source if isinstance(source, dict) else source_of(source) for source in items]
    return read, "" if read == sources else "read as a list of sources"


def _examples(stored: Any) -> tuple[Any, str]:
    items, names = plain(stored), ("question", "answer")
    if not isinstance(items, list):
        return UNREADABLE, ""
    whole = [item for item in items if isinstance(item, dict) and all(isinstance(item.get(n), str) for n in names)]
    if items and not whole:
        return UNREADABLE, ""
    unused = len(items) - len(whole)
    remark = f"{unused} without question and answer are not used" if unused else ""
    return [{name: item[name] for name in names} for item in whole], remark


def _json_text(value: Any) -> str:
    return to_json(value).decode()


# Fields of a question that stand under their own name among the properties of its node.
PROPERTIES = {
    "finished": Codec(_flag),
    "author": Codec(_author, _json_text),
    "sources": Codec(_sources, _json_text),
    "few_shot_examples": Codec(_examples, _json_text),
    "answer_notes": Codec(text_or_unreadable),
    "workspace_path": Codec(text_or_unreadable),
}
_MANAGED = PROPERTIES | rubric_codecs(QUESTION)


def _codec_of(name: str) -> Codec | None:
    return PLAIN if name.startswith(CUSTOM_PREFIX) else _MANAGED.get(name)


class Dates(NamedTuple):
    """When the file was created and changed; stands in for questions that do not say."""

    created: str
    modified: str


def read_entry(
    node: dict[str, Any], taken: Container[str], dates: Dates, repairs: Repairs, *, converted: bool = False
) -> tuple[Entry, list[AnyTrait]]:
    """Return a question, and the global traits that stood among its own.

    Args:
        node: The `DataFeedItem`, whose `item` is an object. It is not changed.
        taken: The ids given so far.
        dates: For questions without dates.
        repairs: Gets a note of everything that was not read as it stands.
        converted: Whether the node is not what the file holds.
    """
    before = len(repairs)
    item = node["item"]
    text = _text(item, repairs)
    stored_id = _id(node, item, text, taken, repairs)
    where = f"question {stored_id}"
    properties, custom = _properties(item, where, repairs)
    rubric, strays = _rubric(item, properties, where, repairs)
    data = {
        **{name: properties.get(name) for name in PROPERTIES},
        "finished": bool(properties.get("finished")),
        "question": text,
        "raw_answer": _answer(item, where, repairs),
        "answer_template": _template(item, where, repairs),
        "keywords": _keywords(node, item, where, repairs),
        "date_created": _date(node, "dateCreated", dates.created, where, repairs),
        "date_modified": _date(node, "dateModified", dates.modified, where, repairs),
        "question_rubric": None if rubric is None else rubric.model_dump(mode="json"),
        "custom_metadata": custom or None,
        "stored_id": stored_id,
    }
    question = BenchmarkQuestion.model_validate(data)
    return Entry(question, rubric, node, clean=not converted and len(repairs) == before), strays


def _text(item: Mapping[str, Any], repairs: Repairs) -> str:
    text, name = item.get("text"), item.get("name")
    if not isinstance(text, str) or not text:
        text = name if isinstance(name, str) else ""
    if not text.strip():
        repairs.add("a question", "it has no text", "kept without one")
    elif item.get("text") != text:
        repairs.add(f"question {text[:40]!r}", "its text stands under 'name'", "read from there")
    return text


def _id(node: Mapping[str, Any], item: Mapping[str, Any], text: str, taken: Container[str], repairs: Repairs) -> str:
    given = next((value for value in (node.get("@id"), item.get("@id")) if value not in (None, "")), None)
    wanted = question_id(text) if given is None else str(given)
    stored_id = free_id(wanted, taken)
    if stored_id != wanted:
        repairs.add(f"question {wanted}", "another question has the same id", f"it got the id {stored_id}")
    elif node.get("@id") != stored_id:
        source = "the hash of its text" if given is None else "the id of its Question"
        repairs.add(f"question {stored_id}", "its DataFeedItem has no id", f"{source} is used")
    return stored_id


def _properties(item: Mapping[str, Any], where: str, repairs: Repairs) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the properties this program knows, and those of the user."""
    stored = values_by_name(item.get("additionalProperty"), where, repairs)
    custom = {name.removeprefix(CUSTOM_PREFIX): stored[name] for name in stored if name.startswith(CUSTOM_PREFIX)}
    read = {}
    for name in (name for name in stored if name in _MANAGED):
        value, remark = _MANAGED[name].read(stored[name])
        if value is not UNREADABLE:
            read[name] = value
        else:
            repairs.add(where, f"the property {name!r} cannot be read", "kept as it is, not used")
        if remark:
            repairs.add(where, f"the property {name!r} has an unusual form", remark)
    if read.get("finished") is None:
        repairs.add(where, "there is no 'finished' flag", "read as unfinished")
    return read, custom


def _rubric(
    item: Mapping[str, Any], properties: Mapping[str, Any], where: str, repairs: Repairs
) -> tuple[Rubric | None, list[AnyTrait]]:
    ratings, name, description = item.get("rating"), properties.get(_NAME), properties.get(_DESCRIPTION)
    if not ratings and name is None and description is None and CARRIERS[QUESTION].keys().isdisjoint(properties):
        return None, []
    carried = ratings_of_carriers(properties, QUESTION, where, repairs)
    own, strays = read_traits([*listed(ratings), *carried] if carried else ratings, QUESTION, where, repairs)
    return make_rubric(own, where, repairs, name, description), strays


def _answer(item: Mapping[str, Any], where: str, repairs: Repairs) -> str:
    node = item.get("acceptedAnswer")
    if not isinstance(node, dict) and node is not None:
        repairs.add(where, "the accepted answer is not one Answer object", "the first text is used")
    first = node[0] if isinstance(node, list) and node else node
    answer = first.get("text") if isinstance(first, dict) else first
    if answer is None:
        repairs.add(where, "there is no reference answer", "kept without one")
    elif not isinstance(answer, str):
        repairs.add(where, "the reference answer is no text", "turned into text")
    return "" if answer is None else str(answer)


# What other programs put where there is no template yet: its one field is `response`, and verify() returns a constant.
_PLACEHOLDER = re.compile(
    r'(?:(?:from|import)\s[^\n]*\n\s*)*class\s+Answer\(BaseAnswer\):\s*"""Answer template for:.*?"""\s*'
    r'response:\s*str\s*=\s*Field\(description="The answer response"\)\s*'
    r"def\s+verify\(self\)\s*->\s*bool:\s*(?:#[^\n]*\n\s*)*return\s+(?:True|False)\s*",
    re.DOTALL,
)


def is_placeholder(source: str) -> bool:
    """Whether the source is the template other programs make up for a question without one; it decides nothing."""
    return len(source) <= 1_000 and bool(_PLACEHOLDER.fullmatch(source.strip()))


def _template_node(item: Mapping[str, Any]) -> Mapping[str, Any]:
    part = item.get("hasPart")
    if isinstance(part, list):
        part = next((node for node in part if isinstance(node, dict) and "text" in node), None)
    return part if isinstance(part, dict) else {}


def _template_source(node: Mapping[str, Any]) -> str | None:
    source = node.get("text")
    return source if isinstance(source, str) and source.strip() and not is_placeholder(source) else None


def _template(item: Mapping[str, Any], where: str, repairs: Repairs) -> str | None:
    if isinstance(item.get("hasPart"), list):
        repairs.add(where, "the template stands in a list", "the first code is used")
    node = _template_node(item)
    language = node.get("programmingLanguage", "Python")
    if language != "Python":
        repairs.add(where, f"the template's language is {language!r}", "read as Python")
    source = _template_source(node)
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


def write_entry(entry: Entry) -> Mapping[str, Any]:
    """Return the `DataFeedItem` of a question; it shares parts with the entry, so it is for reading only."""
    if entry.clean:
        return entry.node
    question, node = entry.question, entry.node
    values = {
        "@type": "DataFeedItem",
        "@id": question.id,
        "dateCreated": question.date_created,
        "dateModified": question.date_modified,
        "keywords": ABSENT,  # their place is in the question
        "item": _written_item(entry, node.get("item") or {}),
    }
    return laid_over(node, values)


def _written_item(entry: Entry, item: Mapping[str, Any]) -> dict[str, Any]:
    question, template = entry.question, _template_node(item)
    answer = item.get("acceptedAnswer")
    first = answer[0] if isinstance(answer, list) and answer else answer
    source, unused = question.answer_template, template.get("text") or ""
    values = {
        "@type": "Question",
        "text": question.question,
        "acceptedAnswer": {
            "@type": "Answer",
            **(first if isinstance(first, dict) else {}),
            "text": question.raw_answer,
        },
        "hasPart": {
            "@type": "SoftwareSourceCode",
            "name": f"{question.question[:30]}... Answer Template",
            **template,
            "text": upstream_spelling(source) if source else (unused if source == _template_source(template) else ""),
            "programmingLanguage": "Python",
        },
        "rating": write_ratings(entry.rubric, QUESTION, item),
        "additionalProperty": write_properties(item.get("additionalProperty"), _written_values(entry), _codec_of),
        "keywords": question.keywords if question.keywords or "keywords" in item else ABSENT,
    }
    return laid_over(item, values)


def _written_values(entry: Entry) -> dict[str, Any]:
    question = entry.question
    values = {name: value for name in PROPERTIES if (value := getattr(question, name)) is not None}
    if question.few_shot_examples is not None:
        values["few_shot_examples"] = [example.model_dump() for example in question.few_shot_examples]
    if entry.rubric is not None:
        values |= rubric_texts(entry.rubric, QUESTION)
    return values | {f"{CUSTOM_PREFIX}{name}": value for name, value in (question.custom_metadata or {}).items()}
