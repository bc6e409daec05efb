"""What a question asks for, in words: names for fields, the options it offers, and what its notes accept."""

from __future__ import annotations

import keyword
import re
from bisect import bisect
from typing import NamedTuple

from karenina_core.authoring.linter.words import words
from karenina_core.templates import is_reserved

_THING = r"([a-z][a-z\- ]*?)"
_COUNTED = re.compile(
    rf"\bhow (?:many|much) {_THING}(?= (?:does|do|did|is|are|was|were|has|have|can|in|of|per)\b|\?|$)", re.IGNORECASE
)
_NAMED = (
    re.compile(
        rf"\b(?:what|which) (?:is|are|was|were) (?:the|a|an) {_THING}"
        r"(?= (?:of|for|in|that|which|to|by|on|at|from)\b|\?|$)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:what|which) (?!of\b){_THING}"
        r"(?= (?:is|are|was|were|does|do|did|has|have|can|will|would|encodes?|causes?|binds?)\b|\?|$)",
        re.IGNORECASE,
    ),
)
_LONGEST = 4  # words of a field name
_LAST_PART = 2_000  # characters; what a long text asks for stands at its end
_OPTIONS = re.compile(r"[:(]\s*([^:()?]+?(?:,\s*|\s+)or\s+[^:()?]+?|[^:()?]+?,[^:()?]+?)\s*\)?\s*\?")
_EITHER = re.compile(
    r"\b(?:an?\s+|the\s+)?([\w\-]+(?:\s[\w\-]+)?)\s+or\s+(?:an?\s+|the\s+)?([\w\-]+(?:\s[\w\-]+)?)\s*\?"
)
_QUOTED = re.compile(r"[\"'“”‘’`]([^\"'“”‘’`]{1,80})[\"'“”‘’`]")
_KEYWORD = re.compile(
    r"\b(accept\w*|also|allow\w*|fine|equal\w*|synonym\w*|not|reject\w*|never|wrong|except|incorrect)\b", re.IGNORECASE
)
_REFUSING = frozenset({"not", "never", "wrong", "except", "incorrect"})


class Notes(NamedTuple):
    """What notes on a question say of single answers.

    Attributes:
        accepted: Other answers that are right.
        rejected: Answers that look right and are not.
    """

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


def asked_for(question: str) -> str:
    """Return what a question asks for, such as `number of pairs`; blank where it does not plainly say."""
    question = _end(question)
    for pattern, before in ((_COUNTED, "number of "), *((pattern, "") for pattern in _NAMED)):
        match = pattern.search(question)
        found = [word for word in words(match[1]) if word not in ("the", "a", "an")] if match else []
        if 1 <= len(found) <= _LONGEST:
            return before + " ".join(found)
    return ""


def field_name(question: str, fallback: str) -> str:
    """Return a name for the field that holds the answer to a question."""
    name = re.sub(r"[^a-z0-9]+", "_", asked_for(question).encode("ascii", "ignore").decode()).strip("_")
    usable = re.fullmatch(r"[a-z][a-z0-9_]{1,40}", name) and not is_reserved(name) and not keyword.iskeyword(name)
    return name if usable else fallback


def offered(question: str, answer: str) -> list[str]:
    """Return the answers that a question offers for choice, if the given one is among them."""
    question = _end(question)
    match = _OPTIONS.search(question)
    options = re.split(r"\s*,\s*(?:or\s+|and\s+)?|\s+or\s+", match[1]) if match else []
    if not options:
        either = _EITHER.search(question)
        options = list(either.groups()) if either else []
    options = [option.strip() for option in options if option.strip()]
    known = [option for option in options if option.casefold() == answer.strip().rstrip(".").casefold()]
    return options if known and 2 <= len(options) <= 20 else []


def read_notes(notes: str | None) -> Notes:
    """Return the answers that notes accept or reject: `Accept 'Bcl2' but not 'BCL-XL'`."""
    accepted: list[str] = []
    rejected: list[str] = []
    for sentence in re.split(r"(?<=[.;])\s+|\n", notes or ""):
        keywords = [(match.end(), match[1].lower()) for match in _KEYWORD.finditer(sentence)]
        ends = [end for end, _ in keywords]
        for match in _QUOTED.finditer(sentence):
            before = bisect(ends, match.start())
            if before:
                word = keywords[before - 1][1]
                refusing = word in _REFUSING or word.startswith("reject")
                (rejected if refusing else accepted).append(match[1].strip())
    return Notes(tuple(dict.fromkeys(accepted)), tuple(dict.fromkeys(rejected)))


def _end(question: str) -> str:
    return " ".join(question[-_LAST_PART:].split())
