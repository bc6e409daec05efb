"""Template source to data, without running any of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from karenina_core.errors import validation_message
from karenina_core.schemas import field_kind
from karenina_core.schemas.primitives import REGISTRY
from karenina_core.templates.classes import (
    Body,
    Classes,
    read_body,
    read_models,
    read_rules,
    read_types,
    sort_classes,
)
from karenina_core.templates.limits import on_deep_stack, parse_module, readable, refuse
from karenina_core.templates.program import Program, build_program, example_statements
from karenina_core.templates.scope import RuleClass, read_scope
from karenina_core.templates.spec import HOOKS, TemplateSpec

_ENGINE = frozenset({"correct", "field_results", "strategy", "composition_strategy", "has_verification", "__init__"})


@dataclass(frozen=True)
class Reading:
    """What a template source says.

    Attributes:
        spec: Its fields, rules and composition.
        lines: Line of each field, counted from 1.
        program: What the sandbox runs, for templates with methods or primitives of their own.
        rules: The custom primitives the source defines, by name.
        warnings: What the author may want to know.
    """

    spec: TemplateSpec
    lines: Mapping[str, int]
    program: Program | None
    rules: Mapping[str, RuleClass]
    warnings: tuple[str, ...]


def read_source(source: str) -> Reading:
    """Read a template.

    Raises:
        TemplateError: It is not acceptable; says the line, what was found and what to do.
    """
    text = readable(source)
    return on_deep_stack(lambda: _read(text), text)


def _read(text: str) -> Reading:
    tree = parse_module(text)
    scope = read_scope(tree)
    classes = sort_classes(tree, scope)
    answer = _find_answer(tree, classes)
    read_types(tree, classes, scope)
    rules = read_rules(classes, scope)
    models, bodies = read_models(classes, scope)
    body = read_body(answer, scope)
    _check_methods(answer, body)
    hooks = [name for name in HOOKS if name in body.methods]
    try:
        spec = TemplateSpec.model_validate(
            {
                "fields": body.fields,
                "verify_strategy": body.strategy,
                "models": models,
                "own_code": bool(hooks or rules),
            }
        )
    except ValidationError as error:
        code = "strategy" if body.strategy and "strategy" in str(error) else "schema"
        raise refuse(code, validation_message(error, most=1), at=answer) from None
    if "verify" not in hooks and not spec.verified:
        advice = "add a VerifiedField or a verify() method"
        raise refuse("no_verify", "the template decides nothing", next=advice, at=answer)
    warnings = _warnings(spec, body, classes)
    if examples := example_statements(tree, answer.name):
        warnings.append(f"Examples of use are ignored (line {examples[0].lineno}).")
    own_code = {**bodies, **rules, answer.name: body}
    program = build_program(tree, scope, classes, answer, own_code) if spec.own_code else None
    return Reading(spec, body.lines, program, scope.rules, tuple(warnings))


def _find_answer(tree: ast.Module, classes: Classes) -> ast.ClassDef:
    impostor = next((node for node in classes.others if node.name == "Answer"), None)
    if impostor:
        what, advice = "class Answer does not inherit from BaseAnswer", "write class Answer(BaseAnswer)"
        raise refuse("bases", what, next=advice, at=impostor)
    named = [node for node in classes.answers if node.name == "Answer"]
    if len(named) == 1:
        return named[0]
    if named:
        raise refuse("many_answers", f"{len(named)} classes named Answer", next="remove the others", at=named[1])
    if classes.answers:
        what = f"the answer class is named {' and '.join(node.name for node in classes.answers)}"
        raise refuse("class_name", what, "runs look for the name Answer", "rename it to Answer", at=classes.answers[0])
    line = 1 if tree.body else None
    raise refuse("no_answer", "there is no answer class", next="write class Answer(BaseAnswer): ...", line=line)


def _check_methods(answer: ast.ClassDef, body: Body) -> None:
    for statement in answer.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name in _ENGINE:
            what = f"a method cannot be named {statement.name!r}"
            raise refuse("reserved", what, next="choose another name", at=statement)
        if isinstance(statement, ast.AsyncFunctionDef) and statement.name in HOOKS:
            raise refuse("unsupported", f"{statement.name} is async", next="remove async", at=statement)
    ruled = {item.name for item in body.fields if item.verify_with}
    for name, method in body.validators:
        if name in ruled or (ruled and name == "*"):
            what, advice = f"{method} validates a field that a rule verifies", "use the normalizers of the rule"
            raise refuse("unsupported", what, "the rule compares what the judge found", advice, at=answer)
    for name in HOOKS:
        if body.methods.get(name):
            raise refuse("unsupported", f"{name} has a decorator", next="remove it", at=answer)


def _warnings(spec: TemplateSpec, body: Body, classes: Classes) -> list[str]:
    found = []
    if len(classes.answers) > 1:
        found.append("Answer classes beside Answer are ignored.")
    if body.configured:
        found.append("model_config has no effect.")
    silent = [item.name for item in spec.judged if not item.description]
    found += [f"The field {name} has no description for the judge." for name in silent]
    for item in spec.verified:
        kind = None if item.own_rule or item.verify_with is None else REGISTRY[item.verify_with["type"]]
        made_for = kind.applies_to if kind else ()
        if kind and made_for and item.type != "other" and field_kind(item.type) not in made_for:
            found.append(f"{kind.__name__} is not made for the type of the field {item.name}.")
    used = {(item.verify_with or {}).get("type") for item in spec.verified}
    found += [f"The custom primitive {node.name} verifies no field." for node in classes.rules if node.name not in used]
    if not set(HOOKS) & set(body.methods):
        plain = [item.name for item in spec.fields if item.verify_with is None]
        found += [f"The field {name} is extracted, but nothing verifies it." for name in plain]
        found += [f"The method {name} is never used." for name in body.methods]
    return found
