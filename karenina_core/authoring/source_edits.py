"""A changed form into a template's text: only what changed is written anew, the rest stays byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from karenina_core.authoring.layout import FieldPlace, Layout, Span, layout_of, line_span
from karenina_core.errors import InputError, TemplateError
from karenina_core.templates import (
    FieldSpec,
    TemplateSpec,
    read_template,
    write_annotation,
    write_arguments,
    write_condition,
    write_field,
    write_template,
)

_REQUIRED = frozenset({"description", "ground_truth", "verify_with"})


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
    for write in (_write_arguments, _write_whole):
        changed = _changed(source, old, spec, write)
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
    if isinstance(condition, list):
        return [renamed(part, old, new) for part in condition]
    if isinstance(condition, dict):
        changed = {key: renamed(part, old, new) for key, part in condition.items()}
        return {**changed, "field_name": new} if condition.get("field_name") == old else changed
    return condition


_Writer = Callable[[Layout, FieldPlace, FieldSpec, FieldSpec], list[tuple[Span, bytes]]]


def _changed(source: str, old: TemplateSpec, new: TemplateSpec, write: _Writer) -> str:
    """Apply the changes one after the other: each finds its places in the text that the one before left."""
    names = _current_names(old.fields, new.fields)
    source = _with_strategy(source, old, new)
    source = _with_added(source, old, [item for item in new.fields if names[item.name] is None])
    kept = {name for name in names.values() if name is not None}
    source = _without(source, old, {item.name for item in old.fields} - kept)
    by_name = {item.name: item for item in old.fields} | {
        item.name: item for item in new.fields if not names[item.name]
    }
    source = _with_fields(
        source, old.class_name, by_name, [(names[item.name] or item.name, item) for item in new.fields], write
    )
    if old.class_name != new.class_name:
        place = layout_of(source, old.class_name)
        source = _applied(place.data, [(place.name, new.class_name.encode())])
    return source


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
    if old.verify_strategy == new.verify_strategy:
        return source
    place = layout_of(source, old.class_name)
    if new.verify_strategy is None:
        if place.strategy_class is None:
            return source
        return _applied(place.data, [(_removal(place.data, place.strategy_class), b"")])
    written = write_condition(new.verify_strategy).encode()
    if place.strategy_value is not None:
        return _applied(place.data, [(place.strategy_value, written)])
    if place.strategy_class is not None or not place.fields:
        raise _refused("Its VerificationStrategy holds no composition to replace.")
    return _applied(
        place.data, [_appended(place, [b"class VerificationStrategy:", b"    verify_strategy = " + written])]
    )


def _with_added(source: str, old: TemplateSpec, added: Sequence[FieldSpec]) -> str:
    for item in added:
        place = layout_of(source, old.class_name)
        if not place.fields:
            raise _refused("The class has no field to put the new one after.")
        lines = [line.removeprefix("    ").encode() for line in write_field(item)]
        source = _applied(place.data, [_appended(place, lines, blank=False)])
    return source


def _without(source: str, old: TemplateSpec, removed: set[str]) -> str:
    for name in removed:
        place = layout_of(source, old.class_name)
        found = next(item for item in place.fields if item.name == name)
        change = (_removal(place.data, found.statement), b"") if found.alone else (found.statement, b"pass")
        source = _applied(place.data, [change])
    return source


def _with_fields(
    source: str,
    class_name: str,
    by_name: Mapping[str, FieldSpec],
    wanted: Sequence[tuple[str, FieldSpec]],
    write: _Writer,
) -> str:
    """Give every place of a field the field that belongs there, in its own text where it did not change."""
    place = layout_of(source, class_name)
    texts = {item.name: place.data[item.statement.start : item.statement.end] for item in place.fields}
    changes: list[tuple[Span, bytes]] = []
    for slot, (name, item) in zip(place.fields, wanted, strict=True):
        if slot.name == name:
            changes += write(place, slot, by_name[name], item) if by_name[name] != item else []
        elif by_name[name] == item:
            changes.append((slot.statement, texts[name]))
        else:
            changes += _write_whole(place, slot, by_name[name], item)
    return _applied(place.data, changes)


def _write_whole(place: Layout, slot: FieldPlace, old: FieldSpec, new: FieldSpec) -> list[tuple[Span, bytes]]:
    lines = [line.removeprefix("    ").encode() for line in write_field(new)]
    return [(slot.statement, (place.newline + slot.indent).join(lines))]


def _write_arguments(place: Layout, slot: FieldPlace, old: FieldSpec, new: FieldSpec) -> list[tuple[Span, bytes]]:
    """Return the changes of single arguments where that is enough, so that comments between them stay."""
    before, after = write_arguments(old), write_arguments(new)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    lost = changed - after.keys() - {"weight", "extraction_hint"}
    unnamed = {name for name in changed & before.keys() if name not in slot.arguments}
    function = "Field" if new.verify_with is None else "VerifiedField"
    if lost or unnamed or slot.positional or slot.function != function or slot.argument_end is None:
        return _write_whole(place, slot, old, new)
    defaults = {"weight": "1.0", "extraction_hint": "None"}
    changes = [(slot.arguments[name], _argument(name, after, defaults)) for name in changed if name in slot.arguments]
    added = [name for name in after if name in changed and name not in slot.arguments]
    if added:
        gap = b" " if slot.argument_indent is None else place.newline + slot.argument_indent
        text = b"".join(b"," + gap + f"{name}={after[name]}".encode() for name in added)
        changes.append((Span(slot.argument_end, slot.argument_end), text))
    if old.name != new.name:
        changes.append((slot.target, new.name.encode()))
    if write_annotation(old) != write_annotation(new):
        changes.append((slot.annotation, write_annotation(new).encode()))
    return changes


def _argument(name: str, written: Mapping[str, str], defaults: Mapping[str, str]) -> bytes:
    return written.get(name, defaults.get(name, "")).encode()


def _appended(place: Layout, lines: Sequence[bytes], *, blank: bool = True) -> tuple[Span, bytes]:
    """Return the change that puts lines behind the last field."""
    last = place.fields[-1]
    end = line_span(place.data, last.statement).end if last.alone else last.statement.end
    start = b"" if last.alone and place.data[:end].endswith((b"\n", b"\r")) else place.newline
    gap = place.newline if blank else b""
    text = start + gap + b"".join(last.indent + line + place.newline for line in lines)
    return Span(end, end), text


def _removal(data: bytes, span: Span) -> Span:
    return line_span(data, span)


def _applied(data: bytes, changes: Sequence[tuple[Span, bytes]]) -> str:
    result, reached = [], 0
    for span, text in sorted(changes, key=lambda change: change[0]):
        result += [data[reached : span.start], text]
        reached = span.end
    return b"".join([*result, data[reached:]]).decode()


def _refused(why: str) -> InputError:
    return InputError("This change cannot be written into the source.", why, "Edit the source instead.")
