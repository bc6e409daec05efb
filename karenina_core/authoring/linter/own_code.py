"""What can be said of a template's own methods by reading them; none of them is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from karenina_core.authoring.layout import Positions
from karenina_core.authoring.linter.descriptions import suggested
from karenina_core.authoring.linter.finding import Finding, Severity, SourceFix, SpecFix, changed_field
from karenina_core.authoring.linter.words import gives_away
from karenina_core.schemas import RESERVED_NAMES, BaseAnswer, listed, quoted
from karenina_core.templates import TemplateSpec, on_deep_stack, parse_module, readable

_WHOLESALE = frozenset({"model_dump", "getattr", "vars", "__dict__", "model_dump_json", "dict"})
_MISSING = object()


@dataclass(frozen=True)
class _Methods:
    """What the methods of an answer class do, as far as reading tells.

    Attributes:
        read: Attributes of `self` they read, with the line.
        assigned: Attributes of `self` they set, and names the class body binds.
        wholesale: Whether they read attributes in ways that do not show which.
        returns: What `verify` returns where that is a constant, otherwise `_MISSING`.
        verify_line: Line of `verify`; None where there is none.
        truths: The expected values that `self.correct = {...}` states; None where they are computed.
        looked_up: Keys of `self.correct[...]` with the line.
        exact: Fields compared with the truth as they are, with the line.
    """

    read: dict[str, int]
    assigned: set[str]
    wholesale: bool
    returns: list[Any]
    verify_line: int | None
    truths: dict[str, Any] | None
    looked_up: dict[str, int]
    exact: dict[str, int]


def lint_own_code(source: str, spec: TemplateSpec) -> list[Finding]:
    """Return what can be said of a template's own methods.

    Args:
        source: A template that can be read.
        spec: Its fields.
    """
    text = readable(source)
    found = on_deep_stack(lambda: _read(parse_module(text), spec.class_name))
    return [finding for rule in _RULES for finding in rule(spec, found)]


def _read(tree: ast.Module, class_name: str) -> _Methods:
    answer = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == class_name)
    nodes = [node for item in answer.body if isinstance(item, ast.FunctionDef) for node in ast.walk(item)]
    verify = next((i for i in answer.body if isinstance(i, ast.FunctionDef) and i.name == "verify"), None)
    bound = {node.name for node in answer.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {name.id for item in answer.body for name in _targets(item)}
    own = [node for node in nodes if isinstance(node, ast.Attribute) and _is_self(node.value)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in own}
    return _Methods(
        read={node.attr: node.lineno for node in own if isinstance(node.ctx, ast.Load)},
        assigned=bound | {node.attr for node in own if isinstance(node.ctx, ast.Store)},
        wholesale=bool(names & _WHOLESALE),
        returns=[] if verify is None else [_constant(node.value) for node in _own_returns(verify)],
        verify_line=verify.lineno if verify else None,
        truths=_truths(nodes),
        looked_up=dict(_looked_up(nodes)),
        exact={name: line for node in nodes for name, line in _compared(node)},
    )


def _own_returns(method: ast.FunctionDef) -> Iterator[ast.Return]:
    """Yield the returns of a method, not those of functions inside it."""
    waiting: list[ast.AST] = list(method.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _targets(item: ast.stmt) -> Iterator[ast.Name]:
    targets = [item.target] if isinstance(item, ast.AnnAssign) else item.targets if isinstance(item, ast.Assign) else []
    yield from (target for target in targets if isinstance(target, ast.Name))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_correct(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "correct" and _is_self(node.value)


def _constant(node: ast.expr | None) -> Any:
    if node is None:
        return None
    return node.value if isinstance(node, ast.Constant) else _MISSING


def _truths(nodes: list[ast.AST]) -> dict[str, Any] | None:
    """Return the values of the only `self.correct = {...}` there is."""
    set_to = [node.value for node in nodes if isinstance(node, ast.Assign) and any(map(_is_correct, node.targets))]
    if len(set_to) != 1 or not isinstance(set_to[0], ast.Dict):
        return None
    truths: dict[str, Any] = {}
    for key, value in zip(set_to[0].keys, set_to[0].values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        try:
            truths[key.value] = ast.literal_eval(value)
        except ValueError:
            truths[key.value] = _MISSING
    return truths


def _looked_up(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as key), ctx=ast.Load()) if _is_correct(
                value
            ):
                yield key, node.lineno


def _compared(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield field and line of a comparison such as `self.target == self.correct["target"]`."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            for one, other in ((left, right), (right, left)):
                match one, other:
                    case ast.Attribute(value=owner, attr=name), ast.Subscript(value=truths):
                        if _is_self(owner) and _is_correct(truths):
                            yield name, one.lineno


def _finding(
    code: str, severity: Severity, field: str | None, said: tuple[str, str, str], line: int | None, fix: Any = None
) -> Finding:
    return Finding(code, severity, field, *said, fix=fix, line=line)


def _constant_verdict(spec: TemplateSpec, found: _Methods) -> Iterator[Finding]:
    values = found.returns
    if found.verify_line is None:
        return
    if not [value for value in values if value is not None]:
        said = ("verify() returns nothing.", "Only True and False are verdicts.", "Return a comparison.")
        yield _finding("own_verdict_missing", "error", None, said, found.verify_line)
    elif odd := [value for value in values if value is not _MISSING and value is not None and type(value) is not bool]:
        said = (f"verify() returns {listed(odd)}.", "Only True and False are verdicts.", "Return a comparison.")
        yield _finding("own_verdict_not_bool", "error", None, said, found.verify_line)
    elif values[0] is not _MISSING and all(value is values[0] for value in values):
        said = (f"verify() always returns {values[0]}.", "It looks at no value.", "Compare the fields with the truth.")
        yield _finding("own_verdict_constant", "error", None, said, found.verify_line)


def _unused_fields(spec: TemplateSpec, found: _Methods) -> Iterator[Finding]:
    if found.wholesale:
        return
    for item in spec.judged:
        if item.verify_with is None and item.name not in found.read:
            said = (
                "No method reads the field.",
                "It is extracted and changes no verdict.",
                "Compare it in verify(), or remove it.",
            )
            yield _finding("own_field_unused", "warning", item.name, said, None)


def _unknown_attributes(spec: TemplateSpec, found: _Methods) -> Iterator[Finding]:
    known = {item.name for item in spec.fields} | found.assigned | RESERVED_NAMES | {"_raw_trace"}
    for name, line in found.read.items():
        if name not in known and not hasattr(BaseAnswer, name):
            said = (
                f"self.{name} is read, but the template has no such field.",
                "The method fails for every answer.",
                "Correct the name, or add the field.",
            )
            yield _finding("own_unknown_field", "error", None, said, line)


def _unknown_keys(spec: TemplateSpec, found: _Methods) -> Iterator[Finding]:
    for key, line in found.looked_up.items() if found.truths is not None else ():
        if key not in (found.truths or {}):
            said = (
                f"self.correct has no entry {quoted(key)}.",
                "The method fails for every answer.",
                f"Add it to self.correct, which has {listed(found.truths or {})}.",
            )
            yield _finding("own_unknown_truth", "error", None, said, line)


def _leaks(spec: TemplateSpec, found: _Methods) -> Iterator[Finding]:
    for item in spec.judged:
        truth = (found.truths or {}).get(item.name, _MISSING)
        if truth is _MISSING or item.type in ("bool", "literal") or not gives_away(item.description, truth):
            continue
        better = next((text for text in suggested(item) if not gives_away(text, truth)), None)
        fix = None if better is None else SpecFix("Use a fuller description", _described(item.name, better))
        said = (
            "The description holds the expected value.",
            "The judge sees it, and finds the value also where the response does not give it.",
            "Describe what to look for without saying what it should be.",
        )
        yield _finding("description_leaks_truth", "error", item.name, said, None, fix)


def _described(name: str, text: str) -> Any:
    return lambda spec: changed_field(spec, name, {"description": text})


def _exact_texts(spec: TemplateSpec, found: _Methods) -> Iterator[Finding]:
    for item in spec.judged:
        if item.type == "str" and item.name in found.exact:
            said = (
                "The text is compared as it is.",
                "An answer that differs only in capitals or blanks fails.",
                "Compare what strip() and lower() make of both sides.",
            )
            fix = SourceFix("Ignore case and blanks", lambda source, name=item.name: _ignoring_case(source, name))  # type: ignore[misc]
            yield _finding("own_case_counts", "hint", item.name, said, found.exact[item.name], fix)
        if item.type == "float" and item.name in found.exact:
            said = (
                "The decimal number is compared exactly.",
                "An answer with one digit more or less fails.",
                "Write abs(a - b) <= tolerance.",
            )
            yield _finding("own_decimal_exactly", "hint", item.name, said, found.exact[item.name])


def _ignoring_case(source: str, name: str) -> str:
    text = readable(source)
    at = Positions(source, text)

    def ends() -> list[int]:
        nodes = [node for node in ast.walk(parse_module(text)) if name in dict(_compared(node))]
        return [
            at.end(side) for node in nodes if isinstance(node, ast.Compare) for side in (node.left, node.comparators[0])
        ]

    parts, reached = [], 0
    for end in sorted(on_deep_stack(ends)):
        parts += [at.data[reached:end], b".strip().lower()"]
        reached = end
    return b"".join([*parts, at.data[reached:]]).decode()


_RULES = (_constant_verdict, _unused_fields, _unknown_attributes, _unknown_keys, _leaks, _exact_texts)
