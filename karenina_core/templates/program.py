"""A template with code of its own as the sandbox runs it: definitions removed, expressions rewritten, a tail added.

A rewrite turns an expression the sandbox does not know into one it does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from karenina_core.errors import TemplateError
from karenina_core.schemas.primitives import REGISTRY
from karenina_core.templates.classes import Body, Classes
from karenina_core.templates.limits import refuse
from karenina_core.templates.literals import quote
from karenina_core.templates.sandbox import STATISTICS
from karenina_core.templates.sandbox_code import METHODS, hook_tail, prelude_for, rule_tail
from karenina_core.templates.scope import Scope, all_statements
from karenina_core.templates.spec import HOOKS

_REMOVED_IMPORTS = frozenset(
    {"__future__", "enum", "karenina", "karenina_core", "pydantic", "typing", "typing_extensions"}
)
_UNMETERED = frozenset({"RegexMatch", "TraceRegex", "SemanticMatch"})
_TYPES = frozenset({"dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
_METHODS_OF_TYPES = frozenset({*METHODS, "fromhex", "fromkeys", "from_bytes"})
_SUPER = {"verify": "_karenina_verdict", "verify_granular": "_karenina_granular"}
_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Program:
    """What the sandbox runs for a template with methods or primitives of its own.

    Attributes:
        code: The author's code, rewritten.
        lines: The author's line for each line of `code`; what comes after it is a tail.
        hooks: Which of `model_post_init`, `ground_truth`, `verify`, `verify_granular` the author wrote.
        handed_in: Primitive classes the code names: local name to registered name.
        prelude: Definitions the code calls, to be run before it.
        hook_tail: What to add to `code` to run the author's methods.
        rule_tail: What to add to `code` to apply the author's primitives.
    """

    code: str
    lines: tuple[int, ...]
    hooks: tuple[str, ...]
    handed_in: Mapping[str, str]
    prelude: str
    hook_tail: str
    rule_tail: str


def build_program(
    tree: ast.Module, scope: Scope, classes: Classes, answer: ast.ClassDef, bodies: Mapping[str, Body]
) -> Program:
    """Turn a template into a program for the sandbox.

    Args:
        tree: The source, parsed; used up.
        scope: What its names mean.
        classes: Its classes.
        answer: The answer class.
        bodies: What the answer class, the nested models and the custom primitives hold.

    Raises:
        TemplateError: It uses what the sandbox does not support; says the line.
    """
    for other in classes.others:
        if other.bases or other.keywords:
            raise _unsupported(other, "class inheritance", "use a function instead")
    never_run: list[ast.stmt] = [node for node in classes.answers if node is not answer]
    never_run += [node for node in tree.body if _names(node, ast.Store) & set(scope.aliases) or _is_script(node)]
    never_run += example_statements(tree, answer.name)
    tree.body = _without(tree.body, never_run)
    for held in (answer, *classes.models.values(), *classes.rules):
        _strip_class(held, bodies[held.name], is_answer=held is answer)
    for node in classes.enums.values():
        node.bases = []
    tree = ast.fix_missing_locations(_Rewriter(tree, scope, bodies).visit(tree))
    code = f"{ast.unparse(tree)}\n"
    hooks = tuple(name for name in HOOKS if name in bodies[answer.name].methods)
    return Program(
        code=code,
        lines=_author_lines(code, tree),
        hooks=hooks,
        handed_in=_handed_in(tree, scope),
        prelude=prelude_for(code),
        hook_tail=hook_tail(answer.name, hooks, bodies),
        rule_tail=rule_tail(bodies),
    )


def example_statements(tree: ast.Module, answer: str) -> list[ast.stmt]:
    """Return the statements that use the answer class, such as `print(Answer(target="BCL2").verify())`."""
    examples: list[ast.stmt] = []
    tainted = {answer}
    for statement in tree.body:
        if not isinstance(statement, _DEFINITION) and _names(statement, ast.Load) & tainted:
            examples.append(statement)
            tainted |= _names(statement, ast.Store)
    return examples


def _is_script(node: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__":` or `if TYPE_CHECKING:`, which never run as part of a template."""
    return isinstance(node, ast.If) and bool(_names(node.test, ast.Load) & {"__name__", "TYPE_CHECKING"})


def _names(tree: ast.AST, use: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, use)}


def _without(body: list[ast.stmt], removed: Iterable[ast.stmt]) -> list[ast.stmt]:
    unwanted = {id(node) for node in removed}
    return [node for node in body if id(node) not in unwanted]


def _strip_class(node: ast.ClassDef, body: Body, *, is_answer: bool) -> None:
    """Leave nothing but methods and plain attributes; nested models and primitives get a constructor by name."""
    node.bases, node.decorator_list = [], []
    node.body = _without(node.body, body.definitions)
    for method in node.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            method.decorator_list = []
    if body.definitions and not is_answer:
        defaults = quote({item.name: item.options["default"] for item in body.fields if "default" in item.options})
        constructor = f"def __init__(self, **values):\n for key, value in {{**{defaults}, **values}}.items():\n"
        added = ast.parse(f"{constructor}  setattr(self, key, value)")
        ast.increment_lineno(added, node.lineno - 1)
        node.body += added.body
    node.body = node.body or [ast.Pass()]


def _author_lines(code: str, tree: ast.Module) -> tuple[int, ...]:
    """Return the author's line for each line of `code`, which was written from `tree`."""
    written = zip(all_statements(ast.parse(code)), all_statements(tree), strict=True)
    starts = {new.lineno: old.lineno for new, old in written}
    lines, line = [], 1
    for number in range(1, code.count("\n") + 1):
        line = starts.get(number, line)
        lines.append(line)
    return tuple(lines)


def _handed_in(tree: ast.Module, scope: Scope) -> dict[str, str]:
    originals = {name: scope.resolve(ast.Name(name)) for name in sorted(_names(tree, ast.Load))}
    usable = {*REGISTRY, "SynonymMap"} - _UNMETERED
    return {name: original for name, original in originals.items() if original in usable}


def _unsupported(node: ast.AST, what: str, next: str) -> TemplateError:
    return refuse("unsupported", f"the sandbox does not support {what}", next=next, at=node)


class _Rewriter(ast.NodeTransformer):
    """Replaces what the sandbox does not know, or refuses it."""

    def __init__(self, tree: ast.Module, scope: Scope, bodies: Mapping[str, Body]) -> None:
        methods = [(name, kind) for body in bodies.values() for name, kind in body.methods.items()]
        fields = {item.name for body in bodies.values() for item in body.fields}
        self._properties = {name for name, kind in methods if kind == "property"}
        self._ambiguous = self._properties & (fields | {name for name, kind in methods if kind != "property"})
        self._has_ground_truth = any("ground_truth" in body.methods for body in bodies.values())
        self._scope = scope
        self._enums = set(scope.choices)
        self._values_are_members = bool(scope.choices) and "value" not in fields
        self._bound = set(_bound(tree))

    def visit(self, node: ast.AST) -> Any:
        """Return what takes the place of a node, on the same line."""
        new = super().visit(node)
        return ast.copy_location(new, node) if isinstance(new, ast.AST) and new is not node else new

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        """Leave out imports that only serve definitions."""
        node.names = [alias for alias in node.names if not _is_removed(alias.name)]
        return node if node.names else ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        """Leave out imports that only serve definitions."""
        node.names = [alias for alias in node.names if alias.name != "cached_property"]
        return ast.Pass() if _is_removed(node.module or "") or not node.names else node

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> ast.expr:
        """Refuse generators."""
        raise _unsupported(node, "yield expressions", "return a list")

    visit_YieldFrom = visit_Yield

    def visit_Delete(self, node: ast.Delete) -> ast.stmt:
        """`del seen[key]` becomes `seen.pop(key)`."""
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
            raise _unsupported(node, "this del statement", "use pop()")
        return ast.Expr(ast.Call(ast.Attribute(self.visit(target.value), "pop"), [self.visit(target.slice)], []))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        """There, generators are lists; `next` needs an iterator."""
        self.generic_visit(node)
        return _call("iter", node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`self.phase is Phase.II` becomes `self.phase == Phase.II`: in the sandbox a member is its value."""
        sides = (side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Attribute))
        if any(isinstance(owner, ast.Name) and owner.id in self._enums for owner in sides):
            same: dict[type[ast.cmpop], ast.cmpop] = {ast.Is: ast.Eq(), ast.IsNot: ast.NotEq()}
            node.ops = [same.get(type(op), op) for op in node.ops]
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Rewrite properties, members of enumerations, and methods the sandbox lacks."""
        loaded = isinstance(node.ctx, ast.Load)
        kind = node.value.id if isinstance(node.value, ast.Name) else ""
        if _is_verbose(node):
            return ast.Constant(0)
        self.generic_visit(node)
        if node.attr in self._properties:
            if not loaded or node.attr in self._ambiguous:
                use = f"this use of the property {node.attr!r}"
                raise _unsupported(node, use, "make it a method of a name of its own")
            return ast.Call(node, [], [])
        if self._values_are_members and node.attr == "value":
            return node.value
        if loaded and node.attr in METHODS:
            return _call(f"_karenina_{node.attr}", node.value)
        if loaded and kind in _TYPES and kind not in self._bound and node.attr not in _METHODS_OF_TYPES:
            # There, methods are found on values only: `map(str.lower, names)`.
            call = f"_karenina_checked({kind}, value).{node.attr}(*more, **named)"
            return _expression(f"lambda value, *more, **named: {call}")
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite `super()`, statistics, verbose patterns and substitutions by a function."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name)):
                return self._super(node, name)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]) if _names(kinds, ast.Load) & self._enums:
                raise _unsupported(node, "isinstance of an enumeration", "compare with its members")
            case ast.Call(func=function, args=[values, *_]) if self._scope.resolve(function) in STATISTICS:
                node.args[0] = _call("list", values)  # what is handed out has to be data
            case ast.Call(func=ast.Attribute(value=owner, attr="sub")) if _replaces_by_function(node, owner):
                of_module = isinstance(owner, ast.Name) and owner.id == "re"
                node.func = ast.Name("_karenina_sub", ast.Load()) if of_module else _call("_karenina_sub_of", owner)
        flags = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        if node.args and any(map(_is_verbose, flags)):
            node.args[0] = ast.BinOp(ast.Constant("(?x)"), ast.Add(), node.args[0])
        return self.generic_visit(node)  # type: ignore[return-value]

    def _super(self, node: ast.Call, name: str) -> ast.expr:
        """`super().verify()` and the like become what is known already."""
        if name == "model_post_init":
            return _expression("self.ground_truth()" if self._has_ground_truth else "None")
        if name not in _SUPER:
            raise _unsupported(node, f"super().{name}", "remove it")
        return ast.Name(_SUPER[name], ast.Load())


def _is_removed(module: str) -> bool:
    return module.partition(".")[0] in _REMOVED_IMPORTS or module == "collections.abc"


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a template gives a meaning of its own, anywhere."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=local):
                yield local or name


def _replaces_by_function(call: ast.Call, owner: ast.expr) -> bool:
    """Whether `re.sub` or `pattern.sub` replaces by anything but a text."""
    place = 1 if isinstance(owner, ast.Name) and owner.id == "re" else 0
    named = [keyword.value for keyword in call.keywords if keyword.arg == "repl"]
    return not all(_is_text(item) for item in [*call.args[place : place + 1], *named])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_verbose(node: ast.AST) -> bool:
    """Whether it is the flag of verbose patterns, or such a flag and others."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _is_verbose(node.left) or _is_verbose(node.right)
    return ast.unparse(node) in ("re.VERBOSE", "re.X") if isinstance(node, ast.Attribute) else False


def _call(function: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
