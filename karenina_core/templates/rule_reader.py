"""Custom primitives that a template defines in its own source: their shape is vetted, their code is not run."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from karenina_core.schemas.primitives import REGISTRY, VerificationPrimitive
from karenina_core.templates.annotation import ANYTHING, Shape
from karenina_core.templates.build import build_parameters
from karenina_core.templates.classes import Body, Classes, read_decorator
from karenina_core.templates.fields import read_field
from karenina_core.templates.limits import MAX_FIELDS, refuse
from karenina_core.templates.literals import excerpt
from karenina_core.templates.scope import RuleClass, RuleMethod, Scope

RULE_BASES: Mapping[str, RuleMethod] = {"VerificationPrimitive": "check", "TracePrimitive": "check_trace"}
_SIGNATURES: Mapping[RuleMethod, tuple[str, ...]] = {
    "check": ("self", "extracted", "expected"),
    "check_trace": ("self", "raw_trace"),
}
_PARAMETER_KINDS = frozenset({"bool", "int", "float", "str", "list", "dict", "literal", "none", "union", ANYTHING.kind})
_OWN_PACKAGE = VerificationPrimitive.__module__.rpartition(".")[0]
_NAME_LENGTH = 100


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
        method = _check_class(node, scope)
        body = _read_body(node, scope)
        scope.rules[node.name] = RuleClass(node.name, method, _decider(node, method).lineno, _parameters(node, body))
        bodies[node.name] = body
    for node in classes.others:
        if any(isinstance(base, ast.Name) and base.id in bodies for base in node.bases):
            raise _wrong_base(node)
    return bodies


def _wrong_base(node: ast.ClassDef) -> Exception:
    return refuse(
        "bases",
        f"class {node.name} is a custom primitive of another base",
        next="give it the single base VerificationPrimitive or TracePrimitive",
        at=node,
    )


def _check_class(node: ast.ClassDef, scope: Scope) -> RuleMethod:
    if len(node.bases) != 1 or node.keywords:
        raise _wrong_base(node)
    for decorator in node.decorator_list:
        if scope.resolve(decorator) != "_register_primitive":
            raise refuse("decorator", f"class {node.name} has a decorator", next="remove it", at=decorator)
    known = REGISTRY.get(node.name)
    if node.name == "Answer" or (known is not None and known.__module__.startswith(f"{_OWN_PACKAGE}.")):
        raise refuse(
            "reserved", f"a custom primitive cannot be named {node.name!r}", next="choose another name", at=node
        )
    if not node.name.isascii() or len(node.name) > _NAME_LENGTH or node.name.startswith("_"):
        raise refuse("syntax", f"the class name {node.name!r} is not usable", next="use letters and digits", at=node)
    return RULE_BASES[str(scope.resolve(node.bases[0]))]


def _read_body(node: ast.ClassDef, scope: Scope) -> Body:
    body = Body()
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.FunctionDef(name=name):
                _check_method(statement)
                body.methods[name] = read_decorator(statement, scope)
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_") and name != "model_config":
                _read_parameter(name, statement, body, scope)
            case _:
                raise refuse(
                    "unsupported",
                    f"{excerpt(statement)} in a custom primitive",
                    "it may hold parameters and methods",
                    "write a parameter as name: int = 0, or remove it",
                    at=statement,
                )
    if len(body.fields) > MAX_FIELDS:
        raise refuse("too_complex", f"{len(body.fields)} parameters", f"a class may have {MAX_FIELDS}", at=node)
    return body


def _check_method(method: ast.FunctionDef) -> None:
    if method.name.startswith("__") or method.name == "model_post_init":
        raise refuse(
            "reserved", f"a custom primitive cannot define {method.name}", next="do it in its check", at=method
        )


def _read_parameter(name: str, statement: ast.AnnAssign, body: Body, scope: Scope) -> None:
    item = read_field(statement, scope)
    if item.verify_with is not None or not _is_plain(item.shape(frozenset(scope.models))) or name == "type":
        raise refuse(
            "bad_primitive",
            f"{excerpt(statement)} is not a parameter",
            next="use bool, int, float, str or a list of them, with a plain default",
            at=statement,
        )
    if name in body.lines:
        raise refuse("duplicate", f"the parameter {name!r} is defined twice", next="remove one", at=statement)
    body.fields.append(item)
    body.lines[name] = statement.lineno
    body.definitions.append(statement)


def _is_plain(shape: Shape) -> bool:
    return shape.kind in _PARAMETER_KINDS and all(_is_plain(part) for part in shape.parts)


def _decider(node: ast.ClassDef, method: RuleMethod) -> ast.FunctionDef:
    """Return the method that decides, once its signature is what the engine calls."""
    signature = f"def {method}({', '.join(_SIGNATURES[method])})"
    written = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == method]
    if len(written) != 1:
        raise refuse("bad_primitive", f"class {node.name} has no single method {method}", next=signature, at=node)
    arguments, found = written[0].args, written[0]
    names = [*arguments.posonlyargs, *arguments.args]
    extra = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or found.decorator_list
    if len(names) != len(_SIGNATURES[method]) or extra:
        raise refuse(
            "bad_primitive", f"{method} of {node.name} takes other arguments", next=f"write {signature}", at=found
        )
    return found


def _parameters(node: ast.ClassDef, body: Body) -> type[BaseModel]:
    model = build_parameters(node.name, body.fields)
    try:
        model.model_validate({})
    except ValidationError as error:
        wrong = [problem for problem in error.errors() if problem["type"] != "missing"]
        if wrong:
            name = str(wrong[0]["loc"][0])
            reason = f"{name}: {wrong[0]['msg']}"
            raise refuse(
                "bad_primitive", f"a default of {node.name} does not fit", reason, line=body.lines[name]
            ) from None
    return model
