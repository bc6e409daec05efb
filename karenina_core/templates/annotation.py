"""Field types: read from a syntax tree into a closed set of shapes, from which real types are built.

A stranger's annotation never reaches pydantic as text, because pydantic evaluates text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import GenericAlias
from typing import Annotated, Any, Literal, Union

from pydantic import Field

from karenina_core.schemas import SCALARS
from karenina_core.templates.limits import MAX_CHOICES, MAX_TYPE_DEPTH, refuse
from karenina_core.templates.literals import UNIT, excerpt, quote
from karenina_core.templates.scope import Scope

Choice = str | int | bool | None

NUMERIC_OPTIONS = frozenset({"ge", "gt", "le", "lt", "multiple_of"})
LENGTH_OPTIONS = frozenset({"min_length", "max_length", "max_digits", "decimal_places"})
_NESTED_OPTIONS = NUMERIC_OPTIONS | LENGTH_OPTIONS | {"description", "pattern", "title"}
_COLLECTION_TYPES: dict[str, type] = {"list": list, "set": set, "tuple": tuple, "dict": dict, "fixed": tuple}
_COLLECTIONS = {spelled: name for name in ("list", "set", "tuple", "dict") for spelled in (name, name.capitalize())}
_COLLECTIONS |= {"Sequence": "list", "frozenset": "set", "FrozenSet": "set", "Mapping": "dict"}
_SIZES = {"Optional": (1,), "Union": range(1, 21), "list": (1,), "set": (1,), "tuple": (1,), "dict": (2,)}
_SIZES["fixed"] = range(1, 21)
_NOTES = ("Field", "StringConstraints")
_BOUNDS = (("Positive", "gt"), ("NonNegative", "ge"), ("Negative", "lt"), ("NonPositive", "le"))
_PARTED = "list[...], tuple[...], set[...], dict[str, ...], Optional[...], Literal[...], Annotated[..., Field(...)]"
_ALLOWED = f"use {', '.join(SCALARS)}, {_PARTED} or a model class"


@dataclass(frozen=True)
class Shape:
    """A vetted field type.

    Attributes:
        kind: A scalar such as `str`, a collection such as `list`, or `fixed` (a tuple of fixed length), `none`,
            `union`, `literal`, `model`, or `annotated` (one part, with options).
        parts: The types inside.
        choices: The values of a literal.
        model: The name of a nested model.
        options: What `Annotated` says of the part, as arguments of pydantic's `Field`.
    """

    kind: str
    parts: tuple[Shape, ...] = ()
    choices: tuple[Choice, ...] = ()
    model: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """The annotation in its canonical spelling, such as `list[str] | None`."""
        inside = [part.text for part in self.parts]
        match self.kind:
            case "none":
                return "None"
            case "literal":
                return f"Literal[{', '.join(quote(choice) for choice in self.choices)}]"
            case "model":
                return self.model
            case "union":
                return " | ".join(inside)
            case "tuple":
                return f"tuple[{inside[0]}, ...]"
            case "fixed":
                return f"tuple[{', '.join(inside)}]"
            case "annotated":
                options = ", ".join(f"{name}={quote(value)}" for name, value in self.options)
                return f"Annotated[{inside[0]}, Field({options})]"
            case _:
                return f"{self.kind}[{', '.join(inside)}]" if inside else self.kind

    def python(self, models: Mapping[str, type]) -> Any:
        """Build the real type.

        Args:
            models: The classes of the nested models by name.
        """
        inside = tuple(part.python(models) for part in self.parts)
        match self.kind:
            case "none":
                return None
            case "literal":
                return Literal[self.choices]
            case "model":
                return models[self.model]
            case "union":
                return Union[inside]  # noqa: UP007 - the members are only known now
            case "annotated":
                return Annotated[inside[0], Field(**dict(self.options))]
            case kind if kind in _COLLECTION_TYPES:
                return GenericAlias(_COLLECTION_TYPES[self.kind], (*inside, ...) if self.kind == "tuple" else inside)
            case _:
                return SCALARS[self.kind][0]

    @property
    def optional(self) -> bool:
        """Whether null is one of its values."""
        return self.kind in ("none", "Any") or any(
            part.optional for part in self.parts if self.kind in ("union", "annotated")
        )

    @cached_property
    def size(self) -> int:
        """How many types and choices it is made of."""
        return 1 + len(self.choices) + sum(part.size for part in self.parts)

    @cached_property
    def depth(self) -> int:
        """How many types are around its innermost one, itself included."""
        return 1 + max((part.depth for part in self.parts), default=0)

    @property
    def names(self) -> frozenset[str]:
        """The kinds of all types in it, those of models by their names."""
        return frozenset({self.model or self.kind}).union(*(part.names for part in self.parts))


TEXT = Shape("str")
ANYTHING = Shape("Any")
_NAMED = {name: Shape(name) for name in SCALARS} | {"NoneType": Shape("none"), "FiniteFloat": Shape("float")}
_NAMED |= {f"Strict{name.capitalize()}": Shape(name) for name in ("bool", "int", "float", "str", "bytes")}
_NAMED |= {
    f"{sign}{name.capitalize()}": Shape("annotated", (Shape(name),), options=((bound, 0),))
    for sign, bound in _BOUNDS
    for name in ("int", "float")
}


def read_shape(node: ast.expr, scope: Scope, depth: int = 0) -> Shape:
    """Return the vetted type an annotation names.

    Raises:
        TemplateError: It is no type that can be extracted, or hides a call.
    """
    if depth > MAX_TYPE_DEPTH:
        raise refuse("type", "the type is nested too deeply", next="flatten it", at=node)
    match node:
        case ast.Constant(value=None):
            return Shape("none")
        case ast.Constant(value=str() as text):
            return read_shape(_quoted(text, node), scope, depth + 1)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _union([read_shape(side, scope, depth + 1) for side in (left, right)])
        case ast.Subscript(value=value, slice=inside):
            return _subscripted(node, value, inside, scope, depth)
        case ast.Name() | ast.Attribute():
            return _named(node, scope, depth)
    raise refuse("type", f"{excerpt(node)} is not a type a field can have", next=_ALLOWED, at=node)


def parse_shape(text: str, models: frozenset[str] = frozenset()) -> Shape:
    """Read an annotation given as text. Call it on a deep stack only."""
    node = ast.parse("None", mode="eval").body
    return read_shape(_quoted(text, node), Scope(models=set(models)))


def _quoted(text: str, node: ast.expr) -> ast.expr:
    if len(text) > 20_000:
        raise refuse("type", "the type is too long", at=node)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise refuse("type", f"{text[:60]!r} is not a type a field can have", next=_ALLOWED, at=node) from None
    for part in ast.walk(tree):
        part.lineno = node.lineno  # type: ignore[attr-defined]
    return tree


def _named(node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Shape:
    if isinstance(node, ast.Name) and (shape := _own(node.id, scope)):
        scope.constants.spend(UNIT * shape.size, node)
        if depth + shape.depth > MAX_TYPE_DEPTH:
            raise refuse("type", "the type is nested too deeply", next="flatten it", at=node)
        return shape
    name = scope.resolve(node)
    if name in _COLLECTIONS:
        return _collection(_COLLECTIONS[name], [])
    if name in _NAMED:
        return _NAMED[name]
    raise refuse("type", f"{excerpt(node)} is not a type a field can have", next=_ALLOWED, at=node)


def _own(name: str, scope: Scope) -> Shape | None:
    """Return the type that the template itself gives a name: a model, an enumeration, an alias."""
    if name in scope.models:
        return Shape("model", model=name)
    if name in scope.choices:
        return Shape("literal", choices=scope.choices[name])
    alias = scope.aliases.get(name)
    return alias if isinstance(alias, Shape) else None


def _subscripted(node: ast.expr, value: ast.expr, inside: ast.expr, scope: Scope, depth: int) -> Shape:
    name = scope.resolve(value)
    items = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if name == "Literal":
        return Shape("literal", choices=_choices(items, node, scope))
    if name == "Annotated" and len(items) > 1:
        return annotated(read_shape(items[0], scope, depth + 1), _noted(items[1:], scope))
    kind = _COLLECTIONS.get(name or "", name)
    if kind == "tuple":
        endless = len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is Ellipsis
        kind, items = ("tuple", items[:1]) if endless else ("fixed", items)
    if kind in _SIZES and len(items) in _SIZES[kind]:
        parts = [read_shape(item, scope, depth + 1) for item in items]
        if kind == "Optional":
            return _union([*parts, Shape("none")])
        return _union(parts) if kind == "Union" else _collection(kind, parts, node)
    raise refuse("type", f"{excerpt(node)} is not a type a field can have", next=_ALLOWED, at=node)


def annotated(inner: Shape, options: Mapping[str, Any]) -> Shape:
    """Return a type with further options of pydantic's `Field`; the type itself where there are none."""
    if inner.kind == "annotated":
        return annotated(inner.parts[0], {**dict(inner.options), **options})
    return Shape("annotated", (inner,), options=tuple(options.items())) if options else inner


def _noted(notes: list[ast.expr], scope: Scope) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for note in notes:
        if isinstance(note, ast.Constant):
            continue  # a remark, which has no effect
        stated = isinstance(note, ast.Call) and not note.args and scope.resolve(note.func) in _NOTES
        named = note.keywords if isinstance(note, ast.Call) and stated else []
        if not named or any(item.arg not in _NESTED_OPTIONS for item in named):
            advice = f"write Field(...) with some of {', '.join(sorted(_NESTED_OPTIONS))}"
            raise refuse("type", f"{excerpt(note)} says nothing that is known here of a type", next=advice, at=note)
        options |= {str(item.arg): scope.literal(item.value) for item in named}
    return options


def _collection(kind: str, parts: list[Shape], node: ast.expr | None = None) -> Shape:
    if kind == "dict":
        key, value = parts or (TEXT, ANYTHING)
        if key.kind not in ("str", "int", "literal"):
            raise refuse("type", "the keys of a dict field must be str or int", next="write dict[str, ...]", at=node)
        return Shape(kind, (key, value))
    return Shape(kind, tuple(parts) or (ANYTHING,))


def _union(parts: list[Shape]) -> Shape:
    flat: list[Shape] = []
    for part in parts:
        flat += part.parts if part.kind == "union" else (part,)
    distinct = list(dict.fromkeys(part for part in flat if part.kind != "none"))
    if len(distinct) < len(flat) and any(part.kind == "none" for part in flat):
        distinct.append(Shape("none"))
    return distinct[0] if len(distinct) == 1 else Shape("union", tuple(distinct))


def _choices(items: list[ast.expr], node: ast.expr, scope: Scope) -> tuple[Choice, ...]:
    if len(items) > MAX_CHOICES:
        raise refuse("type", f"a Literal may have {MAX_CHOICES} values, not {len(items)}", at=node)
    values: list[Choice] = []
    for item in items:
        value = scope.literal(item)
        if isinstance(value, float | list | dict):
            raise refuse("type", f"{excerpt(item)} cannot be a Literal value", next="use text or integers", at=item)
        if not any(value == known and type(value) is type(known) for known in values):
            values.append(value)
    return tuple(values)
