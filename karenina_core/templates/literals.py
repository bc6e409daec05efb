"""Values a template may state: plain data, read from the syntax tree without running anything."""

from __future__ import annotations

import ast
import math
import operator
import re
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from pydantic_core import to_jsonable_python

from karenina_core.errors import TemplateError
from karenina_core.schemas import SCALARS
from karenina_core.templates.limits import refuse

MAX_INTEGER_BITS = 1024
MAX_COMPUTED = 1_000_000
MAX_SECONDS = 10.0
UNIT = 10
"""What anything but a text counts in the budget of a source; a text counts its characters."""
_MAX_DEPTH = 20
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_BUILT = frozenset({"date", "datetime", "time", "timedelta", "Decimal", "UUID"})
_WRITTEN_AS_TEXT = tuple(kind for kind, _ in SCALARS.values() if kind is not Any)
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_WORDS = {"true": "True", "false": "False", "null": "None"}


class Constants:
    """The values of names bound once to plain data, and of enumeration members, as `Phase.III`.

    A value is computed when it is used. All that a source states shares one budget, of size and of time: a value
    counts wherever it is used, so that names of names of names cannot multiply it.

    Args:
        resolve: Returns the original name of what an expression names.
    """

    def __init__(self, resolve: Callable[[ast.AST], str | None] = lambda node: None) -> None:
        self.resolve = resolve
        self._nodes: dict[str, ast.expr] = {}
        self._values: dict[str, tuple[Any, int]] = {}
        self._spent = 0
        self._end = time.monotonic() + MAX_SECONDS

    def define(self, name: str, value: ast.expr) -> None:
        """Bind a name to an expression, which need not be a plain value."""
        self._nodes[name] = value

    def __contains__(self, name: str) -> bool:
        node = self._nodes.pop(name, None)  # while it is computed, it does not know itself
        if node is not None:
            before = self._spent
            try:
                self._values[name] = read_literal(node, self), self._spent - before
            except TemplateError as error:
                if error.code == "too_large":
                    raise
            self._spent = before
        return name in self._values

    def __getitem__(self, name: str) -> Any:
        value, size = self._values[name]
        self.spend(size)
        return value

    def spend(self, size: int, at: ast.AST | None = None) -> None:
        """Count a value.

        Args:
            size: Its characters, or a multiple of `UNIT`.
            at: Where it stands.

        Raises:
            TemplateError: The source states too much, or has been read for too long.
        """
        self._spent += size
        if self._spent > MAX_COMPUTED:
            why = f"they may have {MAX_COMPUTED:,} characters in all"
            raise refuse("too_large", "the values of the template are too large", why, "write shorter ones", at=at)
        if time.monotonic() > self._end:
            why = f"it may take {MAX_SECONDS:g} s"
            raise refuse("too_large", "reading the template takes too long", why, "shorten or split it", at=at)


def read_literal(node: ast.expr, constants: Constants) -> Any:
    """Return the value an expression states: JSON data, with tuples and sets as lists.

    Args:
        node: A literal, simple arithmetic on numbers, joined texts, or the name of a constant.
        constants: What the names of the template stand for.

    Raises:
        TemplateError: The expression is anything else, or too large together with the rest of the source.
    """
    constants.spend(len(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else UNIT, node)
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | bytes() | None as value):
            return _computed(lambda: value, node)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [read_literal(item, constants) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {_key(key, node, constants): read_literal(value, constants) for key, value in pairs}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            value = _number(read_literal(operand, constants), node)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _calculate(op, read_literal(left, constants), read_literal(right, constants), node)
        case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
            return "".join(read_literal(part, constants) for part in parts)
        case ast.Name() | ast.Attribute() if (name := ast.unparse(node).removesuffix(".value")) in constants:
            return constants[name]
        case ast.Name(id=name) if name in _WORDS:
            raise refuse("literal", f"{name!r} is not a Python value", next=f"write {_WORDS[name]}", at=node)
        case ast.Call(func=function, args=args, keywords=named) if constants.resolve(function) in _BUILT:
            arguments = [read_literal(argument, constants) for argument in args]
            options = {str(item.arg): read_literal(item.value, constants) for item in named}
            return _computed(lambda: SCALARS[str(constants.resolve(function))][0](*arguments, **options), node)
        case ast.Call(func=function):
            advice = "only the built-in primitives can be used in field definitions"
            raise refuse("unknown_call", f"call of {ast.unparse(function)!r}", next=advice, at=node)
    raise refuse("literal", f"{excerpt(node)} is not a plain value", next="write the value itself", at=node)


def excerpt(node: ast.AST) -> str:
    """Return the source of a node, shortened, in quotes."""
    text = " ".join(ast.unparse(node).split())
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def check_plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON data, lists for tuples and sets, values for enumeration members.

    Raises:
        ValueError: It holds objects, numbers that are not finite, or text no file can hold.
    """
    if depth > _MAX_DEPTH:
        raise ValueError("the value is nested too deeply")
    match value:
        case None | bool():
            return value
        case Enum():
            return check_plain(value.value, depth)
        case int():
            if value.bit_length() > MAX_INTEGER_BITS:
                raise ValueError("the number is too large")
            return int(value)
        case float():
            if not math.isfinite(value):
                raise ValueError("the number is not finite")
            return float(value)
        case str():
            if _NO_TEXT.search(value):
                raise ValueError("the text holds a NUL character or half a surrogate pair")
            return str(value)
        case list() | tuple() | set() | frozenset():
            return [check_plain(item, depth + 1) for item in value]
        case Mapping() if all(isinstance(key, str) for key in value):
            return {check_plain(key): check_plain(item, depth + 1) for key, item in value.items()}
        case Mapping():
            raise ValueError("the keys must be texts")
    if isinstance(value, _WRITTEN_AS_TEXT):
        return check_plain(to_jsonable_python(value))
    raise ValueError(f"a {type(value).__name__} is not a plain value")


def _computed(value: Callable[[], Any], node: ast.AST) -> Any:
    try:
        return check_plain(value())
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise refuse("literal", "this value cannot be used", str(error), "write another one", at=node) from None


def _key(key: ast.expr | None, node: ast.AST, constants: Constants) -> str:
    value = None if key is None else read_literal(key, constants)
    if not isinstance(value, str):
        raise refuse("literal", "the keys of this mapping must be texts", next='write {"key": value}', at=key or node)
    return value


def _number(value: Any, node: ast.AST) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse("literal", f"{excerpt(node)} is not a plain value", next="write the value itself", at=node)
    return value


def _calculate(op: ast.operator, left: Any, right: Any, node: ast.AST) -> Any:
    if isinstance(op, ast.Add) and isinstance(left, str) and isinstance(right, str):
        return left + right
    calculate = _ARITHMETIC.get(type(op))
    if calculate is None:
        raise refuse("literal", f"{excerpt(node)} is not a plain value", next="write the value itself", at=node)
    first, second = _number(left, node), _number(right, node)
    return _computed(lambda: calculate(first, second), node)


def quote(value: Any) -> str:
    """Return plain data as Python source, texts in double quotes, patterns as raw strings."""
    match value:
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(quote(item) for item in value)}]"
        case dict():
            return f"{{{', '.join(f'{quote(key)}: {quote(item)}' for key, item in value.items())}}}"
        case _:
            return repr(value)


def _text(value: str) -> str:
    raw = "\\" in value and value.isprintable() and '"' not in value and not value.endswith("\\")
    if raw:
        return f'r"{value}"'
    plain = repr(value)
    if plain[0] == '"' or '"' in value:
        return plain
    return '"' + plain[1:-1].replace("\\'", "'") + '"'
