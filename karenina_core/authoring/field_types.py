"""The types of template fields and the parameters of rules: what forms ask for, read and write, and what fits."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from karenina_core.authoring.reading import Figure, read_figure, spread
from karenina_core.errors import InputError, KareninaError
from karenina_core.files import read_json
from karenina_core.schemas import FIELD_TYPES, NATURAL, case_and_blanks, field_kind, read_date
from karenina_core.schemas.primitives import TracePrimitive, VerificationPrimitive
from karenina_core.templates import FieldType

RuleClass = type[VerificationPrimitive] | type[TracePrimitive]
ParameterKind = Literal["bool", "int", "float", "text", "choice", "texts", "normalizers", "data"]
"""`data`: anything else, as JSON."""
_SIMPLE: dict[str, ParameterKind] = {"boolean": "bool", "integer": "int", "number": "float", "string": "text"}
_WORDS = {"yes": True, "no": False, "true": True, "false": False}
_YES_NO = {**_WORDS, "y": True, "n": False, "1": True, "0": False}


def _number(value: Any) -> Any:
    figure = read_figure(str(value)) if isinstance(value, str | int | float) else None
    return None if figure is None or figure.is_range or figure.unsure else figure.value


def _whole_number(value: Any) -> Any:
    number = _number(value)
    return number if number is not None and float(number).is_integer() else None


def _text(value: Any) -> str | None:
    return (str(value).strip() or None) if isinstance(value, str | int | float) else None


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "bool": lambda value: _YES_NO.get(str(value).strip().casefold()),
    "int": _whole_number,
    "float": _number,
    "list_str": lambda value: spread(value) or [value.strip()] if isinstance(value, str) and value.strip() else None,
    "str": _text,
    "date": _text,
    "literal": _text,
}


def converted(kind: str, value: Any) -> Any:
    """Return a value in the type of a field, or None where that is not plainly possible."""
    return _CONVERTERS[kind](value) if kind in _CONVERTERS else None


# --- Suggestions -----------------------------------------------------------------------------------------------------


def suggest_type(reference_answer: str) -> FieldType:
    """Return the type of field that a reference answer asks for; text where it is nothing more special."""
    if yes_or_no(reference_answer) is not None:
        return "bool"
    figure = read_figure(reference_answer)
    if figure is not None:
        return "int" if isinstance(figure.value, int) and isinstance(figure.high or 0, int) else "float"
    if full_date(reference_answer) is not None:
        return "date"
    return "list_str" if spread(reference_answer) else "str"


def suggest_rule(annotation: Any, truth: Any = None) -> dict[str, Any]:
    """Return the natural rule for a type, in its stored form.

    Args:
        annotation: A type such as `list[str]`, or the name of one such as `list_str` or `date`.
        truth: The expected value, where known: a number with decimals was measured and gets a tolerance.

    Raises:
        InputError: No rule is natural for the type.
    """
    kind = field_kind(annotation)
    if kind is None:
        raise InputError(f"There is no natural rule for the type {annotation!r}.", next="Choose one yourself.")
    if kind == "float" and isinstance(truth, float) and not truth.is_integer():
        return Figure(truth).rule()
    rule = NATURAL[kind]().to_dict()
    return {**rule, "normalize": case_and_blanks()} if "normalize" in rule else rule


def yes_or_no(text: str) -> bool | None:
    """Return what a yes or no says, also where an explanation follows: `No, it is inhibited.`"""
    first, mark, rest = text.strip().partition(",")
    word = first if mark and rest.strip() else text.strip().partition(".")[0]
    return _WORDS.get(word.strip().rstrip(".!").casefold())


def full_date(text: str) -> str | None:
    """Return a calendar date that a whole text gives, as year-month-day; None for anything less complete."""
    text = text.strip().rstrip(".")
    if not any(character.isdigit() for character in text) or len(text) < 6:
        return None
    read = read_date(text)
    return read.moment.date().isoformat() if read is not None and read.moment is not None else None


# --- What is typed ---------------------------------------------------------------------------------------------------


def read_typed(kind: str, text: str) -> Any:
    """Return the value of a field of some type that a text means.

    What does not fit the type stays the text it is, so that nothing typed is lost: the linter says what is wrong.

    Args:
        kind: A type of a template field, such as `int`.
        text: What was typed.
    """
    if kind in ("str", "date", "literal"):
        return text
    if kind == "list_str":
        return read_lines(text)
    value = read_data(text)
    return value if value is None or (kind in FIELD_TYPES and FIELD_TYPES[kind].fits(value)) else text


def write_typed(kind: str, value: Any) -> str:
    """Return a value of a field as a person types it; the counterpart of `read_typed`."""
    if value is None:
        return ""
    if kind == "list_str":
        return write_lines(value)
    return value if isinstance(value, str) and kind != "other" else write_data(value)


def read_lines(text: str) -> list[Any]:
    """Return the entries of a text: the list it is as JSON, otherwise every line that is not blank, trimmed."""
    listed = _json(text)
    return listed if isinstance(listed, list) else [line.strip() for line in text.splitlines() if line.strip()]


def write_lines(items: Any) -> str:
    """Return a list of texts with one entry a line; JSON where an entry would not come back from a line."""
    if not isinstance(items, list | tuple):
        return "" if items is None else items if isinstance(items, str) else write_data(items)
    lines = "\n".join(items) if FIELD_TYPES["list_str"].fits(list(items)) else ""
    return lines if read_lines(lines) == list(items) else write_data(list(items))


def read_pairs(text: str) -> dict[str, Any]:
    """Return a mapping: the object a text is as JSON, otherwise every `spelling = meaning` line.

    A line without an equals sign means that the spelling stands for nothing yet.
    """
    stored = _json(text)
    if isinstance(stored, dict):
        return stored
    pairs = (line.partition("=") for line in text.splitlines() if line.strip())
    return {spelling.strip(): meaning.strip() for spelling, _, meaning in pairs}


def write_pairs(mapping: Any) -> str:
    """Return a mapping of texts with one `spelling = meaning` a line; JSON where that would not come back."""
    if not isinstance(mapping, Mapping):
        return ""
    lines = "\n".join(f"{spelling} = {meaning}" for spelling, meaning in mapping.items())
    return lines if read_pairs(lines) == dict(mapping) else write_data(dict(mapping))


def read_data(text: str) -> Any:
    """Return the value a text is as JSON, or the text itself where it is none; None for a blank text."""
    value = _json(text)
    return text if value is None and text.strip() not in ("", "null") else value


def write_data(value: Any) -> str:
    """Return any plain value as JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False)


def _json(text: str) -> Any:
    try:
        return read_json(text) if text.strip() else None
    except KareninaError:
        return None


# --- Parameters of rules ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """One parameter of a primitive.

    Attributes:
        name: Its name in source.
        kind: What it holds.
        meaning: What it does, in a sentence or two of Markdown; blank where the class does not say.
        required: Whether it has no default.
        optional: Whether it may be None.
        default: Its default, in the stored form; None where it is required.
        choices: What it may be, for kind `choice`.
        least: The least number it may be, where there is one.
        most: The greatest number it may be, where there is one.
    """

    name: str
    kind: ParameterKind
    meaning: str = ""
    required: bool = False
    optional: bool = False
    default: Any = None
    choices: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None


@lru_cache(maxsize=256)
def parameters_of(rule: RuleClass) -> tuple[Parameter, ...]:
    """Return the parameters of a primitive, in the order its class lists them: from its model and its docstring."""
    schema, meanings = rule.model_json_schema(), _meanings(rule)
    entries = []
    for name, entry in schema.get("properties", {}).items():
        options = entry.get("anyOf", [entry])
        parts = [part for part in options if part.get("type") != "null"]
        part = parts[0] if len(parts) == 1 else {}
        info = rule.model_fields[name]
        parameter = Parameter(
            name=name,
            kind=_kind(part),
            meaning=meanings.get(name, ""),
            required=info.is_required(),
            optional=len(parts) < len(options),
            default=None if info.is_required() else info.get_default(call_default_factory=True),
            choices=tuple(part.get("enum", ())),
            least=part.get("minimum", part.get("exclusiveMinimum")),
            most=part.get("maximum", part.get("exclusiveMaximum")),
        )
        entries.append(parameter)
    return tuple(entries)


def defaults_of(rule: RuleClass) -> dict[str, Any]:
    """Return a primitive in its stored form with the defaults of its parameters; required ones are None."""
    return {"type": rule.__name__, **{item.name: copy.deepcopy(item.default) for item in parameters_of(rule)}}


def summary_of(rule: RuleClass) -> str:
    """Return what a primitive does: the first paragraph of its docstring, in one line."""
    return " ".join((inspect.getdoc(rule) or "").partition("\n\n")[0].split())


def _kind(schema: Mapping[str, Any]) -> ParameterKind:
    if "enum" in schema:
        return "choice"
    if schema.get("type") == "array":
        items = schema.get("items", {})
        if items.get("type") == "string":
            return "texts"
        references = [str(part.get("$ref", "")) for part in items.get("anyOf", ())]
        return "normalizers" if any(name.endswith("/SynonymMap") for name in references) else "data"
    return _SIMPLE.get(str(schema.get("type")), "data")


def _meanings(rule: RuleClass) -> dict[str, str]:
    """Return what the docstring says of each parameter, under `Attributes:`."""
    _, _, listed = (inspect.getdoc(rule) or "").partition("Attributes:\n")
    meanings: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        text = line.strip()
        if line.startswith("    ") and not line.startswith("     ") and ":" in text:
            name, _, text = text.partition(":")
            meanings[name] = text.strip()
        elif name and text:
            meanings[name] += f" {text}"
    return meanings
