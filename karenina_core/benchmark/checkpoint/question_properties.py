"""The additional properties of a question: what each name means, in every form files use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from karenina_core.benchmark.checkpoint.properties import UNREADABLE, json_text, plain
from karenina_core.benchmark.checkpoint.vocabulary import (
    CUSTOM_PREFIX,
    QUESTION_CARRIERS,
    QUESTION_RUBRIC_DESCRIPTION,
    QUESTION_RUBRIC_NAME,
)

_AS_JSON_TEXT = frozenset({"author", "sources", "few_shot_examples"})


class Decoded(NamedTuple):
    """A property value as the program uses it, and what had to be done for that, if anything."""

    value: Any
    remark: str = ""


def _finished(value: Any) -> Decoded:
    if isinstance(value, bool):
        return Decoded(value)
    word = str(value).strip().lower()
    if word in ("true", "1", "yes"):
        return Decoded(True, "read as true")
    if word in ("false", "0", "no"):
        return Decoded(False, "read as false")
    return Decoded(UNREADABLE)


def _text(value: Any) -> Decoded:
    return Decoded(value if isinstance(value, str) else UNREADABLE)


def _author(value: Any) -> Decoded:
    value = plain(value)
    if isinstance(value, str) and value.strip():
        return Decoded({"name": value}, "read as the author's name")
    return Decoded(value if isinstance(value, dict) else UNREADABLE)


def _sources(value: Any) -> Decoded:
    value = plain(value)
    if isinstance(value, list) and all(isinstance(source, dict) for source in value):
        return Decoded(value)
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(source, dict | str) for source in items):
        return Decoded([_source(source) for source in items], "read as a list of sources")
    return Decoded(UNREADABLE)


def _source(source: Any) -> dict[str, Any]:
    if isinstance(source, dict):
        return source
    return {"url" if source.startswith(("http://", "https://")) else "name": source}


def _examples(value: Any) -> Decoded:
    items = plain(value)
    if not isinstance(items, list):
        return Decoded(UNREADABLE)
    usable = [item for item in items if _is_example(item)]
    if items and not usable:
        return Decoded(UNREADABLE)
    remark = f"{len(items) - len(usable)} without question and answer are not used" if len(usable) < len(items) else ""
    return Decoded([{"question": item["question"], "answer": item["answer"]} for item in usable], remark)


def _is_example(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("question"), str) and isinstance(item.get("answer"), str)


def _carrier(value: Any) -> Decoded:
    traits = plain(value)
    return Decoded(traits if isinstance(traits, list) else UNREADABLE)


DECODERS: dict[str, Callable[[Any], Decoded]] = {
    "finished": _finished,
    "author": _author,
    "sources": _sources,
    "few_shot_examples": _examples,
    "answer_notes": _text,
    "workspace_path": _text,
    QUESTION_RUBRIC_NAME: _text,
    QUESTION_RUBRIC_DESCRIPTION: _text,
    **dict.fromkeys(QUESTION_CARRIERS, _carrier),
}


def known(name: str) -> bool:
    """Whether the program manages the property; all others are kept untouched."""
    return name in DECODERS or name.startswith(CUSTOM_PREFIX)


def decode(name: str, value: Any) -> Any:
    """Return the value as the program uses it; None where there is none, `UNREADABLE` where it makes no sense."""
    return decode_with_remark(name, value).value


def decode_with_remark(name: str, value: Any) -> Decoded:
    """As `decode`, with a note of any liberty taken."""
    if name.startswith(CUSTOM_PREFIX) or value is None:
        return Decoded(value)
    return DECODERS[name](value)


def encode(name: str, value: Any) -> Any:
    """Return the value in the form files hold it."""
    return json_text(value) if name in _AS_JSON_TEXT else value
