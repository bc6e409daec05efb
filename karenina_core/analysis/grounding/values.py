"""What the judge extracted, value by value, and where each stands in the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from karenina_core.analysis.grounding.dates import date_places
from karenina_core.analysis.grounding.likeness import similar_places, with_words_left_out
from karenina_core.analysis.grounding.limits import DEEPEST_VALUE, LONGEST_ANSWER, LONGEST_VALUE, MOST_VALUES, Effort
from karenina_core.analysis.grounding.numbers import find_number, number_places, spelled
from karenina_core.analysis.grounding.places import How, Place, occurrences
from karenina_core.analysis.grounding.spelling import normalised_places
from karenina_core.schemas import VerificationResult

_MOST_SIMILAR = 20  # values that are compared closely
_LONGEST_QUANTITY = 100  # characters of a date or a number


@dataclass(frozen=True)
class Grounding:
    """Where one extracted value stands in the answer.

    Attributes:
        field: The template field; a part of it as `field.part`.
        value: The value, as text; each item of a list stands for itself.
        how: How it was found.
        places: Where, from the start of the answer; at most 50.
    """

    field: str
    value: str
    how: How
    places: tuple[Place, ...] = ()


def grounding(result: VerificationResult) -> tuple[Grounding, ...]:
    """Return where the extracted values of a result stand in its answer; empty where nothing was extracted."""
    part = result.template
    if part is None or not part.parsed or result.answer is None:
        return ()
    schema = next((call.schema_sent for call in reversed(part.calls) if call.schema_sent), None) or {}
    properties = schema.get("properties")
    described = properties.items() if isinstance(properties, dict) else ()
    choices = {name for name, about in described if _has_choices(about)}
    return ground(part.parsed, result.answer.text, choices)


def ground(
    values: Mapping[str, Any], answer: str, choices: frozenset[str] | set[str] = frozenset()
) -> tuple[Grounding, ...]:
    """Return where values stand in an answer.

    Args:
        values: By field; lists and nested values are looked for part by part. Nulls are left out.
        answer: The text.
        choices: Fields whose value is one of a given list.
    """
    known: dict[tuple[type, Any], tuple[How, list[Place]]] = {}
    found = []
    similar = 0
    effort = Effort()
    every = ((field, *part) for field, value in values.items() for part in _leaves(field, value))
    for field, name, leaf in islice(every, MOST_VALUES):
        key = (type(leaf), leaf)
        if key not in known:
            known[key] = _find(leaf, answer, effort, similar=similar < _MOST_SIMILAR)
            similar += known[key][0] in ("fuzzy", "nowhere")
        how, places = known[key]
        # A choice is judged, and not all was looked at of a very long answer or where it would take too long.
        if how == "nowhere" and (field in choices or len(answer) > LONGEST_ANSWER or effort.left < 0):
            how = "judged"
        found.append(Grounding(name, leaf if isinstance(leaf, str) else spelled(leaf), how, tuple(places)))
    return tuple(found)


def ungrounded(groundings: tuple[Grounding, ...]) -> frozenset[str]:
    """Return the fields with a value that stands nowhere in the answer."""
    return frozenset(item.field.partition(".")[0] for item in groundings if item.how == "nowhere")


def _has_choices(described: Any) -> bool:
    waiting = [described]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "enum" in part or "const" in part:
                return True
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False


class _TooDeep:
    """Stands for a value that lies too deep to be looked for."""

    def __str__(self) -> str:
        return "a value nested too deep"


_TOO_DEEP = _TooDeep()


def _leaves(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the single values within a value, each with the name of its place."""
    match value:
        case None:
            return
        case Mapping() | list() | tuple() | set() | frozenset() if depth == DEEPEST_VALUE:
            yield name, _TOO_DEEP
        case Mapping():
            for key, part in value.items():
                yield from _leaves(f"{name}.{key}", part, depth + 1)
        case list() | tuple() | set() | frozenset():
            for part in value:
                yield from _leaves(name, part, depth + 1)
        case str() | bool() | int() | float():
            yield name, value
        case _:
            yield name, str(value)


def _find(value: Any, answer: str, effort: Effort, *, similar: bool = True) -> tuple[How, list[Place]]:
    if isinstance(value, bool | _TooDeep):
        return "judged", []
    if isinstance(value, int | float):
        return find_number(value, answer, effort)
    text = value.strip()
    if not text:
        return "nowhere", []
    if len(text) > LONGEST_VALUE or effort.left < 0:
        return "judged", []
    if exact := occurrences(text, answer, effort):
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    if normalised := normalised_places(text, answer, effort) or _as_quantity(text, answer, effort):
        return "normalised", normalised
    alike = (similar_places(text, answer, effort) or with_words_left_out(text, answer)) if similar else []
    return ("fuzzy", alike) if alike else ("nowhere", [])


def _as_quantity(text: str, answer: str, effort: Effort) -> list[Place]:
    if len(text) > _LONGEST_QUANTITY:
        return []
    return date_places(text, answer) or number_places(text, answer, effort)
