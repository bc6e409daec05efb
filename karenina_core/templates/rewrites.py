"""Expressions the sandbox does not know, rewritten in place into ones it does.

Each rewrite is one function of a node; a new one is one function and one line in `_REWRITES`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from karenina_core.templates.classes import Body
from karenina_core.templates.edits import Edits, needs
from karenina_core.templates.limits import refuse
from karenina_core.templates.scope import Scope

_SUPER = {"verify": "_karenina_verdict", "verify_granular": "_karenina_granular"}


@dataclass(frozen=True)
class _Context:
    edits: Edits
    properties: frozenset[str]
    ambiguous: frozenset[str]
    has_ground_truth: bool
    enums: frozenset[str]
    values_are_members: bool


def rewrite_expressions(live: Iterable[ast.AST], scope: Scope, bodies: Mapping[str, Body], edits: Edits) -> None:
    """Record the rewrites that the live nodes of a template need.

    Raises:
        TemplateError: It uses what the sandbox does not support; says the line.
    """
    methods = [(name, kind) for body in bodies.values() for name, kind in body.methods.items()]
    properties = frozenset(name for name, kind in methods if kind == "property")
    fields = {item.name for body in bodies.values() for item in body.fields}
    context = _Context(
        edits=edits,
        properties=properties,
        ambiguous=properties & (fields | {name for name, kind in methods if kind != "property"}),
        has_ground_truth=any("ground_truth" in body.methods for body in bodies.values()),
        enums=frozenset(scope.choices),
        values_are_members=bool(scope.choices) and "value" not in fields,
    )
    for node in live:
        for rewrite in _REWRITES:
            rewrite(node, context)


def _check_syntax(node: ast.AST, context: _Context) -> None:
    needs(not isinstance(node, ast.Yield | ast.YieldFrom), node, "yield expressions", "return a list")
    needs(not isinstance(node, ast.Delete), node, "the del statement", "use pop()")
    if isinstance(node, ast.Attribute) and node.attr == "regex" and isinstance(node.ctx, ast.Store):
        raise refuse("unsupported", "self.regex", "patterns of a template are not evaluated", "use TraceRegex", at=node)


def _super_call(node: ast.AST, context: _Context) -> None:
    """`super().verify()` and its like become what the engine knows already."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name)):
            known = name == "model_post_init" or name in _SUPER
            needs(known and context.edits.covers(node, ")"), node, f"super().{name}", "remove it")
            if name == "model_post_init":
                context.edits.replace(node, "self.ground_truth()" if context.has_ground_truth else "None")
            else:
                context.edits.replace(node, _SUPER[name])


def _property(node: ast.AST, context: _Context) -> None:
    """`self.total` becomes `self.total()` where `total` is a property."""
    if isinstance(node, ast.Attribute) and node.attr in context.properties:
        plain = isinstance(node.ctx, ast.Load) and node.attr not in context.ambiguous
        exact = plain and context.edits.covers(node, node.attr)
        needs(exact, node, f"this use of the property {node.attr!r}", "make it a method of a name of its own")
        context.edits.insert(context.edits.end(node), "()")


def _enum_value(node: ast.AST, context: _Context) -> None:
    """`self.phase.value` becomes `self.phase`: in the sandbox a member is its value."""
    if context.values_are_members and isinstance(node, ast.Attribute) and node.attr == "value":
        needs(context.edits.covers(node, ".value"), node, "this use of .value", "compare with the member itself")
        context.edits.replace_span(context.edits.end(node) - len(".value"), context.edits.end(node), "")


def _enum_identity(node: ast.AST, context: _Context) -> None:
    """`self.phase is Phase.II` becomes `self.phase == Phase.II`, for the same reason."""
    match node:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]):
            if any(_is_member(side, context) for side in (left, right)):
                start, end = context.edits.end(left), context.edits.start(right)
                plain = context.edits.source[start:end].split() in ([b"is"], [b"is", b"not"])
                needs(plain, node, "this comparison of members", "use ==")
                context.edits.replace_span(start, end, " == " if isinstance(op, ast.Is) else " != ")
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            named = {part.id for part in ast.walk(kinds) if isinstance(part, ast.Name)}
            needs(not named & context.enums, node, "isinstance of an enumeration", "compare with its members")


def _is_member(node: ast.expr, context: _Context) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in context.enums


def _next_of_generator(node: ast.AST, context: _Context) -> None:
    """`next(x for x in y)` becomes `next(iter(x for x in y))`: there, generators are lists."""
    match node:
        case ast.Call(func=ast.Name(id="next"), args=[ast.GeneratorExp() as generator, *_]):
            alone = context.edits.end(generator) == context.edits.end(node)
            context.edits.insert(context.edits.start(generator), "(iter" if alone else "iter")
            if alone:
                context.edits.insert(context.edits.end(generator), ")")


def _verbose_pattern(node: ast.AST, context: _Context) -> None:
    """`re.search(p, s, re.VERBOSE)` becomes `re.search("(?x)" + (p), s, 0)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    arguments = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    for flag in (found for argument in arguments for found in _verbose_flags(argument)):
        context.edits.replace(flag, "0")
        context.edits.insert(context.edits.start(node.args[0]), '"(?x)" + (')
        context.edits.insert(context.edits.end(node.args[0]), ")")


def _verbose_flags(node: ast.expr) -> Iterator[ast.Attribute]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _verbose_flags(left)
            yield from _verbose_flags(right)
        case ast.Attribute(value=ast.Name(id="re"), attr="VERBOSE" | "X"):
            yield node


_REWRITES: tuple[Callable[[ast.AST, _Context], None], ...] = (
    _check_syntax,
    _super_call,
    _property,
    _enum_value,
    _enum_identity,
    _next_of_generator,
    _verbose_pattern,
)
