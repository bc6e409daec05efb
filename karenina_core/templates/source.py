"""The source of an answer class that was written in Python, so that a benchmark can keep it."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import math
import re
import symtable
import sys
import textwrap
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel

from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import BaseAnswer, entities, primitives, verified_fields
from karenina_core.schemas.primitives import TracePrimitive, VerificationPrimitive
from karenina_core.templates.literals import quote
from karenina_core.templates.live import is_unregistered, spec_of
from karenina_core.templates.template import read_template
from karenina_core.templates.writer import write_fields, write_template

_ALWAYS_THERE = ("karenina", "karenina_core", "pydantic", "typing", "typing_extensions")


def source_of(cls: type[BaseAnswer]) -> str:
    """Return the source of an answer class.

    A class that only has fields is written from its fields; its own text is kept where it says the same. The text of
    a class with methods is found through them, together with the imports, constants and helpers it uses. Custom
    primitives that are not registered are put in front of it.

    Raises:
        InputError: The text cannot be found, or a rule cannot be written as source.
    """
    rules = _unregistered(cls)
    if rules:
        return _with_rules(cls, rules)
    functions = list(_functions(cls))
    if functions:
        return _with_needs(_written_class(cls, functions[0]), functions[0].__globals__, {})
    spec = spec_of(cls)
    text = _text_of(cls)
    try:
        return text if text and read_template(text).spec == spec else write_template(spec)
    except TemplateError:
        return write_template(spec)


def _unregistered(cls: type[BaseAnswer]) -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for primitive in filter(is_unregistered, (item.verify_with for item in verified_fields(cls).values())):
        kind = type(primitive)
        if found.setdefault(kind.__name__, kind) is not kind:
            raise InputError(f"Two primitives are named {kind.__name__}.", next="Give them different names.")
    return found


def _with_rules(cls: type[BaseAnswer], rules: Mapping[str, type[BaseModel]]) -> str:
    """Return the source of an answer class below the custom primitives it uses."""
    parts: dict[str, str] = {}
    for name, kind in rules.items():
        parts = _rule_parts(name, kind, parts)
    functions = list(_functions(cls))
    if functions:
        return _with_needs(_written_class(cls, functions[0]), {**functions[0].__globals__, **rules}, parts)
    spec = spec_of(cls)
    text = _text_of(cls)
    try:
        kept = _with_needs(text, getattr(sys.modules.get(cls.__module__), "__dict__", {}), parts) if text else ""
        if kept and read_template(kept).spec == spec:
            return kept
    except TemplateError:
        pass
    return _with_needs(write_fields(spec), {}, parts)


def _rule_parts(name: str, kind: type[BaseModel], known_parts: Mapping[str, str]) -> dict[str, str]:
    """Return the text of a custom primitive by its name, and what it uses from its module before it.

    Raises:
        InputError: The text cannot be found, or uses what it does not hold.
    """
    functions = list(_functions(kind))
    if kind.__bases__ not in ((VerificationPrimitive,), (TracePrimitive,)) or not functions:
        raise InputError(
            f"The primitive {name} cannot be stored.",
            "Only a class with a check of its own and the single base VerificationPrimitive or TracePrimitive can.",
            "Write it in one class, or register it.",
        )
    text = _written_class(kind, functions[0])
    known = {**functions[0].__globals__}
    for function in functions:
        known |= _surroundings(name, function)
    parts = dict(known_parts)
    _collect(text, known, parts)
    parts[name] = text
    missing = sorted(_free_names(symtable.symtable("\n".join(parts.values()), "<template>", "exec")) - _held_names())
    if missing:
        raise _not_held(name, ", ".join(missing))
    return parts


def _surroundings(name: str, function: FunctionType) -> dict[str, Any]:
    """Return the imported names that a method takes from the function around its class.

    Raises:
        InputError: It takes anything else from there.
    """
    found: dict[str, Any] = {}
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            raise _not_held(name, variable) from None
        part = _definition(variable, value)
        if part is None or not _is_import(part):
            raise _not_held(name, variable)
        found[variable] = value
    return found


def _not_held(name: str, variables: str) -> InputError:
    return InputError(
        f"The primitive {name} cannot be stored: it uses {variables}.",
        "Its source does not hold that.",
        "Make it a parameter of the primitive, or a constant or function of its module.",
    )


def _held_names() -> set[str]:
    """Return the names a template knows without defining them."""
    return {*dir(builtins), *typing.__all__, *entities.__all__, *primitives.__all__, "BaseModel", "ConfigDict", "Field"}


def _functions(cls: type) -> Iterator[FunctionType]:
    """Yield the functions written in the body of a class."""
    for value in vars(cls).values():
        plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        # pydantic wraps `model_post_init`.
        plain = inspect.unwrap(plain) if callable(plain) else plain
        if isinstance(plain, FunctionType) and plain.__qualname__.startswith(f"{cls.__qualname__}."):
            yield plain


def _text_of(item: Any) -> str | None:
    try:
        return textwrap.dedent(inspect.getsource(item))
    except (OSError, TypeError):
        return None


def _written_class(cls: type[BaseModel], method: FunctionType) -> str:
    """Return the text of the class around a method; by line, because a file may hold many classes named Answer."""
    lines = linecache.getlines(method.__code__.co_filename, method.__globals__)
    wanted = method.__code__.co_firstlineno
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            last = node.end_lineno or node.lineno
            if node.lineno <= wanted <= last:
                return textwrap.dedent("".join(lines[node.lineno - 1 : last]))
    raise InputError(
        f"The source of class {cls.__name__} cannot be found.", next="Give the template as text instead of a class."
    )


def _with_needs(text: str, known: Mapping[str, Any], parts: Mapping[str, str]) -> str:
    """Put what a text uses from its module in front of it, in order of need, behind the given parts."""
    parts = dict(parts)
    _collect(text, known, parts)
    imports = "\n".join(part for part in parts.values() if _is_import(part))
    others = [part.strip("\n") for part in parts.values() if not _is_import(part)]
    return "\n\n\n".join(part for part in [imports, *others, text.strip("\n")] if part) + "\n"


def _collect(text: str, known: Mapping[str, Any], parts: dict[str, str]) -> None:
    for name in sorted(_free_names(symtable.symtable(text, "<template>", "exec"))):
        if name in known and name not in parts and not hasattr(builtins, name):
            part = _definition(name, known[name])
            if part is not None:
                parts[name] = ""
                if not _is_import(part):
                    _collect(part, getattr(known[name], "__globals__", known), parts)
                del parts[name]
                parts[name] = part


def _free_names(table: symtable.SymbolTable) -> set[str]:
    """Return the global names that a text uses and does not define."""
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and not symbol.is_local()}
    inside = {name for child in table.get_children() for name in _free_names(child)}
    defined = {symbol.get_name() for symbol in table.get_symbols() if _is_bound(symbol)}
    return own | (inside - defined if table.get_type() != "class" else inside)


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported()


def _is_import(part: str) -> bool:
    return part.startswith(("import ", "from "))


def _definition(name: str, value: Any) -> str | None:
    """Return source that defines a name, or None where none is needed or possible."""
    match value:
        case ModuleType():
            return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
        case type() | FunctionType() | BuiltinFunctionType():
            return _code(name, value)
        case re.Pattern():
            return f"{name} = re.compile({quote(value.pattern)}, {value.flags})"
        case bool() | int() | float() | str() | list() | dict() | None if _is_data(value):
            return f"{name} = {quote(value)}"
        case tuple() | set() | frozenset() if _is_data(value):
            return f"{name} = {value!r}"
    return None


def _is_data(value: Any) -> bool:
    match value:
        case None | bool() | int() | str():
            return not isinstance(value, Enum)
        case float():
            return math.isfinite(value)
        case dict():
            return all(_is_data(item) for item in (*value.keys(), *value.values()))
        case list() | tuple() | set() | frozenset():
            return all(_is_data(item) for item in value)
    return False


def _code(name: str, value: Any) -> str | None:
    origin = value.__module__ or "builtins"
    root = origin.partition(".")[0]
    if root in _ALWAYS_THERE or value is Enum:
        return None
    public = next((path for path in (root.lstrip("_"), origin) if _holds(path, name, value)), None)
    library = root in sys.stdlib_module_names
    if library and public:
        return f"from {public} import {name}"
    return None if isinstance(value, type) and not issubclass(value, BaseModel | Enum) else _text_of(value)


def _holds(path: str, name: str, value: Any) -> bool:
    return getattr(sys.modules.get(path), name, None) is value
