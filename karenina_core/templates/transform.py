"""The author's text as the sandbox runs it: field definitions blanked, a tail that evaluates added.

Every line keeps its number, so that errors name the author's line.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from karenina_core.schemas.primitives import REGISTRY
from karenina_core.templates.classes import Body, Classes
from karenina_core.templates.edits import Edits, needs
from karenina_core.templates.prelude import prelude_for
from karenina_core.templates.rewrites import rewrite_expressions
from karenina_core.templates.scope import Scope
from karenina_core.templates.spec import HOOKS
from karenina_core.templates.tail import rule_tail, tail
from karenina_core.templates.wording import quote

_BLANKED_IMPORTS = frozenset(
    {"__future__", "enum", "karenina", "karenina_core", "pydantic", "typing", "typing_extensions"}
)
_UNMETERED = frozenset({"RegexMatch", "TraceRegex", "SemanticMatch"})


@dataclass(frozen=True)
class Program:
    """What the sandbox runs for a template with methods of its own.

    Attributes:
        code: The author's text, changed, and the tail.
        lines: Number of the author's lines; what comes after is the tail.
        hooks: Which of `model_post_init`, `ground_truth`, `verify`, `verify_granular` the author wrote.
        handed_in: Primitive classes the code names: local name to registered name.
        prelude: Definitions the code calls, to be run before it.
    """

    code: str
    lines: int
    hooks: tuple[str, ...]
    handed_in: Mapping[str, str]
    prelude: str


def transform(
    text: str,
    tree: ast.Module,
    scope: Scope,
    classes: Classes,
    answer: ast.ClassDef,
    bodies: Mapping[str, Body],
    *,
    for_rules: bool = False,
) -> Program:
    """Turn a template into a program for the sandbox.

    Args:
        text: The source.
        tree: The source, parsed.
        scope: What its names mean.
        classes: Its classes.
        answer: The answer class.
        bodies: What the answer class, the nested models and the custom primitives hold.
        for_rules: Whether to run the check of a custom primitive, rather than the methods of the answer.

    Raises:
        TemplateError: It uses what the sandbox does not support; says the line.
    """
    edits = Edits(text)
    body = bodies[answer.name]
    for other in classes.others:
        needs(not other.bases and not other.keywords, other, "class inheritance", "use a function instead")
    aside: list[ast.stmt] = [node for node in classes.answers if node is not answer]
    aside += [*_aliases(tree, scope), *_script_blocks(tree), *example_statements(tree, answer.name)]
    for statement in aside:
        edits.replace(statement, "pass")
    for node in [answer, *classes.models.values(), *classes.rules]:
        _blank_class(node, bodies[node.name], node is not answer, edits)
    for node in classes.enums.values():
        _blank_bases(node, edits)
    definitions = [statement for held in bodies.values() for statement in held.definitions]
    ignored = {id(node) for statement in [*definitions, *aside] for node in ast.walk(statement)}
    live = [part for part in ast.walk(tree) if id(part) not in ignored]
    for part in live:
        if isinstance(part, ast.Import | ast.ImportFrom):
            _keep_imports(part, edits)
    rewrite_expressions(live, scope, bodies, edits)
    hooks = () if for_rules else tuple(name for name in HOOKS if name in body.methods)
    code = f"{edits.apply().rstrip()}\n"
    return Program(
        code=code + (rule_tail(answer.name, bodies) if for_rules else tail(answer.name, hooks, bodies)),
        lines=code.count("\n"),
        hooks=hooks,
        handed_in=_handed_in(live, scope),
        prelude=prelude_for(code),
    )


def _keep_imports(node: ast.Import | ast.ImportFrom, edits: Edits) -> None:
    """Blank the imports that only serve definitions; the rest is there in the sandbox."""
    if isinstance(node, ast.ImportFrom):
        if _is_blanked(node.module or ""):
            edits.replace(node, "pass")
        return
    kept = [alias for alias in node.names if not _is_blanked(alias.name)]
    if len(kept) < len(node.names):
        edits.replace(node, ast.unparse(ast.Import(names=kept)) if kept else "pass")


def _is_blanked(module: str) -> bool:
    return module.partition(".")[0] in _BLANKED_IMPORTS or module == "collections.abc"


def _aliases(tree: ast.Module, scope: Scope) -> list[ast.stmt]:
    """Return the statements that name a type, such as `Phase = Literal["I", "II"]`."""
    return [node for node in tree.body if scope.aliases and _names(node, ast.Store) & set(scope.aliases)]


def _blank_class(node: ast.ClassDef, body: Body, is_model: bool, edits: Edits) -> None:
    _blank_bases(node, edits)
    texts = ["pass"] * len(body.definitions)
    if is_model and texts:
        # Models are built by name in expected values; only a definition's own line can hold the constructor.
        defaults = {item.name: item.options["default"] for item in body.fields if "default" in item.options}
        values = f"{{**{quote(defaults)}, **values}}"
        texts[0] = f"def __init__(self, **values): [setattr(self, key, value) for key, value in {values}.items()]"
    for statement, replacement in zip(body.definitions, texts, strict=True):
        edits.replace(statement, replacement)
    methods = (part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
    for decorated in (node, *methods):
        for decorator in decorated.decorator_list:
            sign = edits.source.rindex(b"@", 0, edits.start(decorator))
            edits.replace_span(sign, edits.end(decorator), "")


def _blank_bases(node: ast.ClassDef, edits: Edits) -> None:
    if not node.bases:
        return
    end = edits.end(node.bases[-1])
    comma = edits.source[end : edits.source.index(b":", end)]
    end += comma.index(b",") + 1 if b"," in comma.partition(b"#")[0] else 0
    edits.replace_span(edits.start(node.bases[0]), end, "")


def _script_blocks(tree: ast.Module) -> list[ast.If]:
    """Return `if __name__ == "__main__":` and `if TYPE_CHECKING:`, which never run as part of a template."""
    return [
        statement
        for statement in tree.body
        if isinstance(statement, ast.If) and _names(statement.test, ast.Load) & {"__name__", "TYPE_CHECKING"}
    ]


def example_statements(tree: ast.Module, answer: str) -> list[ast.stmt]:
    """Return the statements that use the answer class, such as `print(Answer(target="BCL2").verify())`."""
    found: list[ast.stmt] = []
    tainted = {answer}
    for statement in tree.body:
        defines = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not defines and _names(statement, ast.Load) & tainted:
            found.append(statement)
            tainted |= _names(statement, ast.Store)
    return found


def _names(tree: ast.AST, use: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, use)}


def _handed_in(live: list[ast.AST], scope: Scope) -> dict[str, str]:
    names = {node.id for node in live if isinstance(node, ast.Name)}
    found = {name: scope.resolve(ast.Name(name)) for name in sorted(names)}
    usable = {*REGISTRY, "SynonymMap"} - _UNMETERED
    return {name: original for name, original in found.items() if original in usable}
