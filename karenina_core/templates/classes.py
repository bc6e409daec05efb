"""The classes of a template: which one is the answer, which are nested models, enumerations or custom primitives.

The shape of a custom primitive is vetted here; its code is only ever run in the sandbox.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import BaseModel, ValidationError

from karenina_core.errors import TemplateError
from karenina_core.schemas.primitives import REGISTRY, VerificationPrimitive
from karenina_core.templates.annotation import ANYTHING, Shape, read_shape
from karenina_core.templates.fields import keywords, read_condition, read_field
from karenina_core.templates.limits import MAX_CHOICES, MAX_FIELDS, refuse
from karenina_core.templates.literals import excerpt
from karenina_core.templates.models import build_parameters
from karenina_core.templates.scope import RuleClass, RuleMethod, Scope, assignments
from karenina_core.templates.spec import FieldSpec, ModelSpec

_ENUMS = frozenset({"Enum", "StrEnum", "IntEnum"})
_RULE_BASES: Mapping[str, RuleMethod] = {"VerificationPrimitive": "check", "TracePrimitive": "check_trace"}
_SIGNATURES: Mapping[RuleMethod, tuple[str, ...]] = {
    "check": ("self", "extracted", "expected"),
    "check_trace": ("self", "raw_trace"),
}
_PARAMETER_KINDS = frozenset({"bool", "int", "float", "str", "list", "dict", "literal", "none", "union", ANYTHING.kind})
_OWN_PACKAGE = VerificationPrimitive.__module__.rpartition(".")[0]
_MIXINS = frozenset({"str", "int"})
_DECORATORS = frozenset({"staticmethod", "classmethod", "property", "cached_property"})
_CLASS_NAME_LENGTH = 100


@dataclass
class Body:
    """What a class body holds.

    Attributes:
        fields: The fields in their order.
        definitions: Statements that only define data: fields, settings, the composition.
        methods: Methods by name, with the decorator if there is one.
        validators: Fields with the methods that validate them, in their order; `*` is every field.
        strategy: The composition in its stored form.
        configured: Whether pydantic settings were given.
    """

    fields: list[FieldSpec] = field(default_factory=list)
    definitions: list[ast.stmt] = field(default_factory=list)
    methods: dict[str, str | None] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    validators: list[tuple[str, str]] = field(default_factory=list)
    strategy: dict[str, Any] | None = None
    configured: bool = False


@dataclass
class Classes:
    """The top-level classes of a template by what they are."""

    answers: list[ast.ClassDef] = field(default_factory=list)
    models: dict[str, ast.ClassDef] = field(default_factory=dict)
    enums: dict[str, ast.ClassDef] = field(default_factory=dict)
    rules: list[ast.ClassDef] = field(default_factory=list)
    others: list[ast.ClassDef] = field(default_factory=list)


def sort_classes(tree: ast.Module, scope: Scope) -> Classes:
    """Tell the classes of a module apart by their bases.

    Raises:
        TemplateError: A template class has a decorator, a metaclass or further bases.
    """
    found, held = Classes(), _names_of_types(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [scope.resolve(base) for base in node.bases]
            if "BaseModel" in bases or ("BaseAnswer" in bases and node.name in held - {"Answer"}):
                found.models[node.name] = _plain_class(node)
            elif "BaseAnswer" in bases:
                found.answers.append(_plain_class(node))
            elif _RULE_BASES.keys() & set(bases):
                found.rules.append(node)
            elif _ENUMS & set(bases) and set(bases) <= _ENUMS | _MIXINS:
                found.enums[node.name] = node
            else:
                found.others.append(node)
    return found


def _names_of_types(tree: ast.Module) -> set[str]:
    """Return the words in the annotations of fields, and in what may be aliases of types."""
    bodies = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    types: list[ast.expr] = [part.annotation for body in bodies for part in body if isinstance(part, ast.AnnAssign)]
    types += [value for _, value in assignments(tree) if isinstance(value, ast.Subscript | ast.BinOp)]
    return set(re.findall(r"\w+", " ".join(map(ast.unparse, types))))


def _plain_class(node: ast.ClassDef) -> ast.ClassDef:
    if node.decorator_list:
        raise refuse("decorator", f"class {node.name} has a decorator", next="remove it", at=node.decorator_list[0])
    if len(node.bases) > 1 or node.keywords:
        raise refuse("bases", f"class {node.name} has more than one base", next="keep BaseAnswer or BaseModel", at=node)
    _check_class_name(node)
    return node


def _check_class_name(node: ast.ClassDef) -> None:
    if not node.name.isascii() or len(node.name) > _CLASS_NAME_LENGTH:
        raise refuse("syntax", f"the class name {node.name!r} is not usable", next="use letters and digits", at=node)


def read_types(tree: ast.Module, classes: Classes, scope: Scope) -> None:
    """Make the enumerations, model names and type aliases of a template known in `scope`."""
    for name, node in classes.enums.items():
        members = dict(_members(node, scope))
        if not 1 <= len(members) <= MAX_CHOICES:
            raise refuse("type", f"enumeration {name} has {len(members)} members", at=node)
        scope.choices[name] = tuple(dict.fromkeys(members.values()))
    scope.models = set(classes.models)
    for name, value in assignments(tree):
        if isinstance(value, ast.Subscript | ast.BinOp):
            try:
                scope.aliases[name] = read_shape(value, scope)
            except TemplateError as error:
                if error.code == "too_large":
                    raise


def _members(node: ast.ClassDef, scope: Scope) -> Iterator[tuple[str, Any]]:
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                member = scope.literal(value)
                if not isinstance(member, str | int):
                    raise refuse("type", f"{excerpt(value)} cannot be a member", next="use text or integers", at=value)
                scope.constants.define(f"{node.name}.{name}", value)
                yield name, member
            case _:
                raise refuse("type", "an enumeration may only hold members", next='write NAME = "value"', at=statement)


def read_models(classes: Classes, scope: Scope) -> tuple[list[ModelSpec], dict[str, Body]]:
    """Read the nested models, each after those it uses.

    Raises:
        TemplateError: One holds itself, or anything a model may not hold.
    """
    bodies = {name: read_body(node, scope) for name, node in classes.models.items()}
    try:
        ordered = list(TopologicalSorter({name: _used(body, scope) for name, body in bodies.items()}).static_order())
    except CycleError as error:
        name = error.args[1][0]
        raise refuse("type", f"model {name} holds itself", next="flatten it", at=classes.models[name]) from None
    return [_model(classes.models[name], bodies[name]) for name in ordered], bodies


def _used(body: Body, scope: Scope) -> frozenset[str]:
    names = (item.shape(frozenset(scope.models)).names for item in body.fields)
    return frozenset(scope.models).intersection(*[frozenset[str]().union(*names)])


def _model(node: ast.ClassDef, body: Body) -> ModelSpec:
    if not body.fields:
        raise refuse("type", f"model {node.name} has no fields", at=node)
    if "model_post_init" in body.methods or "__init__" in body.methods:
        raise refuse("unsupported", f"model {node.name} prepares itself", next="do it in verify()", at=node)
    verified = next((item for item in body.fields if item.verify_with), None)
    if verified:
        what, line = f"field {verified.name!r} of model {node.name} is a VerifiedField", body.lines[verified.name]
        raise refuse("unknown_call", what, next="only fields of the Answer class can be verified", line=line)
    return ModelSpec(name=node.name, description=ast.get_docstring(node), fields=body.fields)


def read_body(node: ast.ClassDef, scope: Scope) -> Body:
    """Read the body of the answer class or of a nested model.

    Raises:
        TemplateError: It holds anything but fields, methods and settings.
    """
    body = Body()
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                body.methods[statement.name] = _read_decorator(statement, body, scope)
            case ast.ClassDef():
                _read_inner_class(statement, body, scope)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                _read_assignment(name, statement, body, scope)
            case _:
                raise refuse("unsupported", f"{excerpt(statement)} in a class body", next="remove it", at=statement)
    if len(body.fields) > MAX_FIELDS:
        raise refuse("too_complex", f"{len(body.fields)} fields", f"a class may have {MAX_FIELDS}", at=node)
    return body


def _read_decorator(method: ast.FunctionDef | ast.AsyncFunctionDef, body: Body, scope: Scope) -> str | None:
    """Return the decorator of a method, None when it has none; `body` learns what a validator is for.

    Raises:
        TemplateError: It is none that a template may use.
    """
    decorators, first = method.decorator_list, next(iter(method.decorator_list), None)
    if isinstance(first, ast.Call) and scope.resolve(first.func) == "field_validator":
        mode = keywords(first, "unsupported").get("mode")
        if mode is not None and scope.literal(mode) != "after":
            what, advice = f"the decorator {excerpt(first)}", "the judge's value has its type already: use mode='after'"
            raise refuse("unsupported", what, next=advice, at=first)
        body.validators += [(scope.literal(name), method.name) for name in first.args]
        decorators = decorators[1:] or [ast.Name("classmethod")]
    names = [scope.resolve(decorator) for decorator in decorators]
    if names and (len(names) > 1 or names[0] not in _DECORATORS):
        what = f"the decorator {excerpt(decorators[0])}"
        raise refuse("unsupported", what, next="check values in verify() instead", at=first)
    return "property" if names == ["cached_property"] else names[0] if names else None


def _read_inner_class(node: ast.ClassDef, body: Body, scope: Scope) -> None:
    if node.name == "Config":
        raise refuse("model_config", "an inner class Config", next="remove it", at=node)
    if node.name != "VerificationStrategy":
        raise refuse("unsupported", f"the inner class {node.name}", next="move it to the top level", at=node)
    body.definitions.append(node)
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case (
                ast.Assign(targets=[ast.Name(id="verify_strategy")], value=value)
                | ast.AnnAssign(target=ast.Name(id="verify_strategy"), value=ast.expr() as value)
            ):
                body.strategy = read_condition(value, scope)
            case _:
                raise refuse("strategy", f"{excerpt(statement)}", "only verify_strategy = ... goes here", at=statement)


def _read_assignment(name: str, statement: ast.AnnAssign | ast.Assign, body: Body, scope: Scope) -> None:
    annotation = statement.annotation if isinstance(statement, ast.AnnAssign) else None
    outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    if name == "model_config":
        _read_settings(statement.value, statement, body, scope)
    elif outer is not None and scope.resolve(outer) == "ClassVar":
        return
    elif name.startswith("__"):
        raise refuse("reserved", f"a field cannot be named {name!r}", next="choose another name", at=statement)
    elif name.startswith("_"):
        if isinstance(statement.value, ast.Call):
            raise refuse("unsupported", f"{name!r} is set by a call", next="set it in model_post_init", at=statement)
    elif isinstance(statement, ast.Assign):
        raise refuse("untyped", f"{name!r} has no type", next=f"write {name}: str = ... or so", at=statement)
    else:
        item = read_field(statement, scope)
        if name in body.lines:
            raise refuse("duplicate", f"the field {name!r} is defined twice", next="remove one", at=statement)
        body.fields.append(item)
        body.lines[name] = statement.lineno
        body.definitions.append(statement)


def _read_settings(value: ast.expr | None, statement: ast.stmt, body: Body, scope: Scope) -> None:
    try:
        built = isinstance(value, ast.Call) and scope.resolve(value.func) == "ConfigDict" and not value.args
        given = keywords(value, "model_config").values() if built and isinstance(value, ast.Call) else [value]
        for item in given:
            scope.literal(item or ast.Name("nothing"))
    except TemplateError as error:
        raise refuse("model_config", error.what, "settings may only hold plain values", at=statement) from None
    body.definitions.append(statement)
    body.configured = True


def read_rules(classes: Classes, scope: Scope) -> dict[str, Body]:
    """Make the custom primitives of a template known in `scope` and return what their classes hold.

    Raises:
        TemplateError: A class is not of the shape such a rule must have; says the line.
    """
    bodies: dict[str, Body] = {}
    if len(classes.rules) > MAX_FIELDS:
        raise refuse("too_complex", f"{len(classes.rules)} custom primitives", f"a template may have {MAX_FIELDS}")
    for node in classes.rules:
        if node.name in bodies:
            raise refuse("duplicate", f"the class {node.name!r} is defined twice", next="remove one", at=node)
        method = _rule_method(node, scope)
        body = read_body(node, scope)
        _check_rule_body(node, body, scope)
        decider = _decider(node, method)
        scope.rules[node.name] = RuleClass(node.name, method, decider.lineno, _parameters(node, body))
        bodies[node.name] = body
    for node in classes.others:
        if any(isinstance(base, ast.Name) and base.id in bodies for base in node.bases):
            raise _wrong_base(node)
    return bodies


def _wrong_base(node: ast.ClassDef) -> TemplateError:
    what = f"class {node.name} is a custom primitive of another base"
    return refuse("bases", what, next="give it the single base VerificationPrimitive or TracePrimitive", at=node)


def _rule_method(node: ast.ClassDef, scope: Scope) -> RuleMethod:
    if len(node.bases) != 1 or node.keywords:
        raise _wrong_base(node)
    for decorator in node.decorator_list:
        if scope.resolve(decorator) != "_register_primitive":
            raise refuse("decorator", f"class {node.name} has a decorator", next="remove it", at=decorator)
    known = REGISTRY.get(node.name)
    built_in = known is not None and known.__module__.startswith(f"{_OWN_PACKAGE}.")
    if node.name == "Answer" or node.name.startswith("_") or built_in:
        what = f"a custom primitive cannot be named {node.name!r}"
        raise refuse("reserved", what, next="choose another name", at=node)
    _check_class_name(node)
    return _RULE_BASES[str(scope.resolve(node.bases[0]))]


def _check_rule_body(node: ast.ClassDef, body: Body, scope: Scope) -> None:
    if body.strategy is not None or body.configured:
        what = f"settings in the custom primitive {node.name}"
        raise refuse("unsupported", what, "it may hold parameters and methods", "remove them", at=node)
    for name in body.methods:
        if name.startswith("__") or name == "model_post_init":
            raise refuse("reserved", f"a custom primitive cannot define {name}", next="do it in its check", at=node)
    for item in body.fields:
        if item.verify_with is not None or item.name == "type" or not _is_plain(item.shape(frozenset(scope.models))):
            advice = "use bool, int, float, str or a list of them, with a plain default"
            line = body.lines[item.name]
            raise refuse("bad_primitive", f"{item.name!r} is not a parameter", next=advice, line=line)


def _is_plain(shape: Shape) -> bool:
    return shape.kind in _PARAMETER_KINDS and all(_is_plain(part) for part in shape.parts)


def _decider(node: ast.ClassDef, method: RuleMethod) -> ast.FunctionDef:
    """Return the method that decides, once its signature is what the engine calls."""
    signature = f"write def {method}({', '.join(_SIGNATURES[method])})"
    written = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == method]
    if len(written) != 1:
        raise refuse("bad_primitive", f"class {node.name} has no single method {method}", next=signature, at=node)
    arguments = written[0].args
    names = [*arguments.posonlyargs, *arguments.args]
    extra = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults
    if len(names) != len(_SIGNATURES[method]) or extra or written[0].decorator_list:
        what = f"{method} of {node.name} takes other arguments"
        raise refuse("bad_primitive", what, next=signature, at=written[0])
    return written[0]


def _parameters(node: ast.ClassDef, body: Body) -> type[BaseModel]:
    model = build_parameters(node.name, body.fields)
    try:
        model.model_validate({})
    except ValidationError as error:
        wrong = [str(problem["loc"][0]) for problem in error.errors() if problem["type"] != "missing"]
        for name in wrong:
            what, advice = f"the default of {name!r} in {node.name} does not fit", "write one of its type"
            raise refuse("bad_primitive", what, next=advice, line=body.lines[name]) from None
    return model
