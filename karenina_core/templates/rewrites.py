"""Expressions the sandbox does not know, rewritten in place into ones it does.

Each rewrite is one function of a node; a new one is one function and one line in `_REWRITES`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from karenina_core.templates.classes import Body
from karenina_core.templates.edits import Edits, needs
from karenina_core.templates.prelude import METHODS
from karenina_core.templates.scope import Scope

_TYPES = frozenset({"dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
_OF_TYPES = frozenset({*METHODS, "fromhex", "fromkeys", "from_bytes"})
_SUPER = {"verify": "_karenina_verdict", "verify_granular": "_karenina_granular"}


@dataclass(frozen=True)
class _Context:
    edits: Edits
    properties: frozenset[str]
    ambiguous: frozenset[str]
    has_ground_truth: bool
    enums: frozenset[str]
    values_are_members: bool
    bound: frozenset[str]
    in_texts: frozenset[int]


def rewrite_expressions(live: Iterable[ast.AST], scope: Scope, bodies: Mapping[str, Body], edits: Edits) -> None:
    """Record the rewrites that the live nodes of a template need.

    Raises:
        TemplateError: It uses what the sandbox does not support; says the line.
    """
    methods = [(name, kind) for body in bodies.values() for name, kind in body.methods.items()]
    properties = frozenset(name for name, kind in methods if kind == "property")
    fields = {item.name for body in bodies.values() for item in body.fields}
    live = list(live)
    context = _Context(
        edits=edits,
        properties=properties,
        ambiguous=properties & (fields | {name for name, kind in methods if kind != "property"}),
        has_ground_truth=any("ground_truth" in body.methods for body in bodies.values()),
        enums=frozenset(scope.choices),
        values_are_members=bool(scope.choices) and "value" not in fields,
        bound=frozenset(_bound(live)),
        in_texts=frozenset(id(part) for node in live if isinstance(node, ast.JoinedStr) for part in ast.walk(node)),
    )
    for node in live:
        for rewrite in _REWRITES:
            rewrite(node, context)


def _bound(live: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that a template gives a meaning of its own, anywhere."""
    for node in live:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=local):
                yield local or name


def _check_syntax(node: ast.AST, context: _Context) -> None:
    needs(not isinstance(node, ast.Yield | ast.YieldFrom), node, "yield expressions", "return a list")
    needs(not isinstance(node, ast.Delete), node, "the del statement", "use pop()")


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


def _missing_method(node: ast.AST, context: _Context) -> None:
    """`self.x.translate(t)` becomes `_karenina_translate(self.x)(t)`."""
    if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.ctx, ast.Load):
        _wrap_owner(node, f"_karenina_{node.attr}", context)


def _substitution(node: ast.AST, context: _Context) -> None:
    """`re.sub(p, function, s)` becomes `_karenina_sub(p, function, s)`; a text as replacement needs no help."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="sub", ctx=ast.Load()) as function):
            of_module = isinstance(owner, ast.Name) and owner.id == "re"
            place = 1 if of_module else 0
            named = [keyword.value for keyword in node.keywords if keyword.arg == "repl"]
            if any(not _is_text(replacement) for replacement in [*node.args[place : place + 1], *named]):
                if of_module:
                    context.edits.replace(function, "_karenina_sub")
                else:
                    _wrap_owner(function, "_karenina_sub_of", context)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _wrap_owner(node: ast.Attribute, helper: str, context: _Context) -> None:
    """Replace `owner.name` by `helper(owner)`."""
    # Inside of f-strings positions may be wrong.
    known = id(node) not in context.in_texts or context.edits.holds(node)
    needs(known and context.edits.covers(node, f".{node.attr}"), node, f"this use of .{node.attr}", "put it in a line")
    context.edits.insert(context.edits.start(node), f"{helper}(")
    context.edits.replace_span(context.edits.end(node) - len(node.attr) - 1, context.edits.end(node), ")")


def _unbound_method(node: ast.AST, context: _Context) -> None:
    """`map(str.lower, names)`: there, methods are found on values only, so a function takes the place."""
    match node:
        case ast.Attribute(value=ast.Name(id=kind), attr=name, ctx=ast.Load()) if (
            kind in _TYPES and kind not in context.bound and name not in _OF_TYPES
        ):
            call = f"_karenina_checked({kind}, value).{name}(*more, **named)"
            context.edits.replace(node, f"(lambda value, *more, **named: {call})")


_REWRITES: tuple[Callable[[ast.AST, _Context], None], ...] = (
    _check_syntax,
    _super_call,
    _property,
    _enum_value,
    _enum_identity,
    _next_of_generator,
    _verbose_pattern,
    _missing_method,
    _substitution,
    _unbound_method,
)
