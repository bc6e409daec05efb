"""Words of descriptions: what they are about, and whether they give a value away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from karenina_core.schemas import nfc, read_date, read_number

_FILLERS = frozenset(
    ["a", "an", "and", "are", "as", "at", "be", "by", "does", "for", "from", "given", "give", "gives", "has", "have",
     "if", "in", "is", "it", "its", "of", "on", "or", "s", "should", "stated", "states", "that", "the", "their",
     "this", "to", "was", "what", "where", "whether", "which", "with", "you", "your"]
)  # fmt: skip
_GENERIC = frozenset(
    ["answer", "answers", "correct", "data", "description", "extract", "extracted", "field", "found", "item",
     "mentioned", "model", "name", "named", "number", "output", "question", "reply", "response", "result", "right",
     "string", "text", "thing", "value"]
)  # fmt: skip
PLACEHOLDERS = frozenset(
    ["", "-", "--", "?", "...", "…", "n/a", "na", "none", "null", "todo", "tbd", "xxx", "placeholder", "fixme",
     "correct_answer", "your answer", "your answer here", "ground truth", "expected"]
)  # fmt: skip
_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip  # as dates are written in English, whatever the machine's language


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, numbers included."""
    return re.findall(r"[^\W_]+(?:[.,]\d+)*", nfc(text).casefold())


def telling(text: str) -> set[str]:
    """Return the words of a description that say what to look for."""
    return {word for word in words(text) if word not in _FILLERS and word not in _GENERIC}


def name_words(name: str) -> list[str]:
    """Return the words of a field name: `trialPhase2` and `trial_phase_2` are trial, phase, 2."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)", " ", name.replace("_", " "))
    return words(spaced)


def is_placeholder(value: Any) -> bool:
    """Whether a truth stands for "nothing yet"; zero and False may be real truths."""
    if isinstance(value, str):
        return value.strip().casefold() in PLACEHOLDERS
    return value is None or value == []


def gives_away(text: str, value: Any) -> bool:
    """Whether a text mentions a value that a judge is meant to find by itself. Truth values are never given away."""
    if isinstance(value, bool) or is_placeholder(value):
        return False
    if isinstance(value, int | float):
        found = re.findall(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w])", text)
        return any(read_number(item.rstrip(",")) == value for item in found)
    if isinstance(value, list):
        return any(gives_away(text, item) for item in value)
    return isinstance(value, str) and any(_holds(text, form) for form in _spellings(value))


def _spellings(value: str) -> Iterator[str]:
    yield value
    read = read_date(value)
    if read is not None and read.moment is not None and any(character.isdigit() for character in value):
        month = _MONTHS[read.moment.month - 1]
        for name in (month, month[:3]):
            yield f"{name} {read.moment.day} {read.moment.year}"
            yield f"{read.moment.day} {name} {read.moment.year}"
        yield read.moment.date().isoformat()


def _holds(text: str, value: str) -> bool:
    wanted, found = words(value), words(text)
    if sum(len(word) for word in wanted) < 2:
        return False
    return any(found[at : at + len(wanted)] == wanted for at in range(len(found) - len(wanted) + 1))
