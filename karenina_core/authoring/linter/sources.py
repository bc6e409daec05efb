"""Sources that cannot be read: what to tell of them, and the slips that a click corrects."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from karenina_core.authoring.linter.findings import Finding, Fix
from karenina_core.authoring.source_edits import Change, Positions, Span, rewritten
from karenina_core.errors import TemplateError
from karenina_core.templates import read_scope, read_template, sort_classes

_WORDS = {"true": "True", "false": "False", "null": "None", "none": "None"}
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*[ \t]*\r?\n(?P<code>.*?)\n?```\s*\Z", re.DOTALL)
_Changes = Iterator[Change]


def unreadable(source: str, error: TemplateError) -> Finding:
    """Return the finding for a source that cannot be read, with a fix where one is known that helps."""
    slip = next((slip for slip in _SLIPS if error.code in slip.errors and _helps(slip, source, error)), None)
    place = f"Line {error.line}: " if error.line else ""
    return Finding(
        code=slip.code if slip else f"source_{error.code}",
        severity="error",
        field=None,
        what=f"{place}{error.what}.",
        why=error.why or "The template cannot be read, so no answer can be judged by it.",
        next=f"{error.next[:1].upper()}{error.next[1:]}." if error.next else "Correct the source.",
        fix=Fix(slip.label, slip.corrected, "source") if slip else None,
        line=error.line,
    )


class _Slip(NamedTuple):
    """A way in which sources go wrong, and how to put it right.

    Attributes:
        code: Name of the finding.
        label: What the fix does.
        errors: Codes of the reader's errors it may be behind.
        changes: Yields the changes of the text, given its syntax tree; None for fences around the whole text.
    """

    code: str
    label: str
    errors: tuple[str, ...]
    changes: Callable[[ast.Module, Positions], _Changes] | None

    def corrected(self, source: str) -> str:
        """Return the source without this slip."""
        if self.changes is None:
            match = _FENCE.match(source)
            return match["code"] + "\n" if match else source
        return rewritten(source, self.changes)


def _helps(slip: _Slip, source: str, error: TemplateError) -> bool:
    try:
        corrected = slip.corrected(source)
        read_template(corrected)
    except TemplateError as left:
        return (left.code, left.what) != (error.code, error.what) and (left.line or 0) >= (error.line or 0)
    return corrected != source


def _python_words(tree: ast.Module, at: Positions) -> _Changes:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _WORDS:
            yield at.span(node), _WORDS[node.id].encode()


def _base(tree: ast.Module, at: Positions) -> _Changes:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Answer" and not node.bases and not node.keywords:
            name = at.class_name(node)
            behind = re.compile(rb"\s*\(\s*\)").match(at.data, name.end)
            yield Span(name.start, behind.end() if behind else name.end), b"Answer(BaseAnswer)"


def _answer_name(tree: ast.Module, at: Positions) -> _Changes:
    answers = sort_classes(tree, read_scope(tree)).answers
    for answer in answers if len(answers) == 1 else ():
        yield at.class_name(answer), b"Answer"
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == answer.name:
                yield at.span(node), b"Answer"


def _unused_imports(tree: ast.Module, at: Positions) -> _Changes:
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            if not names & used:
                yield at.span(node), b"pass"


_SLIPS = (
    _Slip("code_fences", "Remove the fences around the code", ("syntax",), None),
    _Slip("literal_words", "Write True, False and None", ("literal",), _python_words),
    _Slip("base_missing", "Let Answer inherit from BaseAnswer", ("bases", "no_answer"), _base),
    _Slip("class_name", "Name the class Answer", ("class_name",), _answer_name),
    _Slip("import_unused", "Remove imports that nothing uses", ("import",), _unused_imports),
)
