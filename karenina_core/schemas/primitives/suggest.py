"""Which primitive is natural for which type of field."""

from __future__ import annotations

from datetime import date
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from karenina_core.schemas.primitives.base import REGISTRY, FieldKind, TracePrimitive, VerificationPrimitive
from karenina_core.schemas.primitives.categories import BooleanMatch, LiteralMatch
from karenina_core.schemas.primitives.dates import DateMatch
from karenina_core.schemas.primitives.lists import SetContainment
from karenina_core.schemas.primitives.numeric import NumericExact
from karenina_core.schemas.primitives.text import ExactMatch

NATURAL: dict[FieldKind, type[VerificationPrimitive]] = {
    "bool": BooleanMatch,
    "str": ExactMatch,
    "int": NumericExact,
    "float": NumericExact,
    "list[str]": SetContainment,
    "literal": LiteralMatch,
    "date": DateMatch,
}
"""The primitive to start with, by kind of field."""

_KINDS: dict[Any, FieldKind] = {
    **{kind: kind for kind in NATURAL},
    "list_str": "list[str]",
    bool: "bool",
    str: "str",
    int: "int",
    float: "float",
    list[str]: "list[str]",
    date: "date",
}


def field_kind(field_type: Any) -> FieldKind | None:
    """Return the kind of a field from its annotation or its kind's name, or None for other types.

    `T | None` and `Annotated[T, ...]` are what `T` is.
    """
    origin, arguments = get_origin(field_type), get_args(field_type)
    if origin is Literal:
        return "literal"
    if origin is Annotated:
        return field_kind(arguments[0])
    if origin in (Union, UnionType):
        others = [argument for argument in arguments if argument is not NoneType]
        return field_kind(others[0]) if len(others) == 1 else None
    try:
        return _KINDS.get(field_type)
    except TypeError:  # not hashable, so not a type
        return None


def suggest(field_type: Any) -> type[VerificationPrimitive] | None:
    """Return the natural primitive for a field type, or None where no primitive is natural.

    Args:
        field_type: An annotation such as `list[str]`, or a kind such as `"date"`.
    """
    kind = field_kind(field_type)
    return None if kind is None else NATURAL[kind]


def applicable(field_type: Any) -> list[type[VerificationPrimitive] | type[TracePrimitive]]:
    """Return every registered primitive made for a field type, the natural one first."""
    kind = field_kind(field_type)
    fitting = [cls for cls in REGISTRY.values() if kind in cls.applies_to]
    return sorted(fitting, key=lambda cls: cls is not suggest(field_type))
