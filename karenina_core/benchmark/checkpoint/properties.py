"""`additionalProperty` lists: reading values that come raw or as JSON text, and writing over them without loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from karenina_core.benchmark.checkpoint.repairs import Repairs


class _Mark:
    """A value no file can hold."""


UNREADABLE = _Mark()
"""Stands for a value that is not understood; the property is kept as it is."""

ABSENT = _Mark()
"""Stands for a key that is not to be written."""


def laid_over(node: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node with other values; every key keeps its place, and the unknown ones their value."""
    merged = {**node, **values}
    for key, value in values.items():
        if value is ABSENT:
            del merged[key]
    return merged


def property_node(name: str, value: Any) -> dict[str, Any]:
    """Return a new property."""
    return {"@type": "PropertyValue", "name": name, "value": value}


def values_by_name(nodes: Any, where: str = "", repairs: Repairs | None = None) -> dict[str, Any]:
    """Return the values of a property list; of a repeated name the first counts."""
    found: dict[str, Any] = {}
    if repairs is not None and nodes is not None and not isinstance(nodes, list):
        repairs.add(where, "the additional properties are no list", "an object is read as the only one")
    for node in listed(nodes):
        name = node.get("name") if isinstance(node, dict) else None
        if not isinstance(name, str):
            continue
        if name in found:
            if repairs is not None:
                repairs.add(where, f"the property {name!r} is given twice", "the first one counts")
            continue
        found[name] = node.get("value")
    return found


def plain(value: Any) -> Any:
    """Return a value that older programs stored as JSON text in its plain form; other text stays text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return from_json(value, allow_inf_nan=False)
    except ValueError:
        return value


def json_text(value: Any) -> str:
    """Return a value as the JSON text some properties hold."""
    return to_json(value).decode()


def write_over(
    nodes: Any,
    wanted: Mapping[str, Any],
    known: Callable[[str], bool],
    decode: Callable[[str, Any], Any],
    encode: Callable[[str, Any], Any],
) -> list[Any]:
    """Return a property list that says what is wanted and keeps everything it is silent about.

    Args:
        nodes: The list as it was read.
        wanted: The values to be said, by name. Known names that are not wanted are left out.
        known: Says whether a name is one this program manages.
        decode: Turns a stored value into what `wanted` would hold, or into `UNREADABLE`.
        encode: The reverse.
    """
    missing = dict(wanted)
    written: list[Any] = []
    for node in listed(nodes):
        name = node.get("name") if isinstance(node, dict) else None
        if not isinstance(name, str) or not known(name):
            written.append(node)
            continue
        stored = decode(name, node.get("value"))
        if name in missing:
            value = missing.pop(name)
            written.append(node if same(stored, value) else {**node, "value": encode(name, value)})
        elif stored is UNREADABLE and name not in wanted:
            written.append(node)
    return written + [property_node(name, encode(name, value)) for name, value in missing.items()]


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, True and 1 being different."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def listed(value: Any) -> list[Any]:
    """Return a set of the format as a list; one that holds a single object may be just that object."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a set of the format; whatever else it holds is passed over."""
    return [item for item in listed(value) if isinstance(item, dict)]
