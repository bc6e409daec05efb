"""Suggestions for a field: the type a reference answer asks for, and the rule a type asks for."""

from __future__ import annotations

from typing import Any

from karenina_core.authoring.reading import read_figure, spread
from karenina_core.errors import InputError
from karenina_core.schemas import NATURAL, case_and_blanks, field_kind, read_date
from karenina_core.templates import FieldType

_YES_NO = {"yes": True, "no": False, "true": True, "false": False}
_MEASURED = {"type": "NumericTolerance", "tolerance": 0.001, "mode": "relative"}


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
        return dict(_MEASURED)
    rule = NATURAL[kind]().to_dict()
    return {**rule, "normalize": case_and_blanks()} if "normalize" in rule else rule


def yes_or_no(text: str) -> bool | None:
    """Return what a yes or no says, also where an explanation follows: `No, it is inhibited.`"""
    first, mark, rest = text.strip().partition(",")
    word = first if mark and rest.strip() else text.strip().partition(".")[0]
    return _YES_NO.get(word.strip().rstrip(".!").casefold())


def full_date(text: str) -> str | None:
    """Return a calendar date that a whole text gives, as year-month-day; None for anything less complete."""
    text = text.strip().rstrip(".")
    if not any(character.isdigit() for character in text) or len(text) < 6:
        return None
    read = read_date(text)
    return read.moment.date().isoformat() if read is not None and read.moment is not None else None
