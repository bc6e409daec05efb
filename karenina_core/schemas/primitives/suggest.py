"""The types a template field can have: their names, what fits them, and which primitive is natural for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin
from uuid import UUID

from pydantic import AnyHttpUrl, AnyUrl, HttpUrl

from karenina_core.schemas.primitives.base import REGISTRY, FieldKind, TracePrimitive, VerificationPrimitive
from karenina_core.schemas.primitives.categories import BooleanMatch, LiteralMatch
from karenina_core.schemas.primitives.dates import DateMatch
from karenina_core.schemas.primitives.lists import SetContainment
from karenina_core.schemas.primitives.numeric import NumericExact
from karenina_core.schemas.primitives.text import ExactMatch


class FieldTypeRow(NamedTuple):
    """What a type of field is, for everything that reads, writes, edits, compares and checks fields.

    Attributes:
        title: Its name in forms.
        noun: What its values are, with an article.
        annotation: How source spells it; None where the field says it.
        kind: What rules are made for, by the name they use; None where no rule is natural.
        natural: The primitive to start with.
        fits: Whether a value has the type.
    """

    title: str
    noun: str
    annotation: str | None
    kind: FieldKind | None
    natural: type[VerificationPrimitive] | None
    fits: Callable[[Any], bool]


def is_number(value: Any) -> bool:
    """Whether a value is a number and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_ROW, _OPTIONS, _TEXTS = FieldTypeRow, "One of several options (Literal)", "List of texts (list[str])"
FIELD_TYPES: Mapping[str, FieldTypeRow] = {
    "bool": _ROW(
        "Yes or no (bool)", "True or False", "bool", "bool", BooleanMatch, lambda value: isinstance(value, bool)
    ),
    "int": _ROW("Whole number (int)", "a whole number", "int", "int", NumericExact, is_whole),
    "float": _ROW("Number (float)", "a number", "float", "float", NumericExact, is_number),
    "list_str": _ROW(_TEXTS, "a list of texts", "list[str]", "list[str]", SetContainment, _is_texts),
    "str": _ROW("Text (str)", "a text", "str", "str", ExactMatch, _is_text),
    "date": _ROW("Date (str)", "a date", "str", "date", DateMatch, _is_text),
    "literal": _ROW(_OPTIONS, "one of the options", None, "literal", LiteralMatch, lambda value: True),
    "other": _ROW("Another type", "as its type says", None, None, None, lambda value: True),
}
"""The types of field by name. A `date` is a text that a date primitive compares."""

NATURAL: Mapping[Any, type[VerificationPrimitive]] = {r.kind: r.natural for r in FIELD_TYPES.values() if r.natural}
"""The primitive to start with, by kind of field."""

_SCALARS_BY_KIND: Mapping[FieldKind | None, tuple[Any, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, Decimal),
    "date": (date, datetime),
    "str": (str, time, timedelta, UUID, bytes, AnyUrl, AnyHttpUrl, HttpUrl),
    None: (Any,),
}
SCALARS = {scalar.__name__: (scalar, kind) for kind, scalars in _SCALARS_BY_KIND.items() for scalar in scalars}
"""The types without parts by the name annotations use, each with the kind of field that rules take it for."""


def field_kind(field_type: Any) -> FieldKind | None:
    """Return the kind of a field from its annotation or its type's name, or None for other types.

    `T | None` and `Annotated[T, ...]` are what `T` is; a tuple or set of texts is a list of texts.
    """
    origin, arguments = get_origin(field_type), get_args(field_type)
    if origin is Literal:
        return "literal"
    if origin is Annotated:
        return field_kind(arguments[0])
    if origin in (Union, UnionType):
        others = [argument for argument in arguments if argument is not NoneType]
        return field_kind(others[0]) if len(others) == 1 else None
    if origin in (list, set, frozenset, tuple) and arguments in ((str,), (str, ...)):
        return "list[str]"
    if isinstance(field_type, str):
        return next((row.kind for name, row in FIELD_TYPES.items() if field_type in (name, row.kind)), None)
    return next((kind for scalar, kind in SCALARS.values() if scalar is field_type), None)


def suggest(field_type: Any) -> type[VerificationPrimitive] | None:
    """Return the natural primitive for a field type, or None where no primitive is natural.

    Args:
        field_type: An annotation such as `list[str]`, or a kind such as `"date"`.
    """
    return NATURAL.get(field_kind(field_type))


def applicable(field_type: Any) -> list[type[VerificationPrimitive] | type[TracePrimitive]]:
    """Return every registered primitive made for a field type, the natural one first."""
    fitting = [cls for cls in REGISTRY.values() if field_kind(field_type) in cls.applies_to]
    return sorted(fitting, key=lambda cls: cls is not suggest(field_type))
