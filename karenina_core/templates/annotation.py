"""Field types: read from a syntax tree into a closed set of shapes, from which real types are built.

A stranger's annotation never reaches pydantic as text, because pydantic evaluates text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from types import GenericAlias
from typing import Any, Literal, Union

from karenina_core.templates.limits import MAX_CHOICES, MAX_TYPE_DEPTH, refuse
from karenina_core.templates.literals import UNIT, excerpt, quote
from karenina_core.templates.scope import Scope

Choice = str | int | bool | None

SCALARS: dict[str, Any] = {kind.__name__: kind for kind in (bool, int, float, str, date, datetime, time)}
SCALARS["Any"] = Any
"""The types without parts, by the name that annotations use."""
_COLLECTION_TYPES: dict[str, type] = {"list": list, "set": set, "tuple": tuple, "dict": dict}
_COLLECTIONS = {name: name for name in _COLLECTION_TYPES} | {name.capitalize(): name for name in _COLLECTION_TYPES}
_COLLECTIONS |= {"Sequence": "list", "frozenset": "set", "FrozenSet": "set", "Mapping": "dict"}
_SIZES = {"Optional": (1,), "Union": range(1, 21), "list": (1,), "set": (1,), "tuple": (1,), "dict": (2,)}
_ALLOWED = "use bool, int, float, str, list[...], dict[str, ...], Optional[...], Literal[...], a date or a model class"


@dataclass(frozen=True)
class Shape:
    """A vetted field type.

    Attributes:
        kind: A scalar such as `str`, a collection such as `list`, or `none`, `union`, `literal`, `model`.
        parts: The types inside.
        choices: The values of a literal.
        model: The name of a nested model.
    """

    kind: str
    parts: tuple[Shape, ...] = ()
    choices: tuple[Choice, ...] = ()
    model: str = ""

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
            case "list" | "set" | "dict" | "tuple":
                return GenericAlias(_COLLECTION_TYPES[self.kind], (*inside, ...) if self.kind == "tuple" else inside)
            case _:
                return SCALARS[self.kind]

    @property
    def optional(self) -> bool:
        """Whether null is one of its values."""
        return self.kind in ("none", "Any") or any(part.optional for part in self.parts if self.kind == "union")

    @cached_property
    def size(self) -> int:
        """How many types and choices it is made of."""
        return 1 + len(self.choices) + sum(part.size for part in self.parts)

    @cached_property
    def depth(self) -> int:
        """How many types are around its innermost one, itself included."""
        return 1 + max((part.depth for part in self.parts), default=0)

    @property
    def models(self) -> frozenset[str]:
        """The names of the nested models in it."""
        own = {self.model} if self.model else set()
        return frozenset(own.union(*(part.models for part in self.parts)))


TEXT = Shape("str")
ANYTHING = Shape("Any")


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
    return read_shape(_quoted(text, node), Scope.of_models(models))


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
    if name in SCALARS:
        return Shape(name)
    if name in _COLLECTIONS:
        return _collection(_COLLECTIONS[name], [])
    if name == "NoneType":
        return Shape("none")
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
    kind = _COLLECTIONS.get(name or "", name)
    if kind == "tuple" and len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is Ellipsis:
        items = items[:1]
    if kind in _SIZES and len(items) in _SIZES[kind]:
        parts = [read_shape(item, scope, depth + 1) for item in items]
        if kind == "Optional":
            return _union([*parts, Shape("none")])
        return _union(parts) if kind == "Union" else _collection(kind, parts, node)
    raise refuse("type", f"{excerpt(node)} is not a type a field can have", next=_ALLOWED, at=node)


def _collection(kind: str, parts: list[Shape], node: ast.expr | None = None) -> Shape:
    if kind == "dict":
        key, value = parts or (TEXT, ANYTHING)
        if key != TEXT:
            raise refuse("type", "the keys of a dict field must be str", next="write dict[str, ...]", at=node)
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
