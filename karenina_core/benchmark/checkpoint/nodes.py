"""What all parts of a benchmark file share: its words, property lists, and notes of what was repaired.

The files look like linked data but are plain JSON; no context is ever resolved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_core import from_json

FORMAT_VERSION = "3.0.0-jsonld"
FORMAT_VERSION_NAME = "benchmark_format_version"
PREFIX = "karenina:"
CUSTOM_PREFIX = "custom_"
GLOBAL, QUESTION = "Global", "QuestionSpecific"

CONTEXT: dict[str, Any] = {
    "@version": 1.1,
    "@vocab": "https://schema.org/",
    "karenina": "urn:karenina:vocab:",
    "dataFeedElement": {"@id": "dataFeedElement", "@container": "@set"},
    "item": {"@id": "item", "@type": "@id"},
    "acceptedAnswer": {"@id": "acceptedAnswer", "@type": "@id"},
    "rating": {"@id": "contentRating", "@container": "@set"},
    "additionalProperty": {"@id": "additionalProperty", "@container": "@set"},
    "hasPart": {"@id": "hasPart", "@container": "@set"},
    "keywords": {"@id": "keywords", "@container": "@set"},
}

NAMED_PLACES = 3
_KEPT_PLACES = 20_000


@dataclass(frozen=True)
class Repair:
    """One kind of repair that a reader made in order to understand a file.

    Attributes:
        where: The place or places, such as `question q1, trait Tone`.
        what: What stood there.
        action: How it was read.
        count: How often it was there.
    """

    where: str
    what: str
    action: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.action}."


class Repairs:
    """Collects repairs; the same one in many places is reported once.

    Args:
        traits: How many traits may still be read.

    Attributes:
        traits: How many that is now.
        pattern_size: Parts of the regular expressions read so far, in the whole file, repetitions written out.
        counts_repeats: Whether a metric trait that is silent about repeated mentions counts every one.
    """

    def __init__(self, traits: int = 1_000) -> None:
        self.traits = traits
        self.pattern_size = 0
        self.counts_repeats = False
        self._places: dict[tuple[str, str], dict[str, None]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, what: str, action: str) -> None:
        """Note one repair."""
        places = self._places.setdefault((what, action), {})
        if len(places) < _KEPT_PLACES:
            places[where] = None
        self._counts[what, action] += 1

    def __len__(self) -> int:
        return self._counts.total()

    def to_list(self) -> list[Repair]:
        """Return the repairs in the order in which they were first met."""
        return [Repair(_named(list(where)), *key, self._counts[key]) for key, where in self._places.items()]


def _named(where: list[str]) -> str:
    more = f" and {len(where) - NAMED_PLACES} more" if len(where) > NAMED_PLACES else ""
    return "; ".join(where[:NAMED_PLACES]) + more


class _Mark:
    """A value no file can hold."""


UNREADABLE = _Mark()
"""Stands for a value that is not understood; the property is kept as it is."""

ABSENT = _Mark()
"""Stands for a key that is not to be written."""


class Codec(NamedTuple):
    """How a property of a file stands for a value.

    Attributes:
        decode: Returns the value, or `UNREADABLE`; and what had to be done to read it, empty as a rule.
        encode: Returns what a file holds.
    """

    decode: Callable[[Any], tuple[Any, str]] = lambda stored: (stored, "")
    encode: Callable[[Any], Any] = lambda value: value

    def read(self, stored: Any) -> tuple[Any, str]:
        """Return the value and what had to be done to read it; nothing stays nothing."""
        return (None, "") if stored is None else self.decode(stored)


PLAIN = Codec()


def listed(value: Any) -> list[Any]:
    """Return a set of the format as a list; one that holds a single object may be just that object."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a set of the format; whatever else it holds is passed over."""
    return [item for item in listed(value) if isinstance(item, dict)]


def plain(value: Any) -> Any:
    """Return a value that older programs stored as JSON text in its plain form; other text stays text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return from_json(value, allow_inf_nan=False)
    except ValueError:
        return value


def source_of(text: str) -> dict[str, Any]:
    """Return the source of an answer that is given as its address or its name."""
    return {"url" if text.startswith(("http://", "https://")) and " " not in text else "name": text}


def property_node(name: str, value: Any) -> dict[str, Any]:
    """Return a new property."""
    return {"@type": "PropertyValue", "name": name, "value": value}


def values_by_name(nodes: Any, where: str = "", repairs: Repairs | None = None) -> dict[str, Any]:
    """Return the values of a property list; of a repeated name the first counts."""
    values: dict[str, Any] = {}
    if repairs is not None and nodes is not None and not isinstance(nodes, list):
        repairs.add(where, "the additional properties are no list", "an object is read as the only one")
    for node in objects(nodes):
        name = node.get("name")
        if isinstance(name, str) and name in values and repairs is not None:
            repairs.add(where, f"the property {name!r} is given twice", "the first one counts")
        elif isinstance(name, str) and name:
            values.setdefault(name, node.get("value"))
    return values


def laid_over(node: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node with other values; every key keeps its place, the unknown ones their value, `ABSENT` goes."""
    return {key: value for key, value in {**node, **values}.items() if value is not ABSENT}


def write_properties(
    nodes: Any, values: Mapping[str, Any], codec_of: Callable[[str], Codec | None]
) -> list[dict[str, Any]]:
    """Return a property list that says what is wanted and keeps everything it is silent about.

    Args:
        nodes: The list as it was read.
        values: What it is to say, by name. Other names this program manages are left out, unless they are unreadable.
        codec_of: Returns how a name is read and written, None for names this program does not manage.
    """
    missing = dict(values)
    written: list[Any] = []
    for node in listed(nodes):
        name = str(node.get("name")) if isinstance(node, dict) and isinstance(node.get("name"), str) else ""
        codec = codec_of(name) if name else None
        if codec is None:
            written.append(node)
            continue
        stored, _ = codec.read(node.get("value"))
        if name in missing:
            value = missing.pop(name)
            written.append(node if same(stored, value) else {**node, "value": codec.encode(value)})
        elif stored is UNREADABLE and name not in values:
            written.append(node)
    return written + [property_node(name, (codec_of(name) or PLAIN).encode(missing[name])) for name in missing]


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, True and 1 being different."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
