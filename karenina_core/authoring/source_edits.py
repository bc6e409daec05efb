"""A changed form into a template's text: only what changed is written anew, the rest stays byte for byte."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    for write in (_argument_changes, _whole_change):
        changed = _edited(source, old, spec, write)
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
    spec = read_template(source).spec
    if field_name not in {item.name for item in spec.fields}:
        raise InputError(f"The template has no field {field_name!r}.")
    data = spec.model_dump()
    data["fields"] = [(field if item.name == field_name else item).model_dump() for item in spec.fields]
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


def with_changes(data: bytes, changes: Iterable[Change]) -> str:
    """Return a text with stretches of it replaced."""
    result, reached = [], 0
    for span, text in sorted(changes, key=lambda change: change[0]):
        result += [data[reached : span.start], text]
        reached = span.end
    return b"".join([*result, data[reached:]]).decode()


def _refused(why: str) -> InputError:
    return InputError("This change cannot be written into the source.", why, "Edit the source instead.")


# --- Where the parts of a template stand -----------------------------------------------------------------------------


class Positions:
    """Translates positions of syntax nodes to bytes of the original text.

    The parser sees the text without byte order mark, with plain line ends and not indented.

    Args:
        source: The original text.
        text: What `readable` makes of it, and what was parsed.
    """

    def __init__(self, source: str, text: str) -> None:
        self.data = source.encode()
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        lines = [len(line) for line in _LINE_END.split(self.data)]
        parsed = [len(line.encode()) for line in text.split("\n")]
        self._shift = [max(0, long - short) for long, short in zip(lines, parsed, strict=False)]

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the first byte of a node."""
        return self._byte(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the byte behind a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._byte(node.end_lineno, node.end_col_offset)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Return the bytes of a node."""
        return Span(self.start(node), self.end(node))

    def class_name(self, node: ast.ClassDef) -> Span:
        """Return the bytes of the name of a class."""
        start = self.data.index(node.name.encode(), self.start(node) + len("class"))
        return Span(start, start + len(node.name.encode()))

    def lines(self, span: Span) -> Span:
        """Return the whole lines a stretch stands on, with the end of the last line."""
        start = max(self.data.rfind(b"\n", 0, span.start), self.data.rfind(b"\r", 0, span.start)) + 1
        ending = _LINE_END.search(self.data, span.end)
        return Span(start, ending.end() if ending else len(self.data))

    def _byte(self, line: int, column: int) -> int:
        return self._starts[line - 1] + self._shift[line - 1] + column


class _FieldPlace(NamedTuple):
    """Where a field is defined.

    Attributes:
        name: The field.
        statement: The whole definition.
        lines: The whole lines it stands on; None where something else stands on them too, comments aside.
        target: Its name.
        annotation: Its type.
        function: `Field` or `VerifiedField`; None where something else defines it, or arguments have no names.
        arguments: The values of its keyword arguments by name.
        argument_end: The byte behind the last argument, brackets around it included; None where there is none.
        argument_gap: What stands between arguments: a blank, or a line end and the blanks of the line.
        indent: The blanks before it.
    """

    name: str
    statement: Span
    lines: Span | None
    target: Span
    annotation: Span
    function: str | None
    arguments: Mapping[str, Span]
    argument_end: int | None
    argument_gap: bytes
    indent: bytes


class _Layout(NamedTuple):
    """Where the parts of the answer class stand: its fields, the inner class with the composition."""

    data: bytes
    newline: bytes
    fields: tuple[_FieldPlace, ...]
    strategy_lines: Span | None
    strategy_value: Span | None


def _layout_of(source: str) -> _Layout:
    text = readable(source)

    def find() -> _Layout:
        tree, at = parse_module(text), Positions(source, text)
        scope = read_scope(tree)
        answer = next(node for node in sort_classes(tree, scope).answers if node.name == "Answer")
        inner = next((node for node in answer.body if isinstance(node, ast.ClassDef)), None)
        bound = [node for node in inner.body if isinstance(node, ast.Assign | ast.AnnAssign)] if inner else []
        value = next((node.value for node in bound if node.value is not None), None)
        newline = _LINE_END.search(at.data)
        ending = newline[0] if newline else b"\n"
        return _Layout(
            at.data,
            ending,
            tuple(_field_places(answer, scope, at, ending)),
            at.lines(at.span(inner)) if inner else None,
            at.span(value) if value is not None else None,
        )

    return on_deep_stack(find)


def _field_places(answer: ast.ClassDef, scope: Scope, at: Positions, newline: bytes) -> Iterator[_FieldPlace]:
    for node in answer.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        annotation = node.annotation
        outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        if node.target.id == "model_config" or node.target.id.startswith("_") or scope.resolve(outer) == "ClassVar":
            continue
        call = node.value if isinstance(node.value, ast.Call) else None
        keywords = {item.arg: item.value for item in call.keywords if item.arg is not None} if call else {}
        last = max(keywords.values(), key=at.end, default=None)
        span = at.span(node)
        lines = at.lines(span)
        before, after = at.data[lines.start : span.start], at.data[span.end : lines.end].strip()
        gap = b" "
        if last is not None and call is not None and last.lineno != call.lineno:
            line = at.data[at.lines(at.span(last)).start :]
            gap = newline + line[: len(line) - len(line.lstrip(b" \t"))]
        yield _FieldPlace(
            name=node.target.id,
            statement=span,
            lines=lines if not before.strip() and (not after or after.startswith(b"#")) else None,
            target=at.span(node.target),
            annotation=at.span(annotation),
            function=scope.resolve(call.func) if call and not call.args else None,
            arguments={name: at.span(value) for name, value in keywords.items()},
            argument_end=None if last is None else _behind_brackets(at.data, at.end(last), span.end),
            argument_gap=gap,
            indent=before if not before.strip() else b"    ",
        )


def _behind_brackets(data: bytes, end: int, statement_end: int) -> int:
    closing = _CLOSING.match(data, end)
    while closing and closing.end() < statement_end:  # the last bracket is the call's own
        end = closing.end()
        closing = _CLOSING.match(data, end)
    return end


# --- Changes, one after the other: each finds its places in the text that the one before left ------------------------


_Writer = Callable[[_Layout, _FieldPlace, FieldSpec, FieldSpec], list[Change]]


def _edited(source: str, old: TemplateSpec, new: TemplateSpec, write: _Writer) -> str:
    source = _with_strategy(source, old, new)
    names = _current_names(old.fields, new.fields)
    by_name = {item.name: item for item in old.fields}
    for item in new.fields:
        if names[item.name] is None:
            by_name[item.name] = item
            place = _layout_of(source)
            source = with_changes(place.data, [_appended(place, _field_lines(item))])
    for name in by_name.keys() - set(filter(None, names.values())) - {item.name for item in new.fields}:
        place = _layout_of(source)
        gone = next(item for item in place.fields if item.name == name)
        source = with_changes(place.data, [(gone.lines, b"") if gone.lines else (gone.statement, b"pass")])
    place = _layout_of(source)
    texts = {item.name: place.data[item.statement.start : item.statement.end] for item in place.fields}
    changes: list[Change] = []
    # Every place of a field gets the field that belongs there, in its own text where it did not change.
    for slot, item in zip(place.fields, new.fields, strict=True):
        name = names[item.name] or item.name
        if slot.name == name:
            changes += write(place, slot, by_name[name], item) if by_name[name] != item else []
        elif by_name[name] == item:
            changes.append((slot.statement, texts[name]))
        else:
            changes += _whole_change(place, slot, by_name[name], item)
    return with_changes(place.data, changes)


def _current_names(old: Sequence[FieldSpec], new: Sequence[FieldSpec]) -> dict[str, str | None]:
    """Return by new name what a field is called now; None for fields that are added.

    A field of unknown name in the place of one that is gone is that field, renamed.
    """
    now, later = {item.name for item in old}, {item.name for item in new}
    names: dict[str, str | None] = {item.name: item.name if item.name in now else None for item in new}
    if len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            if before.name not in later and names[after.name] is None:
                names[after.name] = before.name
    return names


def _with_strategy(source: str, old: TemplateSpec, new: TemplateSpec) -> str:
    place = _layout_of(source)
    if old.verify_strategy == new.verify_strategy or (new.verify_strategy is None and place.strategy_lines is None):
        return source
    if new.verify_strategy is None and place.strategy_lines is not None:
        return with_changes(place.data, [(place.strategy_lines, b"")])
    assert new.verify_strategy is not None
    written = write_condition(new.verify_strategy).encode()
    if place.strategy_value is not None:
        return with_changes(place.data, [(place.strategy_value, written)])
    if place.strategy_lines is not None or not place.fields:
        raise _refused("Its VerificationStrategy holds no composition to replace.")
    lines = [b"", b"class VerificationStrategy:", b"    verify_strategy = " + written]
    return with_changes(place.data, [_appended(place, lines)])


def _field_lines(item: FieldSpec) -> list[bytes]:
    return [line.removeprefix("    ").encode() for line in write_field(item)]


def _appended(place: _Layout, lines: Sequence[bytes]) -> Change:
    """Return the change that puts lines behind the last field."""
    if not place.fields:
        raise _refused("The class has no field to put the new one after.")
    last = place.fields[-1]
    end = last.lines.end if last.lines else last.statement.end
    start = b"" if last.lines and place.data[:end].endswith((b"\n", b"\r")) else place.newline
    text = start + b"".join((last.indent + line if line else b"") + place.newline for line in lines)
    return Span(end, end), text


def _whole_change(place: _Layout, slot: _FieldPlace, old: FieldSpec, new: FieldSpec) -> list[Change]:
    return [(slot.statement, (place.newline + slot.indent).join(_field_lines(new)))]


def _argument_changes(place: _Layout, slot: _FieldPlace, old: FieldSpec, new: FieldSpec) -> list[Change]:
    """Return the changes of single arguments where that is enough, so that comments between them stay."""
    before, after = write_arguments(old), write_arguments(new)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    lost = changed - after.keys() - _DEFAULTS.keys()
    unnamed = {name for name in changed & before.keys() if name not in slot.arguments}
    function = "Field" if new.verify_with is None else "VerifiedField"
    if lost or unnamed or slot.function != function or slot.argument_end is None:
        return _whole_change(place, slot, old, new)
    values = _DEFAULTS | after
    changes = [(slot.arguments[name], values[name].encode()) for name in changed if name in slot.arguments]
    added = [name for name in after if name in changed and name not in slot.arguments]
    text = b"".join(b"," + slot.argument_gap + f"{name}={after[name]}".encode() for name in added)
    changes += [(Span(slot.argument_end, slot.argument_end), text)] if added else []
    if old.name != new.name:
        changes.append((slot.target, new.name.encode()))
    if write_annotation(old) != write_annotation(new):
        changes.append((slot.annotation, write_annotation(new).encode()))
    return changes
