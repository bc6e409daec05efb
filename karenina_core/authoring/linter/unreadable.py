"""Sources that cannot be read: what to say of them, and the slips that a click mends."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from karenina_core import patterns
from karenina_core.authoring.layout import Positions, Span
from karenina_core.authoring.linter.finding import Finding, SourceFix
from karenina_core.errors import TemplateError
from karenina_core.templates import on_deep_stack, parse_module, quote, read_template, readable

_WORDS = {"true": "True", "false": "False", "null": "None", "none": "None"}
_TYPES: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "str"}
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*[ \t]*\r?\n(?P<code>.*?)\n?```\s*\Z", re.DOTALL)

_Changes = Iterator[tuple[Span, str]]


def unreadable(source: str, error: TemplateError) -> Finding:
    """Return the finding for a source that cannot be read, with a fix where one is known that helps."""
    code, fix = next(
        ((slip.code, SourceFix(slip.label, slip.mend)) for slip in _SLIPS if _helps(slip, source, error)),
        (f"source_{error.code}", None),
    )
    place = f"Line {error.line}: " if error.line else ""
    return Finding(
        code=code,
        severity="error",
        field=None,
        what=f"{place}{error.what}.",
        why=error.why or "The template cannot be read, so no answer can be judged by it.",
        next=f"{error.next[:1].upper()}{error.next[1:]}." if error.next else "Correct the source.",
        fix=fix,
        line=error.line,
    )


class _Slip:
    """A way in which sources go wrong, and how to put it right.

    Args:
        code: Name of the finding.
        label: What the fix does.
        errors: Codes of the reader's errors it may be behind; of all where there is none.
        change: Yields the changes of the text, given its syntax tree; or changes the text itself.
    """

    def __init__(
        self,
        code: str,
        label: str,
        errors: Sequence[str],
        change: Callable[[ast.Module, Positions], _Changes],
    ) -> None:
        self.code = code
        self.label = label
        self.errors = errors
        self._change = change

    def mend(self, source: str) -> str:
        """Return the source without this slip."""
        text = readable(source)
        positions = Positions(source, text)
        changes = on_deep_stack(lambda: sorted(self._change(parse_module(text), positions)))
        result, reached = [], 0
        for span, new in changes:
            result += [positions.data[reached : span.start], new.encode()]
            reached = span.end
        return b"".join([*result, positions.data[reached:]]).decode()


class _Fences(_Slip):
    def mend(self, source: str) -> str:
        match = _FENCE.match(source)
        return match["code"] + "\n" if match else source


def _helps(slip: _Slip, source: str, error: TemplateError) -> bool:
    if error.code not in slip.errors:
        return False
    try:
        mended = slip.mend(source)
        read_template(mended)
    except TemplateError as next_error:
        return mended_away(error, next_error)
    return mended != source


def mended_away(before: TemplateError, after: TemplateError) -> bool:
    """Whether another error is left than the one before, further down."""
    return (after.code, after.what) != (before.code, before.what) and (after.line or 0) >= (before.line or 0)


def _calls(tree: ast.Module, names: Sequence[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in names:
                yield node


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _escaped_patterns(tree: ast.Module, at: Positions) -> _Changes:
    for call in _calls(tree, ("RegexMatch", "TraceRegex")):
        value = _argument(call, "pattern")
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and not _compiles(value.value):
            yield at.span(value), quote(re.escape(value.value))


def _compiles(pattern: str) -> bool:
    try:
        patterns.validate(pattern)
    except ValueError:
        return False
    return True


def _fields(tree: ast.Module) -> Iterator[ast.AnnAssign]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (item for item in node.body if isinstance(item, ast.AnnAssign))


def _bools_for_traces(tree: ast.Module, at: Positions) -> _Changes:
    for item in _fields(tree):
        rule = _argument(item.value, "verify_with") if isinstance(item.value, ast.Call) else None
        name = ast.unparse(rule.func) if isinstance(rule, ast.Call) else ""
        if name.rpartition(".")[2].startswith("Trace") and ast.unparse(item.annotation) != "bool":
            yield at.span(item.annotation), "bool"


def _other_names(tree: ast.Module, at: Positions) -> _Changes:
    for node in (item for item in tree.body if isinstance(item, ast.ClassDef)):
        targets = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
        taken = {target.id for target in targets if isinstance(target, ast.Name)}
        seen: set[str] = set()
        for target in targets:
            if isinstance(target, ast.Name) and target.id in seen:
                free = next(f"{target.id}_{n}" for n in range(2, len(targets) + 2) if f"{target.id}_{n}" not in taken)
                taken.add(free)
                yield at.span(target), free
            elif isinstance(target, ast.Name):
                seen.add(target.id)


def _python_words(tree: ast.Module, at: Positions) -> _Changes:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _WORDS:
            yield at.span(node), _WORDS[node.id]


def _base(tree: ast.Module, at: Positions) -> _Changes:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Answer" and not node.bases and not node.keywords:
            name = at.class_name(node)
            behind = re.compile(rb"\s*\(\s*\)").match(at.data, name.end)
            yield Span(name.start, behind.end() if behind else name.end), "Answer(BaseAnswer)"


def _weights(tree: ast.Module, at: Positions) -> _Changes:
    for call in _calls(tree, ("VerifiedField",)):
        weight = _argument(call, "weight")
        if isinstance(weight, ast.Constant) and weight.value == 0:
            yield at.span(weight), "1.0"


def _types(tree: ast.Module, at: Positions) -> _Changes:
    for node in (item for item in tree.body if isinstance(item, ast.ClassDef)):
        for item in node.body:
            if isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.value, ast.Call):
                truth = _argument(item.value, "ground_truth")
                value = truth.value if isinstance(truth, ast.Constant) else None
                kind = "list[str]" if isinstance(truth, ast.List) else _TYPES.get(type(value), "str")
                end = at.end(item.targets[0])
                yield Span(end, end), f": {kind}"


def _unused_imports(tree: ast.Module, at: Positions) -> _Changes:
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            if not names & used:
                yield at.span(node), "pass"


_SLIPS = (
    _Fences("code_fences", "Remove the fences around the code", ("syntax",), lambda tree, at: iter(())),
    _Slip("regex_invalid", "Look for the text literally", ("bad_primitive",), _escaped_patterns),
    _Slip("trace_not_bool", "Type the field bool", ("type",), _bools_for_traces),
    _Slip("duplicate_field", "Give the second field another name", ("duplicate",), _other_names),
    _Slip("literal_words", "Write True, False and None", ("literal",), _python_words),
    _Slip("base_missing", "Let Answer inherit from BaseAnswer", ("bases", "no_answer"), _base),
    _Slip("weight_zero_on_all", "Give the fields the weight 1", ("schema",), _weights),
    _Slip("type_missing", "Type the fields as their truths", ("untyped",), _types),
    _Slip("import_unused", "Remove imports that nothing uses", ("import",), _unused_imports),
)
