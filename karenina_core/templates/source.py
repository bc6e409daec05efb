"""The source of an answer class that was written in Python, so that a benchmark can keep it."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
import symtable
import sys
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from pydantic import BaseModel

from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas.entities.answer import BaseAnswer
from karenina_core.templates.live import spec_of
from karenina_core.templates.template import read_template
from karenina_core.templates.wording import quote
from karenina_core.templates.writer import write_template

_ALWAYS_THERE = ("karenina", "karenina_core", "pydantic", "typing", "typing_extensions")


def source_of(cls: type[BaseAnswer]) -> str:
    """Return the source of an answer class.

    A class that only has fields is written from its fields; its own text is kept where it says the same. The text of
    a class with methods is found through them, together with the imports, constants and helpers it uses.

    Raises:
        InputError: The text cannot be found, or a rule cannot be written as source.
    """
    functions = list(_functions(cls))
    if functions:
        return _with_needs(_written_class(cls, functions[0]), functions[0].__globals__)
    spec = spec_of(cls)
    text = _text_of(cls)
    try:
        return text if text and read_template(text).spec == spec else write_template(spec)
    except TemplateError:
        return write_template(spec)


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


def _written_class(cls: type[BaseAnswer], method: FunctionType) -> str:
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


def _with_needs(text: str, known: Mapping[str, Any]) -> str:
    """Put what a text uses from its module in front of it, in order of need."""
    parts: dict[str, str] = {}
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
    defined = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_parameter()}
    return own | (inside - defined if table.get_type() != "class" else inside)


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
        case bool() | int() | float() | str() | list() | dict() | None:
            return f"{name} = {quote(value)}"
        case tuple() | set() | frozenset():
            return f"{name} = {value!r}"
    return None


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
