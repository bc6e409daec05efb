"""Field definitions: `Field(...)`, `VerifiedField(...)`, primitives and compositions, read with literal arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import AllOf, AnyOf, AtLeastN, FieldCheck
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive, stored_form
from karenina_core.templates.annotation import read_shape
from karenina_core.templates.limits import refuse
from karenina_core.templates.literals import excerpt
from karenina_core.templates.scope import Scope
from karenina_core.templates.spec import OPTIONS, FieldSpec, is_reserved, type_of

_FACTORIES: dict[str, Any] = {"list": [], "dict": {}, "set": [], "tuple": [], "str": "", "int": 0, "float": 0.0}
_OLD_NAMES = {"min_items": "min_length", "max_items": "max_length"}
_VERIFIED = ("description", "ground_truth", "verify_with", "weight", "extraction_hint")
_GROUPS = {"AllOf": AllOf, "AnyOf": AnyOf, "AtLeastN": AtLeastN}


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
    if _reads_trace(settings) and shape.kind != "bool":
        raise refuse("type", f"field {name!r} uses a trace primitive", next="type it bool", at=statement.annotation)
    try:
        return FieldSpec.model_validate({"name": name, **type_of(shape), **settings})
    except ValidationError as error:
        raise refuse("schema", validation_message(error, most=1), at=statement) from None


def _reads_trace(settings: Mapping[str, Any]) -> bool:
    rule, own_rule = settings.get("verify_with"), settings.get("own_rule")
    if rule is None or own_rule is not None:
        return own_rule == "check_trace"
    return issubclass(REGISTRY[rule["type"]], TracePrimitive)


def _definition(value: ast.expr | None, scope: Scope) -> dict[str, Any]:
    """Return the settings that the right-hand side of a field gives."""
    if value is None:
        return {}
    function = scope.resolve(value.func) if isinstance(value, ast.Call) else None
    if isinstance(value, ast.Call) and function == "Field":
        return _plain_field(value, scope)
    if isinstance(value, ast.Call) and function == "VerifiedField":
        return _verified_field(value, scope)
    return {"options": {"default": scope.literal(value)}}


def _plain_field(call: ast.Call, scope: Scope) -> dict[str, Any]:
    arguments = keywords(call, "field_option")
    if len(call.args) > 1:
        raise refuse("field_option", "Field takes one positional argument, the default", at=call.args[1])
    options = _options({key: value for key, value in arguments.items() if key != "description"}, scope)
    if call.args and not _is_ellipsis(call.args[0]):
        options["default"] = scope.literal(call.args[0])
    description = _text(arguments["description"], "description", scope) if "description" in arguments else ""
    return {"description": description, "options": options}


def _verified_field(call: ast.Call, scope: Scope) -> dict[str, Any]:
    if call.args:
        raise refuse("field_option", "VerifiedField takes its arguments by name", at=call.args[0])
    arguments = keywords(call, "field_option")
    for name in ("description", "ground_truth", "verify_with"):
        if name not in arguments:
            raise refuse("field_option", f"VerifiedField needs {name}", next=f"add {name}=...", at=call)
    settings: dict[str, Any] = {
        "description": _text(arguments["description"], "description", scope),
        "ground_truth": scope.literal(arguments["ground_truth"]),
        "verify_with": read_primitive(arguments["verify_with"], scope),
        "options": _options({key: value for key, value in arguments.items() if key not in _VERIFIED}, scope),
    }
    if (own := scope.rules.get(settings["verify_with"]["type"])) is not None:
        settings["own_rule"] = own.method
    if not settings["description"].strip():
        raise refuse("field_option", "the description is empty", next="tell the judge what to look for", at=call)
    if "weight" in arguments:
        settings["weight"] = _weight(arguments["weight"], scope)
    if "extraction_hint" in arguments and not _is_none(arguments["extraction_hint"]):
        settings["extraction_hint"] = _text(arguments["extraction_hint"], "extraction_hint", scope)
    return settings


def read_primitive(node: ast.expr, scope: Scope) -> dict[str, Any]:
    """Return the stored form of the primitive that an expression builds.

    Raises:
        TemplateError: It is not a built-in, registered or own primitive, or a parameter is not acceptable.
    """
    if not isinstance(node, ast.Call):
        name = _rule_name(node, scope)
        if name in REGISTRY or name in scope.rules:
            raise refuse("bad_primitive", f"{name} is not built", next=f"write {name}()", at=node)
        raise refuse("bad_primitive", f"{excerpt(node)} is not a primitive", next="write ExactMatch() or so", at=node)
    name = _rule_name(node.func, scope)
    own = scope.rules.get(name or "")
    if name is None or (own is None and name not in REGISTRY):
        raise refuse(
            "unknown_call",
            f"call of {ast.unparse(node.func)!r}",
            next="use a built-in primitive, or a VerificationPrimitive or TracePrimitive defined at the top level",
            at=node,
        )
    if node.args:
        raise refuse("bad_primitive", f"{name} takes its parameters by name", at=node.args[0])
    arguments = keywords(node, "bad_primitive")
    parameters = {key: _parameter(value, scope) for key, value in arguments.items() if key != "type"}
    if len(parameters) < len(arguments):
        raise refuse("bad_primitive", f"{name} has no parameter 'type'", at=node)
    try:
        return own.stored(parameters) if own else stored_form({"type": name, **parameters})
    except InputError as error:
        cause = error.__cause__
        why = validation_message(cause, most=1) if isinstance(cause, ValidationError) else str(error)
        raise refuse("bad_primitive", f"{name} cannot be built", why, at=node) from None


def _rule_name(node: ast.expr, scope: Scope) -> str | None:
    return node.id if isinstance(node, ast.Name) and node.id in scope.rules else scope.resolve(node)


def read_condition(node: ast.expr, scope: Scope) -> dict[str, Any]:
    """Return the stored form of a composition such as `AllOf([FieldCheck("a"), FieldCheck("b")])`.

    Raises:
        TemplateError: It is built of anything but `AllOf`, `AnyOf`, `AtLeastN` and `FieldCheck`.
    """
    name = scope.resolve(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or (name != "FieldCheck" and name not in _GROUPS):
        raise refuse("strategy", f"{excerpt(node)}", "no AllOf, AnyOf, AtLeastN or FieldCheck", at=node)
    order = ["field_name"] if name == "FieldCheck" else ["n", "conditions"] if name == "AtLeastN" else ["conditions"]
    if len(node.args) > len(order):
        raise refuse("strategy", f"{name} takes {len(order)} arguments", at=node)
    arguments = {**dict(zip(order, node.args, strict=False)), **keywords(node, "strategy")}
    if set(arguments) != set(order):
        raise refuse("strategy", f"{name} needs {' and '.join(order)}", at=node)
    if name == "FieldCheck":
        return FieldCheck(_text(arguments["field_name"], "field_name", scope)).model_dump()
    conditions = arguments["conditions"]
    if not isinstance(conditions, ast.List | ast.Tuple):
        raise refuse("strategy", f"{name} needs a list of conditions", at=conditions)
    parts: dict[str, Any] = {"conditions": [read_condition(item, scope) for item in conditions.elts]}
    if name == "AtLeastN":
        parts["n"] = scope.literal(arguments["n"])
    try:
        return _GROUPS[str(name)](**parts).model_dump()
    except ValidationError as error:
        raise refuse("strategy", f"{name} cannot be built", validation_message(error, most=1), at=node) from None


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


def _options(arguments: dict[str, ast.expr], scope: Scope) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for key, value in arguments.items():
        name = _OLD_NAMES.get(key, key)
        if name == "default_factory":
            options["default"] = _factory(value, scope)
        elif name not in OPTIONS:
            allowed = ", ".join(["description", *sorted(OPTIONS)])
            raise refuse("field_option", f"the option {key!r}", "it is not known here", f"use {allowed}", at=value)
        elif not (name == "default" and _is_ellipsis(value)):
            options[name] = scope.literal(value)
    return options


def _factory(value: ast.expr, scope: Scope) -> Any:
    name = scope.resolve(value)
    if name not in _FACTORIES:
        raise refuse("field_option", f"default_factory={excerpt(value)}", next="write default=... instead", at=value)
    return _FACTORIES[name]


def _parameter(node: ast.expr, scope: Scope) -> Any:
    if isinstance(node, ast.List | ast.Tuple):
        return [_parameter(item, scope) for item in node.elts]
    if isinstance(node, ast.Call) and scope.resolve(node.func) == "SynonymMap":
        return _synonyms(node, scope)
    return scope.literal(node)


def _synonyms(node: ast.Call, scope: Scope) -> dict[str, Any]:
    arguments = keywords(node, "bad_primitive")
    if set(arguments) != {"mapping"} or node.args:
        raise refuse("bad_primitive", "SynonymMap needs mapping={...}", at=node)
    return {"mapping": scope.literal(arguments["mapping"])}


def _weight(node: ast.expr, scope: Scope) -> float:
    weight = scope.literal(node)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
        raise refuse("field_option", f"the weight {excerpt(node)}", "it must be a number of at least 0", at=node)
    return float(weight)


def _text(node: ast.expr, name: str, scope: Scope) -> str:
    value = scope.literal(node)
    if not isinstance(value, str):
        raise refuse("field_option", f"{name} must be text, not {excerpt(node)}", at=node)
    return value


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
