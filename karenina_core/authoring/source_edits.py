"""A changed form into a template's text: only what changed is written anew, the rest stays byte for byte."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from karenina_core.errors import InputError, TemplateError
from karenina_core.templates import (
    FieldSpec,
    Scope,
    TemplateSpec,
    on_deep_stack,
    parse_module,
    read_scope,
    read_template,
    readable,
    sort_classes,
    write_annotation,
    write_arguments,
    write_condition,
    write_field,
    write_template,
)

_LINE_END = re.compile(rb"\r\n|\r|\n")
_CLOSING = re.compile(rb"(?:\s|#[^\r\n]*)*\)")
_DEFAULTS = {"weight": "1.0", "extraction_hint": "None"}


class Span(NamedTuple):
    """A stretch of the text: its first byte and the byte behind it."""

    start: int
    end: int


Change = tuple[Span, bytes]
"""A stretch of the text and what takes its place."""


def edit_source(source: str, spec: TemplateSpec) -> str:
    """Return a template's text changed so that reading it gives `spec`.

    Comments, methods, helpers, blank lines and the spelling of whatever did not change stay. A text that says the
    spec already is returned as it is; a blank one is written anew.

    Raises:
        TemplateError: The source cannot be read.
        InputError: The spec cannot be written into this source, or verifies nothing.
    """
    if not source.strip():
        return write_template(spec)
    old = read_template(source).spec
    if old == spec:
        return source
    if old.models != spec.models or old.own_code != spec.own_code:
        raise _refused("Nested models and methods are not part of the form.")
    reason = ""
    for whole in (False, True):
        changed = rewritten(source, partial(_changes, old=old, new=spec, whole=whole))
        try:
            if read_template(changed).spec == spec:
                return changed
            reason = "Reading the changed source gives something else."
        except TemplateError as error:
            reason = str(error)
    raise _refused(reason)


def replace_field(source: str, field_name: str, field: FieldSpec) -> str:
    """Return a template's text with one field changed and everything else as it was.

    Args:
        source: A template that can be read.
        field_name: The field as it is named now; compositions follow where the new field has another name.
        field: What it shall be.

    Raises:
        TemplateError: The source cannot be read.
        InputError: There is no such field, or the source cannot hold the new one.
    """
    data = read_template(source).spec.model_dump()
    names = [item["name"] for item in data["fields"]]
    if field_name not in names:
        raise InputError(f"The template has no field {field_name!r}.")
    data["fields"][names.index(field_name)] = field.model_dump()
    data["verify_strategy"] = renamed(data["verify_strategy"], field_name, field.name)
    return edit_source(source, TemplateSpec.model_validate(data))


def renamed(condition: object, old: str, new: str) -> object:
    """Return a composition, as data, that looks at a field by another name."""
    if isinstance(condition, list):
        return [renamed(part, old, new) for part in condition]
    if isinstance(condition, dict):
        changed = {key: renamed(part, old, new) for key, part in condition.items()}
        return {**changed, "field_name": new} if condition.get("field_name") == old else changed
    return condition


def _refused(why: str) -> InputError:
    return InputError("This change cannot be written into the source.", why, "Edit the source instead.")


# --- Texts and their syntax trees ------------------------------------------------------------------------------------


class Positions:
    """Translates positions of syntax nodes to bytes of the original text.

    The parser sees the text without byte order mark, with plain line ends and not indented.

    Args:
        source: The original text.
        text: What `readable` makes of it, and what was parsed.
    """

    def __init__(self, source: str, text: str) -> None:
        self.data = source.encode()
        ending = _LINE_END.search(self.data)
        self.newline = ending[0] if ending else b"\n"
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        lines = [len(line) for line in _LINE_END.split(self.data)]
        parsed = [len(line.encode()) for line in text.split("\n")]
        self._shift = [max(0, long - short) for long, short in zip(lines, parsed, strict=False)]

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Return the bytes of a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(self._byte(node.lineno, node.col_offset), self._byte(node.end_lineno, node.end_col_offset))

    def class_name(self, node: ast.ClassDef) -> Span:
        """Return the bytes of the name of a class."""
        start = self.data.index(node.name.encode(), self.span(node).start + len("class"))
        return Span(start, start + len(node.name.encode()))

    def lines(self, span: Span) -> Span:
        """Return the whole lines a stretch stands on, with the end of the last line."""
        start = max(self.data.rfind(b"\n", 0, span.start), self.data.rfind(b"\r", 0, span.start)) + 1
        ending = _LINE_END.search(self.data, span.end)
        return Span(start, ending.end() if ending else len(self.data))

    def _byte(self, line: int, column: int) -> int:
        return self._starts[line - 1] + self._shift[line - 1] + column


def rewritten(source: str, find: Callable[[ast.Module, Positions], Iterable[Change]]) -> str:
    """Return a text with the changes that are found in its syntax tree.

    Raises:
        TemplateError: It is no Python.
    """
    text = readable(source)
    at = Positions(source, text)
    result, reached = [], 0
    changes = on_deep_stack(lambda: list(find(parse_module(text), at)))
    for span, new in sorted(changes, key=lambda change: change[0]):
        result += [at.data[reached : span.start], new]
        reached = span.end
    return b"".join([*result, at.data[reached:]]).decode()


# --- What changes from one spec to another ---------------------------------------------------------------------------


class _Slot:
    """Where a field is defined.

    Attributes:
        call: What defines it with nothing but named arguments; None where something else does.
        arguments: The values of these arguments by name.
        statement: The whole definition.
        lines: The whole lines it stands on; None where something else stands on them too, comments aside.
        indent: The blanks before it.
    """

    def __init__(self, node: ast.AnnAssign, name: str, at: Positions) -> None:
        self.node, self.name = node, name
        self.call = node.value if isinstance(node.value, ast.Call) and not node.value.args else None
        keywords = self.call.keywords if self.call else []
        self.arguments = {item.arg: item.value for item in keywords if item.arg is not None}
        self.statement = at.span(node)
        lines = at.lines(self.statement)
        before, after = at.data[lines.start : self.statement.start], at.data[self.statement.end : lines.end].strip()
        self.lines = lines if not before.strip() and (not after or after.startswith(b"#")) else None
        self.indent = before if not before.strip() else b"    "


def _slots(answer: ast.ClassDef, scope: Scope, at: Positions) -> Iterator[_Slot]:
    for node in answer.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, annotation = node.target.id, node.annotation
            outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
            if name != "model_config" and not name.startswith("_") and scope.resolve(outer) != "ClassVar":
                yield _Slot(node, name, at)


def _changes(tree: ast.Module, at: Positions, old: TemplateSpec, new: TemplateSpec, whole: bool) -> Iterator[Change]:
    """Yield what makes a template of another spec; fields that change are written as a `whole`, or by argument."""
    scope = read_scope(tree)
    answer = next(node for node in sort_classes(tree, scope).answers if node.name == "Answer")
    slots = {slot.name: slot for slot in _slots(answer, scope, at)}
    names, before = _current_names(old.fields, new.fields), {item.name: item for item in old.fields}
    kept = [slot for slot in slots.values() if slot.name in names]
    gone = [slot for slot in slots.values() if slot.name not in names]
    yield from ((slot.lines or slot.statement, b"" if slot.lines else b"pass") for slot in gone)
    added: list[bytes] = []
    # The fields fill the slots in their order, each in its own text where it did not change.
    for slot, item, name in zip_longest(kept, new.fields, names):
        own = slots[name] if name is not None and before[name] == item else None
        lines = [at.data[slice(*own.statement)]] if own else _field_lines(item)
        if slot is None:
            added += lines
        elif slot.name != name or (whole and not own):
            yield slot.statement, (at.newline + slot.indent).join(lines)
        elif not own:
            yield from _argument_changes(at, scope, slot, before[slot.name], item)
    if old.verify_strategy != new.verify_strategy:
        inner = next((node for node in answer.body if isinstance(node, ast.ClassDef)), None)
        bound = [node for node in inner.body if isinstance(node, ast.Assign | ast.AnnAssign)] if inner else []
        value = next((node.value for node in bound if node.value is not None), None)
        condition = b"" if new.verify_strategy is None else write_condition(new.verify_strategy).encode()
        if inner is None:
            added += [b"", b"class VerificationStrategy:", b"    verify_strategy = " + condition]
        elif not condition or value is None:
            yield at.lines(at.span(inner)), b""
        else:
            yield at.span(value), condition
    if added:
        yield _appended(at, list(slots.values()), added)


def _current_names(old: Sequence[FieldSpec], new: Sequence[FieldSpec]) -> list[str | None]:
    """Return for every new field what it is called now; None for one that is added.

    A field of unknown name in the place of one that is gone is that field, renamed.
    """
    now, later = {item.name for item in old}, {item.name for item in new}
    places = [item.name if item.name not in later and len(old) == len(new) else None for item in old]
    return [item.name if item.name in now else place for item, place in zip_longest(new, places[: len(new)])]


def _field_lines(item: FieldSpec) -> list[bytes]:
    return [line.removeprefix("    ").encode() for line in write_field(item)]


def _appended(at: Positions, slots: Sequence[_Slot], lines: Sequence[bytes]) -> Change:
    """Return the change that puts lines behind the last field."""
    if not slots:
        raise _refused("The class has no field to put the new one after.")
    last = slots[-1]
    end = (last.lines or last.statement).end
    start = b"" if last.lines and at.data[:end].endswith((b"\n", b"\r")) else at.newline
    text = start + b"".join((last.indent + line if line else b"") + at.newline for line in lines)
    return Span(end, end), text


def _argument_changes(at: Positions, scope: Scope, slot: _Slot, old: FieldSpec, new: FieldSpec) -> Iterator[Change]:
    """Yield the changes of single arguments where that is enough, so that comments between them stay."""
    before, after = write_arguments(old), write_arguments(new)
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    added = [name for name in changed if name not in slot.arguments]
    function = "Field" if new.verify_with is None else "VerifiedField"
    fits = slot.call is not None and slot.arguments and scope.resolve(slot.call.func) == function
    values = _DEFAULTS | after
    if not fits or set(changed) - values.keys() or before.keys() & added:
        yield slot.statement, (at.newline + slot.indent).join(_field_lines(new))
        return
    yield at.span(slot.node.target), new.name.encode()
    if write_annotation(old) != write_annotation(new):
        yield at.span(slot.node.annotation), write_annotation(new).encode()
    yield from ((at.span(slot.arguments[name]), values[name].encode()) for name in changed if name not in added)
    end, gap = _behind_arguments(at, slot)
    yield Span(end, end), b"".join(b"," + gap + f"{name}={after[name]}".encode() for name in added)


def _behind_arguments(at: Positions, slot: _Slot) -> tuple[int, bytes]:
    """Return the byte behind the last argument, brackets around it included, and what stands between arguments."""
    last = list(slot.arguments.values())[-1]
    end, gap = at.span(last).end, b" "
    closing = _CLOSING.match(at.data, end)
    while closing and closing.end() < slot.statement.end:  # the last bracket is the call's own
        end = closing.end()
        closing = _CLOSING.match(at.data, end)
    if slot.call is not None and last.lineno != slot.call.lineno:
        line = at.data[at.lines(at.span(last)).start :]
        gap = at.newline + line[: len(line) - len(line.lstrip(b" \t"))]
    return end, gap
