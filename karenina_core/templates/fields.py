"""Field definitions: `Field(...)`, `VerifiedField(...)`, primitives and compositions, read with literal arguments."""

from __future__ import annotations

import ast
from typing import Any

from pydantic import ValidationError

from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import AllOf, AnyOf, AtLeastN, FieldCheck
from karenina_core.schemas.primitives import REGISTRY, stored_form
from karenina_core.templates.annotation import read_shape
from karenina_core.templates.limits import refuse
from karenina_core.templates.literals import excerpt
from karenina_core.templates.scope import Scope
from karenina_core.templates.spec import OPTIONS, FieldSpec, is_reserved, reads_trace, type_of

_FACTORIES: dict[str, Any] = {"list": [], "dict": {}, "set": [], "tuple": [], "str": "", "int": 0, "float": 0.0}
_OLD_NAMES = {"min_items": "min_length", "max_items": "max_length"}
_SETTINGS = {
    "Field": ("description",),
    "VerifiedField": ("description", "ground_truth", "verify_with", "weight", "extraction_hint"),
}
_CONDITIONS: dict[str, tuple[type[AllOf | AnyOf | AtLeastN | FieldCheck], tuple[str, ...]]] = {
    "FieldCheck": (FieldCheck, ("field",)),
    "AllOf": (AllOf, ("conditions",)),
    "AnyOf": (AnyOf, ("conditions",)),
    "AtLeastN": (AtLeastN, ("n", "conditions")),
}


def read_field(statement: ast.AnnAssign, scope: Scope) -> FieldSpec:
    """Return the field that an annotated assignment defines.

    Raises:
        TemplateError: The name, the type or an argument is not acceptable.
    """
    assert isinstance(statement.target, ast.Name)
    name = statement.target.id
    if is_reserved(name):
        raise refuse("reserved", f"a field cannot be named {name!r}", next="choose another name", at=statement)
    shape = read_shape(statement.annotation, scope)
    settings = _definition(statement.value, scope)
    if shape.kind == "annotated":
        noted, shape = dict(shape.options), shape.parts[0]
        settings = {"description": noted.pop("description", ""), **settings}
        settings["options"] = {**noted, **settings.get("options", {})}
    settings |= type_of(shape)
    if shape.kind != "bool" and reads_trace(settings.get("verify_with"), settings.get("own_rule")):
        raise refuse("type", f"field {name!r} uses a trace primitive", next="type it bool", at=statement.annotation)
    try:
        return FieldSpec.model_validate({"name": name, **settings})
    except ValidationError as error:
        raise refuse("field_option", validation_message(error, most=1), at=statement) from None


def _definition(value: ast.expr | None, scope: Scope) -> dict[str, Any]:
    """Return the settings that the right-hand side of a field gives."""
    if value is None:
        return {}
    function = scope.resolve(value.func) if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or function not in _SETTINGS:
        return {"options": {"default": scope.literal(value)}}
    arguments = keywords(value, "field_option")
    if len(value.args) > (1 if function == "Field" else 0):
        raise refuse("field_option", f"{function} takes its arguments by name", at=value.args[-1])
    for name in ("description", "ground_truth", "verify_with") if function == "VerifiedField" else ():
        if name not in arguments:
            raise refuse("field_option", f"VerifiedField needs {name}", next=f"add {name}=...", at=value)
    settings: dict[str, Any] = {"options": {}}
    for key, node in (*arguments.items(), *(("default", default) for default in value.args)):
        if key not in _SETTINGS[function]:
            settings["options"] |= _option(key, node, scope)
        elif key == "verify_with":
            settings[key] = read_primitive(node, scope)
            own = scope.rules.get(settings[key]["type"])
            settings["own_rule"] = own.method if own else None
        else:
            settings[key] = scope.literal(node)
    return settings


def _option(key: str, value: ast.expr, scope: Scope) -> dict[str, Any]:
    name = _OLD_NAMES.get(key, key)
    if name == "default_factory":
        factory = scope.resolve(value)
        if factory not in _FACTORIES:
            what = f"default_factory={excerpt(value)}"
            raise refuse("field_option", what, next="write default=... instead", at=value)
        return {"default": _FACTORIES[factory]}
    if name not in OPTIONS:
        allowed = ", ".join(["description", *sorted(OPTIONS)])
        raise refuse("field_option", f"the option {key!r}", "it is not known here", f"use {allowed}", at=value)
    required = name == "default" and isinstance(value, ast.Constant) and value.value is Ellipsis
    return {} if required else {name: scope.literal(value)}


def read_primitive(node: ast.expr, scope: Scope) -> dict[str, Any]:
    """Return the stored form of the primitive that an expression builds.

    Raises:
        TemplateError: It is not a built-in, registered or own primitive, or a parameter is not acceptable.
    """
    if not isinstance(node, ast.Call):
        advice = "write it as a call, such as ExactMatch()"
        raise refuse("bad_primitive", f"{excerpt(node)} is not a primitive", next=advice, at=node)
    name = _rule_name(node.func, scope)
    own = scope.rules.get(name or "")
    if name is None or (own is None and name not in REGISTRY):
        advice = "use a built-in primitive, or a VerificationPrimitive or TracePrimitive defined at the top level"
        raise refuse("unknown_call", f"call of {ast.unparse(node.func)!r}", next=advice, at=node)
    if node.args:
        raise refuse("bad_primitive", f"{name} takes its parameters by name", at=node.args[0])
    arguments = keywords(node, "bad_primitive")
    parameters = {key: _parameter(value, scope) for key, value in arguments.items() if key != "type"}
    if len(parameters) < len(arguments):
        raise refuse("bad_primitive", f"{name} has no parameter 'type'", at=node)
    try:
        return own.stored(parameters) if own else stored_form({"type": name, **parameters})
    except (InputError, ValidationError) as error:
        cause = error.__cause__ or error
        why = validation_message(cause if isinstance(cause, ValueError) else error, most=1)
        raise refuse("bad_primitive", f"{name} cannot be built", why, at=node) from None


def _rule_name(node: ast.expr, scope: Scope) -> str | None:
    return node.id if isinstance(node, ast.Name) and node.id in scope.rules else scope.resolve(node)


def read_condition(node: ast.expr, scope: Scope) -> dict[str, Any]:
    """Return the stored form of a composition such as `AllOf([FieldCheck(field="a"), FieldCheck(field="b")])`.

    Raises:
        TemplateError: It is built of anything but `AllOf`, `AnyOf`, `AtLeastN` and `FieldCheck`.
    """
    name = scope.resolve(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or name not in _CONDITIONS:
        raise refuse("strategy", f"{excerpt(node)}", "no AllOf, AnyOf, AtLeastN or FieldCheck", at=node)
    kind, order = _CONDITIONS[name]
    given = {"field" if key == "field_name" else key: value for key, value in keywords(node, "strategy").items()}
    arguments = {**dict(zip(order, node.args, strict=False)), **given}
    if len(node.args) + len(node.keywords) != len(order) or set(arguments) != set(order):
        raise refuse("strategy", f"{name} needs {' and '.join(order)}", at=node)
    try:
        return kind(**{key: _condition_part(value, scope) for key, value in arguments.items()}).model_dump()
    except ValidationError as error:
        raise refuse("strategy", f"{name} cannot be built", validation_message(error, most=1), at=node) from None


def _condition_part(value: ast.expr, scope: Scope) -> Any:
    if isinstance(value, ast.List | ast.Tuple):
        return [read_condition(item, scope) for item in value.elts]
    return scope.literal(value)


def keywords(call: ast.Call, code: str) -> dict[str, ast.expr]:
    """Return the keyword arguments of a call.

    Raises:
        TemplateError: With the given code, when arguments are unpacked.
    """
    found: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise refuse(code, "arguments cannot be unpacked with **", next="write them out", at=keyword.value)
        found[keyword.arg] = keyword.value
    if call.args and any(isinstance(argument, ast.Starred) for argument in call.args):
        raise refuse(code, "arguments cannot be unpacked with *", next="write them out", at=call)
    return found


def _parameter(node: ast.expr, scope: Scope) -> Any:
    if isinstance(node, ast.List | ast.Tuple):
        return [_parameter(item, scope) for item in node.elts]
    if isinstance(node, ast.Call) and scope.resolve(node.func) == "SynonymMap":
        arguments = keywords(node, "bad_primitive")
        if set(arguments) != {"mapping"} or node.args:
            raise refuse("bad_primitive", "SynonymMap needs mapping={...}", at=node)
        return {"mapping": scope.literal(arguments["mapping"])}
    return scope.literal(node)
