"""Values as a person types them into a text box: one entry a line, or JSON where lines cannot say it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from karenina_core.errors import KareninaError
from karenina_core.files import read_json

_ARROW = "="


def write_lines(items: Any) -> str:
    """Return a list of texts with one entry a line; JSON where an entry would not come back from a line."""
    if not isinstance(items, list | tuple):
        return "" if items is None else str(items) if isinstance(items, str) else write_data(items)
    lines = "\n".join(items) if all(isinstance(item, str) for item in items) else ""
    return lines if read_lines(lines) == list(items) else write_data(list(items))


def read_lines(text: str) -> list[Any]:
    """Return the entries of a text: the list it is as JSON, otherwise every line that is not blank, trimmed."""
    listed = _json(text)
    if isinstance(listed, list):
        return listed
    return [line.strip() for line in text.splitlines() if line.strip()]


def write_pairs(mapping: Any) -> str:
    """Return a mapping of texts with one `spelling = meaning` a line; JSON where that would not come back."""
    if not isinstance(mapping, Mapping):
        return ""
    lines = "\n".join(f"{key} {_ARROW} {value}" for key, value in mapping.items())
    return lines if read_pairs(lines) == dict(mapping) else write_data(dict(mapping))


def read_pairs(text: str) -> dict[str, Any]:
    """Return a mapping: the object a text is as JSON, otherwise every `spelling = meaning` line.

    A line without an equals sign means that the spelling stands for nothing yet.
    """
    stored = _json(text)
    if isinstance(stored, dict):
        return stored
    pairs = (line.partition(_ARROW) for line in text.splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}


def write_data(value: Any) -> str:
    """Return any plain value as JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False)


def read_data(text: str) -> Any:
    """Return the value a text is as JSON, or the text itself where it is none; None for a blank text."""
    if not text.strip():
        return None
    value = _json(text)
    return text if value is None and text.strip() != "null" else value


def read_typed(kind: str, text: str) -> Any:
    """Return the value of a field of some type that a text means.

    What does not fit the type stays the text it is, so that nothing typed is lost: the linter says what is wrong.

    Args:
        kind: A type of a template field, such as `int`.
        text: What was typed.
    """
    if kind in ("str", "date", "literal"):
        return text
    if kind == "list_str":
        return read_lines(text)
    value = read_data(text)
    if kind == "other":
        return value
    fits = {"bool": isinstance(value, bool), "int": is_whole(value), "float": is_number(value)}
    return value if fits.get(kind, False) or value is None else text


def write_typed(kind: str, value: Any) -> str:
    """Return a value of a field as a person types it; the counterpart of `read_typed`."""
    if value is None:
        return ""
    if kind == "list_str":
        return write_lines(value)
    return value if isinstance(value, str) and kind != "other" else write_data(value)


def is_number(value: Any) -> bool:
    """Whether a value is a number and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def are_texts(items: Sequence[Any] | Any) -> bool:
    """Whether a value is a list of nothing but texts."""
    return isinstance(items, list) and all(isinstance(item, str) for item in items)


def _json(text: str) -> Any:
    try:
        return read_json(text) if text.strip() else None
    except KareninaError:
        return None
