"""What the names in a template mean: imports, constants, and the classes it defines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from karenina_core.templates.limits import refuse
from karenina_core.templates.literals import Constants, read_literal

IMPORTABLE = frozenset(
    {
        "__future__",
        "collections",
        "copy",
        "dataclasses",
        "datetime",
        "dateutil",
        "decimal",
        "difflib",
        "enum",
        "functools",
        "itertools",
        "json",
        "karenina",
        "karenina_core",
        "math",
        "pydantic",
        "re",
        "statistics",
        "string",
        "typing",
        "typing_extensions",
        "unicodedata",
        "uuid",
    }
)

_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")  # what holds statements, or holds what does


RuleMethod = Literal["check", "check_trace"]
"""`check` compares an extracted value with the truth, `check_trace` reads the response."""


@dataclass(frozen=True)
class RuleClass:
    """A custom primitive of a template. Its code is never run in this process.

    Attributes:
        name: Name of the class.
        method: The method that decides.
        line: Line of that method, counted from 1.
        parameters: What it is built with.
    """

    name: str
    method: RuleMethod
    line: int
    parameters: type[BaseModel]

    def stored(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the stored form of the rule: its name under `type`, then every parameter.

        Raises:
            ValidationError: A parameter is unknown, missing or of the wrong type.
        """
        return {"type": self.name, **self.parameters.model_validate(given).model_dump(mode="json")}


@dataclass
class Scope:
    """The meaning of module-level names.

    Attributes:
        imported: Local name to original name, for names imported from a module.
        modules: Local names of imported modules.
        defined: Names the template defines itself; they hide everything else.
        constants: Values of names bound once to plain data, and of enumeration members.
        aliases: Shapes of names bound to a type, such as `Phase = Literal["I", "II"]`.
        models: Names of nested models.
        choices: Values of enumerations, by class name.
        rules: Custom primitives the template defines, by class name.
    """

    imported: dict[str, str] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    constants: Constants = field(init=False)
    aliases: dict[str, Any] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    choices: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    rules: dict[str, RuleClass] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.constants = Constants(self.resolve)

    def resolve(self, node: ast.AST) -> str | None:
        """Return the original name of what an expression names, or None if that is not known from outside."""
        match node:
            case ast.Name(id=name):
                if name in self.defined or name in self.modules:
                    return None
                return self.imported.get(name, name)
            case ast.Attribute(attr=name):
                return name if ast.unparse(node).partition(".")[0] in self.modules - self.defined else None
        return None

    def literal(self, node: ast.expr) -> Any:
        """Return the plain value of an expression.

        Raises:
            TemplateError: It is no plain value.
        """
        return read_literal(node, self.constants)


def read_scope(tree: ast.Module) -> Scope:
    """Collect imports, constants and defined names of a module.

    Raises:
        TemplateError: It imports what a template may not import.
    """
    scope = Scope()
    statements = list(all_statements(tree))
    for part in statements:
        if isinstance(part, (ast.Import, ast.ImportFrom)):
            _check_import(part)
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            scope.modules |= {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            _add_import(statement, scope)
    bound = Counter(_bound_names(tree, statements))
    scope.defined = set(bound)
    for name, value in assignments(tree):
        if bound[name] == 1:
            scope.constants.define(name, value)
    return scope


def assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield name and value of the plain assignments of a module."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _check_import(node: ast.Import | ast.ImportFrom) -> None:
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    for name in names:
        if relative or name.partition(".")[0] not in IMPORTABLE:
            advice = f"only these can be imported: {', '.join(sorted(IMPORTABLE - {'__future__'}))}"
            raise refuse("import", f"import of {'.' if relative else ''}{name}", next=advice, at=node)


def _add_import(node: ast.ImportFrom, scope: Scope) -> None:
    for alias in node.names:
        local = alias.asname or alias.name
        # A lower-case name out of a karenina package may be a module: `from karenina.schemas import primitives`.
        if node.module != "datetime" and alias.name in ("schemas", "entities", "primitives", "normalizers", "parser"):
            scope.modules.add(local)
        elif alias.name != "*":
            scope.imported[local] = alias.name


def _bound_names(tree: ast.Module, statements: list[ast.stmt]) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    for part in statements:
        if isinstance(part, ast.Global):
            yield from part.names


def all_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield all statements of a module, inner ones too; much quicker than walking through every expression."""
    waiting: list[Any] = [tree]
    while waiting:
        holder = waiting.pop()
        for field_name in _BODIES:
            for inner in getattr(holder, field_name, ()):
                if isinstance(inner, ast.stmt):
                    yield inner
                if not isinstance(inner, ast.expr):
                    waiting.append(inner)
