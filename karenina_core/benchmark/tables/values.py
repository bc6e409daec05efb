"""Cells as what they are needed for: text, keywords, yes or no, an author, sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from karenina_core.benchmark.tables.table import Cell, is_blank

_YES = frozenset({"yes", "y", "true", "1", "x", "done", "finished", "ready", "ja", "wahr", "✓", "✔"})
_NO = frozenset({"no", "n", "false", "0", "draft", "unfinished", "open", "nein", "falsch", "✗"})


def text_of(value: Cell) -> str:
    """Return a cell as text: whole numbers without a decimal point, lists and objects as JSON, nothing as blank."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def keywords_of(value: Cell, separator: str) -> list[str]:
    """Return the keywords in a cell, each once, in order."""
    if isinstance(value, list):
        parts = [text_of(item) for item in value]
    else:
        text = text_of(value)
        parts = text.split(separator) if separator else [text]
    return list(dict.fromkeys(stripped for part in parts if (stripped := part.strip())))


def yes_or_no(value: Cell) -> bool | None:
    """Return what a cell says; None when it says something else."""
    word = text_of(value).strip().casefold()
    return True if word in _YES else False if word in _NO else None


def author_of(name: Cell, email: Cell, affiliation: Cell) -> dict[str, Any] | None:
    """Return an author as benchmark files hold one, None when nothing is said."""
    if isinstance(name, dict):
        return name
    said = {"name": name, "email": email, "affiliation": affiliation}
    given = {field: text_of(value).strip() for field, value in said.items() if not is_blank(value)}
    return {"@type": "Person", **given} if given else None


def sources_of(value: Cell) -> list[dict[str, Any]] | None:
    """Return sources as benchmark files hold them: one for every line, or for every part between semicolons."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return value
    parts = list(_lines(value))
    return [{"url": part} if _is_address(part) else {"name": part} for part in parts] or None


def _lines(value: Cell) -> Iterator[str]:
    items = value if isinstance(value, list) else [value]
    for item in items:
        for line in text_of(item).replace("; ", "\n").split("\n"):
            if line.strip(" ;\r\t"):
                yield line.strip(" ;\r\t")


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://")) and " " not in text
