"""Answer classes written in Python: as a spec, and as source that a benchmark can keep."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
import symtable
import sys
import textwrap
import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from karenina_core.errors import InputError, TemplateError, validation_message
from karenina_core.schemas import (
    SCALARS,
    BaseAnswer,
    Verification,
    entities,
    primitives,
    verification_of,
    verified_fields,
)
from karenina_core.schemas.primitives import REGISTRY, Primitive, TracePrimitive, VerificationPrimitive
from karenina_core.templates.annotation import ANYTHING, TEXT, Shape, annotated
from karenina_core.templates.literals import quote
from karenina_core.templates.models import ReplyForm, build_models
from karenina_core.templates.scope import RuleMethod
from karenina_core.templates.spec import OPTIONS, FieldSpec, ModelSpec, TemplateSpec, type_of
from karenina_core.templates.template import read_template
from karenina_core.templates.writer import write_fields, write_template

_SCALARS: dict[Any, Shape] = {kind: Shape(name) for name, (kind, _) in SCALARS.items()}
_COLLECTIONS: dict[Any, str] = {list: "list", set: "set", frozenset: "set", tuple: "tuple", dict: "dict"}


def spec_of(cls: type[BaseAnswer]) -> TemplateSpec:
    """Return the spec of an answer class that has no methods of its own. It does not hold custom primitives.

    Raises:
        InputError: A field's type or rule cannot be expressed as data.
    """
    models: dict[str, ModelSpec] = {}
    try:
        fields = [_field(name, info, models) for name, info in cls.model_fields.items()]
        return TemplateSpec(
            fields=fields,
            verify_strategy=cls.strategy(),
            models=list(models.values()),
            own_code=any(item.own_rule for item in fields),
        )
    except ValidationError as error:
        raise InputError(
            f"Class {cls.__name__} cannot be written as a template.", validation_message(error, most=1)
        ) from None


def build_parsing_schema(answer_class: type[BaseAnswer]) -> dict[str, Any]:
    """Return the JSON schema of what the judge of an answer class fills in. It never holds the truth.

    Raises:
        InputError: A field's type or rule cannot be expressed as data.
    """
    spec = spec_of(answer_class)
    return deepcopy(ReplyForm(spec, build_models(spec)).schema)


def is_unregistered(primitive: Primitive) -> bool:
    """Whether stored forms of a primitive cannot be read back without the source of its class."""
    return REGISTRY.get(type(primitive).__name__) is not type(primitive)


def _field(name: str, info: FieldInfo, models: dict[str, ModelSpec]) -> FieldSpec:
    settings = type_of(_shape(info.annotation, models))
    verification = verification_of(info)
    if verification is not None:
        settings |= _rule(verification)
    return FieldSpec.model_validate(
        {"name": name, "description": info.description or "", "options": _options(info), **settings}
    )


def _rule(verification: Verification) -> dict[str, Any]:
    own_rule: RuleMethod = "check_trace" if verification.is_trace else "check"
    return {
        "own_rule": own_rule if is_unregistered(verification.verify_with) else None,
        "ground_truth": verification.ground_truth,
        "verify_with": verification.verify_with.to_dict(),
        "weight": verification.weight,
        "extraction_hint": verification.extraction_hint,
    }


def _options(info: FieldInfo) -> dict[str, Any]:
    found = _constraints(info.metadata)
    if not info.is_required():
        found["default"] = info.get_default(call_default_factory=True)
    if info.title:
        found["title"] = info.title
    if info.examples:
        found["examples"] = info.examples
    return found


def _constraints(notes: Iterable[Any]) -> dict[str, Any]:
    items = [part for note in notes for part in (note.metadata if isinstance(note, FieldInfo) else [note])]
    if any(hasattr(item, "func") for item in items):
        raise InputError("A validator in Annotated cannot be written in a template.", next="Check it in verify().")
    names = sorted(OPTIONS - {"default", "title"})
    return {name: getattr(item, name) for item in items for name in names if getattr(item, name, None) is not None}


def _shape(annotation: Any, models: dict[str, ModelSpec]) -> Shape:
    if annotation in (None, NoneType):
        return Shape("none")
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return Shape("literal", choices=arguments)
    if origin in (Union, UnionType):
        return Shape("union", tuple(_shape(argument, models) for argument in arguments))
    if origin is Annotated:
        return annotated(_shape(arguments[0], models), _constraints(arguments[1:]))
    kind = _COLLECTIONS.get(origin or annotation)
    if kind == "tuple" and arguments and Ellipsis not in arguments:
        kind = "fixed"
    if kind:
        parts = [_shape(argument, models) for argument in arguments if argument is not Ellipsis]
        return Shape(kind, tuple(parts) or ((TEXT, ANYTHING) if kind == "dict" else (ANYTHING,)))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Shape("literal", choices=tuple(member.value for member in annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation, models)
    raise InputError(f"The type {annotation!r} cannot be written in a template.", next="Use a simpler type.")


def _model(cls: type[BaseModel], models: dict[str, ModelSpec]) -> Shape:
    if cls.__name__ not in models:
        fields = [_field(name, info, models) for name, info in cls.model_fields.items()]
        own = vars(cls).get("__doc__")
        models[cls.__name__] = ModelSpec(name=cls.__name__, description=own, fields=fields)
    return Shape("model", model=cls.__name__)


_ALWAYS_THERE = ("karenina", "karenina_core", "pydantic", "typing", "typing_extensions")


def source_of(cls: type[BaseAnswer]) -> str:
    """Return the source of an answer class.

    A class that only has fields is written from its fields; its own text is kept where it says the same. The text of
    a class with methods is found through them, together with the imports, constants and helpers it uses. Custom
    primitives that are not registered are put in front of it.

    Raises:
        InputError: It is not named `Answer`, its text cannot be found, or a rule cannot be written as source.
    """
    if cls.__name__ != "Answer":
        what = f"The class {cls.__name__} cannot be a template."
        raise InputError(what, "The class of a template must be named Answer.", "Name it Answer.")
    rules = _unregistered(cls)
    parts: dict[str, str] = {}
    for name, kind in rules.items():
        parts = _rule_parts(name, kind, parts)
    methods = list(_functions(cls))
    if methods:
        return _with_needs(_written_class(cls, methods[0]), {**methods[0].__globals__, **rules}, parts)
    spec = spec_of(cls)
    text = _text_of(cls)
    if text:
        text = _with_needs(text, getattr(sys.modules.get(cls.__module__), "__dict__", {}), parts)
        with suppress(TemplateError):
            if read_template(text).spec == spec:
                return text
    return _with_needs(write_fields(spec) if rules else write_template(spec), {}, parts)


def _unregistered(cls: type[BaseAnswer]) -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for primitive in filter(is_unregistered, (item.verify_with for item in verified_fields(cls).values())):
        kind = type(primitive)
        if found.setdefault(kind.__name__, kind) is not kind:
            raise InputError(f"Two primitives are named {kind.__name__}.", next="Give them different names.")
    return found


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
    if around := sorted({variable for function in functions for variable in function.__code__.co_freevars}):
        raise _not_held(name, ", ".join(around))
    parts = dict(known_parts)
    _collect(text, functions[0].__globals__, parts)
    parts[name] = text
    missing = sorted(_free_names(symtable.symtable("\n".join(parts.values()), "<template>", "exec")) - _held_names())
    if missing:
        raise _not_held(name, ", ".join(missing))
    return parts


def _not_held(name: str, variables: str) -> InputError:
    return InputError(
        f"The primitive {name} cannot be stored: it uses {variables}.",
        "Its source does not hold that.",
        "Make it a parameter of the primitive, or a constant or function of its module.",
    )


def _held_names() -> set[str]:
    """Return the names a template knows without defining them."""
    ours = {**vars(entities), **vars(primitives)}
    names = {name for name, value in ours.items() if not isinstance(value, ModuleType)}
    return names | {*dir(builtins), *typing.__all__, "BaseModel", "ConfigDict", "Field"}


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
    """Whether Python reads a value back from how it writes it."""
    with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return bool(ast.literal_eval(repr(set(value) if isinstance(value, frozenset) else value)) == value)
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
