"""`lint`: what can be told of a template without running it. Rules on the whole, and on methods of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import karenina_core.authoring.linter.fields  # noqa: F401  (its rules enter themselves)
from karenina_core.authoring.linter.findings import (
    Finding,
    Known,
    Problem,
    findings_of,
    in_order,
    rule,
)
from karenina_core.authoring.linter.sources import unreadable
from karenina_core.authoring.reading import words
from karenina_core.errors import TemplateError
from karenina_core.schemas import RESERVED_NAMES, AllOf, BaseAnswer, FieldCheck, VerificationConfig, quoted
from karenina_core.templates import Template, TemplateSpec, on_deep_stack, parse_module, read_template, readable

_COMPUTED = object()  # stands for a value that only running the code would show


def lint(
    template: str | Template | TemplateSpec,
    *,
    question: str | None = None,
    reference_answer: str | None = None,
    config: VerificationConfig | None = None,
) -> list[Finding]:
    """Return what could be better in a template, the gravest first. Nothing of it is run.

    Every fix that is offered makes its finding go away, and leaves a template that can be read.

    Args:
        template: Its source, the template that was read from it, or what a form holds.
        question: The text of the question, where known.
        reference_answer: What people know to be true; the truth is compared with it.
        config: How the benchmark will be run; without it, no rule looks at settings of runs.
    """
    try:
        read = read_template(template) if isinstance(template, str) else template
    except TemplateError as error:
        return [unreadable(str(template), error)]
    spec, source = (read.spec, readable(read.source)) if isinstance(read, Template) else (read, "")
    lines = {item.name: read.line_of(item.name) for item in spec.fields} if isinstance(read, Template) else {}
    methods = on_deep_stack(lambda: _read_methods(parse_module(source))) if source and spec.own_code else _Methods()
    stated = {name: truth for name, truth in (methods.truths or {}).items() if truth is not _COMPUTED}
    known, findings = Known(question, reference_answer, config, stated), list[Finding]()
    for item in spec.fields:
        findings += findings_of("field", item, known, name=item.name, lines=lines)
    findings += findings_of("template", spec, methods, lines=lines)
    return in_order(findings)


# --- The template as a whole -----------------------------------------------------------------------------------------


@rule("template", "error")
def decides_nothing(spec: TemplateSpec, methods: _Methods) -> Iterator[Problem]:
    """The template decides nothing.

    Give at least one field a truth and a rule.
    """
    if not spec.verified and not spec.own_code:
        yield Problem("No field has a rule.")


@rule("template", "warning")
def field_left_out(spec: TemplateSpec, methods: _Methods) -> Iterator[Problem]:
    """Whether it is right or wrong changes no verdict.

    Add it to the composition, or take its rule away.
    """
    strategy = spec.verify_strategy
    for item in spec.verified if strategy is not None else ():
        if strategy is not None and item.name not in set(strategy.field_names()):
            others = strategy.conditions if isinstance(strategy, AllOf) else [strategy]
            required = AllOf(conditions=[*others, FieldCheck(field_name=item.name)])
            what = f"The composition leaves the field {item.name} out."
            yield Problem(what, "Require it as well", {"verify_strategy": required})


@rule("template", "warning")
def same_description(spec: TemplateSpec, methods: _Methods) -> Iterator[Problem]:
    """The judge gives both the same value.

    Describe what makes the two different, or remove one.
    """
    seen: dict[tuple[str, ...], str] = {}
    for item in spec.judged:
        asked = tuple(words(item.description))
        first = seen.setdefault(asked, item.name) if asked else item.name
        if first != item.name:
            yield Problem(f"The description is the same as that of {quoted(first)}.", field=item.name)


@rule("template", "hint")
def field_unverified(spec: TemplateSpec, methods: _Methods) -> Iterator[Problem]:
    """It is shown in results and changes no verdict.

    Give it a truth and a rule, or remove it if nobody needs to see it.
    """
    for item in spec.fields if spec.verified and not spec.own_code else ():
        if item.verify_with is None:
            yield Problem("The field is extracted, but no rule verifies it.", field=item.name)


# --- Methods of its own ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Methods:
    """What the methods of an answer class do, as far as reading tells.

    Attributes:
        read: Attributes of `self` they read, with the line.
        bound: Attributes of `self` they set, and names the class body binds.
        truths: The expected values that `self.correct = {...}` states; None where they are computed.
        looked_up: Keys of `self.correct[...]` with the line.
    """

    read: Mapping[str, int] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    truths: Mapping[str, Any] | None = None
    looked_up: Mapping[str, int] = field(default_factory=dict)


def _read_methods(tree: ast.Module) -> _Methods:
    answer = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Answer")
    methods = {item.name: item for item in answer.body if isinstance(item, ast.FunctionDef)}
    nodes = [node for method in methods.values() for node in ast.walk(method)]
    own = [node for node in nodes if isinstance(node, ast.Attribute) and _is_self(node.value)]
    bound = {node.attr for node in own if isinstance(node.ctx, ast.Store)} | set(methods)
    for item in answer.body:
        targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
        bound |= {target.id for target in targets if isinstance(target, ast.Name)}
    return _Methods(
        read={node.attr: node.lineno for node in own if isinstance(node.ctx, ast.Load)},
        bound=frozenset(bound),
        truths=_truths(nodes),
        looked_up={
            str(node.slice.value): node.lineno
            for node in nodes
            if isinstance(node, ast.Subscript) and _is_correct(node.value) and isinstance(node.slice, ast.Constant)
        },
    )


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_correct(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "correct" and _is_self(node.value)


def _truths(nodes: list[ast.AST]) -> dict[str, Any] | None:
    """Return the values of the only `self.correct = {...}` there is."""
    stated = [node.value for node in nodes if isinstance(node, ast.Assign) and any(map(_is_correct, node.targets))]
    if len(stated) != 1 or not isinstance(stated[0], ast.Dict):
        return None
    truths: dict[str, Any] = {}
    for key, value in zip(stated[0].keys, stated[0].values, strict=True):
        if not isinstance(key, ast.Constant):
            return None
        try:
            truths[str(key.value)] = ast.literal_eval(value)
        except ValueError:
            truths[str(key.value)] = _COMPUTED
    return truths


@rule("template", "error")
def own_unknown_name(spec: TemplateSpec, methods: _Methods) -> Iterator[Problem]:
    """The method fails for every answer.

    Correct the name, or add the field or the entry.
    """
    known = {item.name for item in spec.fields} | methods.bound | RESERVED_NAMES | {"_raw_trace"}
    for name, line in methods.read.items():
        if name not in known and not hasattr(BaseAnswer, name):
            yield Problem(f"self.{name} is read, but the template has no such field.", line=line)
    for key, line in methods.looked_up.items() if methods.truths is not None else ():
        if key not in (methods.truths or {}):
            yield Problem(f"self.correct has no entry {quoted(key)}.", line=line)
