"""The form of one template field: name, type, what the judge looks for, the truth, the rule and its normalisers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core import patterns
from karenina_core.authoring import (
    FormData,
    Parameter,
    parameters_of,
    read_lines,
    read_pairs,
    read_typed,
    set_name,
    set_parameter,
    set_rule,
    set_type,
    set_value,
    summary_of,
    write_lines,
    write_pairs,
    write_typed,
)
from karenina_core.schemas import (
    FIELD_TYPES,
    NORMALIZER_WORDS,
    NORMALIZERS,
    SYNONYMS,
    applicable,
    code_name,
    field_kind,
    is_number,
    is_whole,
    normalize,
    quoted,
    read_date,
    rule_help,
    rule_title,
    suggest,
    title,
)
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive, VerificationPrimitive
from karenina_core.templates import FieldSpec
from pages.components import forms
from pages.components.templates.state import Form, change
from pages.components.text import input_label, plain, short
from pages.components.widgets import fingerprint

TYPES = {name: FIELD_TYPES[name].title for name in ("bool", "int", "float", "str", "list_str", "literal", "date")}
_KIND_NAMES = {"list[str]": "lists", "literal": "options", "bool": "yes or no", "str": "texts", "date": "dates",
               "int": "numbers", "float": "numbers"}  # fmt: skip
_FLAGS = [name for name in patterns.FLAGS if name != "LOCALE"]
_SMALL = ("bool", "int", "float", "choice")
_TYPED = {"text": "str", "texts": "list_str", "data": "other"}  # the type of a field that is typed like it
_EXACT = 2**53 - 1  # whole numbers a browser holds exactly
_TALL, _WIDE = 90, 60  # height of a box of lines; characters from which a text gets one


def draw(form: Form, place: int, locked: Mapping[str, str]) -> None:
    """Draw the widgets of a field.

    Args:
        form: What was typed.
        place: Of the field.
        locked: Why the type of a field cannot be chosen, by field.
    """
    item = form.fields[place]
    names, types, weights = st.columns([5, 5, 3])
    name_help = "As in Python: letters, digits and underscores."
    with names:
        bound = form.bind(lambda data, name: set_name(data, place, name), place, "name")
        st.text_input("Name", str(item.get("name") or ""), help=name_help, **bound)
    with types:
        _type(form, place, locked)
    if item.get("verify_with") is not None:
        with weights:
            st.number_input(
                "Weight",
                value=float(item.get("weight", 1.0)),
                min_value=0.0,
                step=0.5,
                format="%g",
                help="Its share in the score of partly right answers. The verdict does not depend on it.",
                **_value(form, place, "weight", float),
            )
    st.text_area(
        "What the judge looks for",
        str(item.get("description") or ""),
        height=80,
        placeholder="One sentence on what to find in the response, without the truth",
        **_value(form, place, "description", str),
    )
    if item.get("type") == "literal":
        options, bound = (
            write_lines(item.get("literal_values") or []),
            _value(form, place, "literal_values", read_lines),
        )
        st.text_area("Options, one a line", options, height=_TALL, help="The judge chooses one of them.", **bound)
    if item.get("verify_with"):
        _truth(form, place)
    _rule(form, place)
    if not _reads_response(item):
        st.text_input(
            "Hint for the judge (optional)",
            str(item.get("extraction_hint") or ""),
            help="Extra help with this field, shown to the judge where the run says so. Never the truth.",
            **_value(form, place, "extraction_hint", lambda text: text or None),
        )
    if item.get("options"):
        others = ", ".join(f"{name}={value!r}" for name, value in item["options"].items())
        st.caption(f":material/tune: Also set in the source: {plain(others, 300)}")


def _value(form: Form, place: int, name: str, read: Callable[[Any], Any]) -> dict[str, Any]:
    return form.bind(lambda data, typed: set_value(data, place, name, read(typed)), place, name)


def _type(form: Form, place: int, locked: Mapping[str, str]) -> None:
    item = form.fields[place]
    kind = str(item.get("type"))
    if kind not in TYPES:
        annotation = str(item.get("annotation") or kind)
        st.text_input("Type", annotation, disabled=True, key=form.key(place, "locked"))
        st.caption(plain(locked.get(str(item.get("name")), "")))
        return
    reads_dates = str((item.get("verify_with") or {}).get("type")).startswith("Date")
    bound = form.bind(lambda data, value: set_type(data, place, value), place, "type", reads_dates)
    st.selectbox("Type", list(TYPES), index=list(TYPES).index(kind), format_func=TYPES.__getitem__, **bound)


def _truth(form: Form, place: int) -> None:
    item = form.fields[place]
    kind, value, rule = str(item.get("type")), item.get("ground_truth"), _class_of(item)
    # What decides which widget shows the truth.
    shape = type(value).__name__ if kind in ("bool", "int", "float") else ""
    shape = fingerprint(repr(item.get("literal_values"))) if kind == "literal" else shape
    bound = form.bind(
        lambda data, typed: set_value(data, place, "ground_truth", value_of(kind, typed)), place, "truth", kind, shape
    )
    options = item.get("literal_values") or []
    if _reads_response(item):
        words = ("Yes, it should hold", "No, it should not hold")
        value_input("Should hold for the response", kind, value, options, words=words, **bound)
    else:
        value_input(label_of(kind, "Ground truth"), kind, value, options, **bound)
    if rule is not None and issubclass(rule, VerificationPrimitive) and not rule.uses_ground_truth:
        st.caption(f"{rule.__name__} decides by its parameters; the truth is for people, N/A is usual.")
    elif kind == "date" and value not in (None, ""):
        how = item.get("verify_with") or {}
        read = read_date(value, how.get("format"), bool(how.get("dayfirst")))
        st.caption(f"Read as {plain(read)}" if read is not None else ":material/error: This cannot be read as a date.")


def _class_of(item: Mapping[str, Any]) -> Any:
    return REGISTRY.get(str((item.get("verify_with") or {}).get("type")))


def _reads_response(item: Mapping[str, Any]) -> bool:
    rule = _class_of(item)
    return rule is not None and issubclass(rule, TracePrimitive)


# The rule: a primitive, its parameters as its model lists them, its normalisers in order.


def _rule(form: Form, place: int) -> None:
    item = form.fields[place]
    rule, kind = item.get("verify_with"), str(item.get("type"))
    fitting = [cls.__name__ for cls in applicable(kind)]
    options = [*fitting, *(other for other in REGISTRY if other not in fitting), None]
    st.selectbox(
        "Rule",
        options,
        index=options.index(str(rule["type"]) if rule else None),
        format_func=lambda other: _rule_label(other, kind),
        help="What decides whether the extracted value is right. The rules made for the type come first.",
        **form.bind(lambda data, value: set_rule(data, place, value), place, "rule", kind),
    )
    if rule is None:
        st.caption("Without a rule the judge extracts the field, and it decides nothing.")
        return
    cls = REGISTRY[str(rule["type"])]
    st.caption(plain(summary_of(cls)), help=rule_help(cls.__name__))
    entries = parameters_of(cls)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for entry in entries:
            if entry.kind in _SMALL:
                _parameter(form, place, entry)
    for entry in entries:
        if entry.kind == "normalizers":
            _normalizers(form, place, entry)
        elif entry.kind not in _SMALL:
            _parameter(form, place, entry)


def _rule_label(name: str | None, kind: str) -> str:
    if name is None:
        return "None: it decides nothing"
    cls, label = REGISTRY[name], rule_title(name)
    if cls is suggest(kind):
        return f"{label} (suggested)"
    if field_kind(kind) in cls.applies_to or not cls.applies_to:
        return label
    return f"{label} (made for {_KIND_NAMES[cls.applies_to[0]]})"


def _parameter(form: Form, place: int, entry: Parameter) -> None:
    rule = form.fields[place]["verify_with"]

    def store(data: FormData, typed: Any) -> FormData:
        return set_parameter(data, place, entry.name, parameter_of(entry, typed))

    parameter_input(entry, rule.get(entry.name), **form.bind(store, place, "parameter", rule["type"], entry.name))


def _normalizers(form: Form, place: int, entry: Parameter) -> None:
    rule = form.fields[place]["verify_with"]
    steps = list(rule.get(entry.name) or [])

    def put(data: FormData, changed: Sequence[Any]) -> FormData:
        return set_parameter(data, place, entry.name, list(changed))

    st.markdown("Normalisers, in this order", help=entry.meaning or None)
    if not steps:
        st.caption("None: every character counts.")
    for at, step in enumerate(steps):
        _step(form, place, steps, at, put)
        if isinstance(step, dict):

            def with_pairs(data: FormData, typed: str, at: int = at) -> FormData:
                return put(data, [*steps[:at], {"mapping": read_pairs(typed)}, *steps[at + 1 :]])

            st.text_area(
                f"Synonyms of step {at + 1}: spelling = meaning, one a line",
                write_pairs(step.get("mapping")),
                height=_TALL,
                help="The whole text is looked up once, as the steps before leave it.",
                **form.bind(with_pairs, place, rule["type"], at, "pairs"),
            )
    truth = form.fields[place].get("ground_truth")

    def added(data: FormData, name: str | None) -> FormData:
        return data if name is None else put(data, [*steps, _new_step(name, truth, steps)])

    st.selectbox(
        "Add a normaliser",
        [name for name in NORMALIZER_WORDS if name not in steps],
        index=None,
        placeholder="Add a normaliser",
        label_visibility="collapsed",
        format_func=lambda name: f"{title(name)} ({name}): {NORMALIZER_WORDS[name].meaning}",
        **form.bind(added, place, rule["type"], "add", anew=True),
    )


def _step(
    form: Form, place: int, steps: Sequence[Any], at: int, put: Callable[[FormData, Sequence[Any]], FormData]
) -> None:
    rest = [*steps[:at], *steps[at + 1 :]]
    moves = {
        "Up": ("arrow_upward", [*rest[: at - 1], steps[at], *rest[at - 1 :]], at > 0),
        "Down": ("arrow_downward", [*rest[: at + 1], steps[at], *rest[at + 1 :]], at + 1 < len(steps)),
        "Remove": ("close", rest, True),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        code = f"In the template: {plain(code_name(steps[at]))}"
        st.markdown(f"{at + 1} · {plain(title(steps[at]))}", width="stretch", help=code)
        for label, (icon, changed, possible) in moves.items():
            forms.button(
                label,
                icon,
                form.key(place, "step", at, label),
                type="tertiary",
                disabled=not possible,
                on_click=change,
                args=(form.draft, lambda data, changed=changed: put(data, changed)),
                kwargs={"anew": True},
            )


def _new_step(name: str, truth: Any, steps: Sequence[Any]) -> Any:
    """Return a new step; a map of synonyms begins with the truth, as the steps before leave it."""
    if name != SYNONYMS:
        return name
    if not isinstance(truth, str) or not truth:
        return {"mapping": {}}
    seen = normalize(truth, [step for step in steps if isinstance(step, str) and step in NORMALIZERS])
    return {"mapping": {seen: seen}}


# Values: the widget that fits the type, and a plain text box for what does not.


def value_input(
    label: str,
    kind: str,
    value: Any,
    choices: Sequence[Any] = (),
    *,
    words: tuple[str, str] = ("Yes (True)", "No (False)"),
    **widget: Any,
) -> Any:
    """Draw the widget for a value of some type; `value_of` turns what it returns into the value.

    Args:
        label: Of the widget.
        kind: A type of a template field, such as `int`.
        value: The value it starts with, of whatever type.
        choices: What a `literal` may be.
        words: How True and False are called.
        **widget: Further arguments of the widget: `key`, `help`, `on_change`.
    """
    if kind == "bool" and (value is None or isinstance(value, bool)):
        return _choice(label, [True, False], value, {True: words[0], False: words[1]}, widget)
    if kind == "literal":
        is_option = any(type(item) is type(value) and item == value for item in choices)
        if is_option or value in (None, ""):
            return _choice(label, choices, value, {}, widget)
        names = {value: f"{short(value, 60)} (none of the options)"} if isinstance(value, str | int | float) else {}
        return _choice(label, [*choices, value], value, names, widget)
    if kind == "int" and (value is None or (is_whole(value) and abs(value) <= _EXACT)):
        return st.number_input(label, value=value, step=1, **widget)
    if kind == "float" and (value is None or (is_number(value) and abs(value) <= _EXACT)):
        return st.number_input(label, value=None if value is None else float(value), step=0.01, format="%g", **widget)
    text = write_typed(kind, value)
    if kind in ("list_str", "other") or "\n" in text or len(text) > _WIDE:
        return st.text_area(label, text, height=_TALL, **widget)
    return st.text_input(label, text, **widget)


def value_of(kind: str, typed: Any) -> Any:
    """Return the value that a widget of `value_input` holds."""
    return read_typed(kind, typed) if isinstance(typed, str) and kind != "literal" else typed


def label_of(kind: str, label: str) -> str:
    """Return a label that says how to type a value of some type."""
    return {"list_str": f"{label}, one a line", "other": f"{label}, as JSON"}.get(kind, label)


def parameter_input(entry: Parameter, value: Any, **widget: Any) -> Any:
    """Draw the widget of a rule's parameter; `parameter_of` turns what it returns into the value.

    Args:
        entry: The parameter; normalisers have widgets of their own.
        value: The value it starts with.
        **widget: Further arguments of the widget: `key`, `on_change`.
    """
    label = entry.name.replace("_", " ").capitalize() + (" (optional)" if entry.optional else "")
    widget["help"] = entry.meaning or None
    if entry.name == "flags":
        flags = [*_FLAGS, *(flag for flag in value or () if flag not in _FLAGS)]
        return st.multiselect(label, flags, default=list(value or ()), format_func=short, **widget)
    if entry.kind == "bool":
        return st.toggle(label, bool(value), **widget)
    if entry.kind == "choice":
        at = entry.choices.index(value) if value in entry.choices else None
        return st.selectbox(label, entry.choices, index=at, width=180, **widget)
    if entry.kind in ("int", "float"):
        kind: Any = int if entry.kind == "int" else float
        value, least, most = (None if item is None else kind(item) for item in (value, entry.least, entry.most))
        widget |= {"step": 1, "format": "%d"} if kind is int else {"step": 0.01, "format": "%g"}
        widget |= {"min_value": least, "max_value": most, "placeholder": "none" if entry.optional else ""}
        return st.number_input(label, value=value, width=180, **widget)
    kind = _TYPED[entry.kind]
    return value_input(label_of(kind, label), kind, value, **widget)


def parameter_of(entry: Parameter, typed: Any) -> Any:
    """Return the value that a widget of `parameter_input` holds."""
    if entry.name == "flags":
        return list(typed)
    value = read_typed(_TYPED[entry.kind], typed) if entry.kind in _TYPED else typed
    return None if value == "" and entry.optional else value


def judged_input(item: FieldSpec, value: Any, key: str) -> Any:
    """Draw the widget for what a judge extracts for a field, and return the value; None where it is left blank."""
    known: dict[str, list[Any]] = {"bool": [None, True, False], "literal": [None, *item.literal_values]}
    kind, choices = item.type, known.get(item.type, [])
    label = label_of(kind, input_label(item.name, 60))
    typed = value_input(label, "literal" if choices else kind, value, choices, key=key)
    return None if isinstance(typed, str) and not typed.strip() else value_of(kind, typed)


def _choice(label: str, options: Sequence[Any], value: Any, names: Mapping[Any, str], widget: Mapping[str, Any]) -> Any:
    at = next((at for at, item in enumerate(options) if type(item) is type(value) and item == value), None)

    def name_of(item: Any) -> str:
        if isinstance(item, str | int | float) and item in names:
            return names[item]
        return short(item, 60) if isinstance(item, str) else quoted(item)

    return st.selectbox(label, options, index=at, placeholder="Choose", format_func=name_of, **widget)
