"""Rules on the expected value: whether it can be met at all, and whether it is what the author means."""

from __future__ import annotations

from typing import Any

from karenina_core import patterns
from karenina_core.authoring.linter.finding import Context, FieldFix, Said, uses_truth
from karenina_core.authoring.linter.words import gives_away, is_placeholder, words
from karenina_core.authoring.reading import read_figure, spread
from karenina_core.schemas import is_ambiguous, quoted, read_date, read_number
from karenina_core.schemas.primitives import VerificationPrimitive
from karenina_core.templates import FieldSpec

_MOST_LOOKED_FOR = 200  # items; looking for each in a long reference answer takes a while
_YES, _NO = frozenset({"true", "yes", "y", "1"}), frozenset({"false", "no", "n", "0"})
_NAMES = {"bool": "True or False", "int": "a whole number", "float": "a number", "list_str": "a list of texts"}


def fails_own_rule(item: FieldSpec, context: Context) -> Said | None:
    """A truth that its own rule refuses: every answer fails, the right one too."""
    rule = item.primitive
    if not isinstance(rule, VerificationPrimitive) or item.is_semantic or _wrong_type(item):
        return None
    if not rule.uses_ground_truth and _stands_for_nothing(item.ground_truth):
        return None
    try:
        told = rule.explain(item.ground_truth, item.ground_truth)
    except patterns.PatternTimeoutError:
        return None
    if told.passed:
        return None
    if not rule.uses_ground_truth:
        return Said(
            f"{type(rule).__name__} refuses the field's own truth {quoted(item.ground_truth)}.",
            f"The rule does not use the truth, so they should at least agree. {told.reason}",
            "Correct the rule, or write the placeholder N/A as the truth.",
            FieldFix("Use a placeholder as the truth", {"ground_truth": _placeholder(item)}),
        )
    return Said(
        f"The truth {quoted(item.ground_truth)} fails its own rule.",
        f"No answer can pass, not even the right one. {told.reason}",
        "Correct the truth or the parameters of the rule.",
        _mended_date(item),
    )


def has_wrong_type(item: FieldSpec, context: Context) -> Said | None:
    """A truth of another type than the field: `"23"` in an int field."""
    if not _wrong_type(item):
        return None
    value = converted(item.type, item.ground_truth)
    fix = None if value is None else FieldFix(f"Make it {quoted(value)}", {"ground_truth": value})
    return Said(
        f"The truth {quoted(item.ground_truth)} is not {_NAMES.get(item.type, 'a text')}, as the field is.",
        "The judge's values have the type of the field, so the comparison may fail for right answers.",
        "Write the truth in the type of the field.",
        fix,
    )


def is_no_option(item: FieldSpec, context: Context) -> Said | None:
    """A truth that is none of the allowed values of a `Literal`."""
    options = item.literal_values
    if item.type != "literal" or not uses_truth(item) or _among(item.ground_truth, options):
        return None
    alike = [value for value in options if str(value).strip().casefold() == str(item.ground_truth).strip().casefold()]
    if alike:
        fix = FieldFix(f"Make the truth {quoted(alike[0])}", {"ground_truth": alike[0]})
    elif isinstance(item.ground_truth, str | int) and not is_placeholder(item.ground_truth):
        fix = FieldFix("Add it to the options", {"literal_values": [*options, item.ground_truth]})
    else:
        fix = None
    return Said(
        f"The truth {quoted(item.ground_truth)} is none of the options.",
        "The judge can only choose an option, so no answer can pass.",
        "Add the truth to the options, or correct it.",
        fix,
    )


def is_unset(item: FieldSpec, context: Context) -> Said | None:
    """A placeholder where the rule compares with it."""
    truth = item.ground_truth
    listed = item.type == "literal" and _among(truth, item.literal_values)
    if not uses_truth(item) or item.is_trace or listed or not is_placeholder(truth):
        return None
    if item.type == "list_str" and truth == []:
        return None
    known = converted(item.type, context.reference_answer) if context.reference_answer else None
    usable = known is not None and (item.type != "literal" or _among(known, item.literal_values))
    return Said(
        f"The truth {quoted(truth)} is a placeholder, but the rule compares with it.",
        "Answers would have to say the placeholder to pass.",
        "Write the expected value.",
        FieldFix("Take the reference answer", {"ground_truth": known}) if usable else None,
    )


def is_refused_by_options(item: FieldSpec, context: Context) -> Said | None:
    """A truth that the field's own limits do not let the judge say."""
    if not uses_truth(item) or item.is_trace:
        return None
    name = next((name for name, limit in item.options.items() if _refuses(name, limit, item.ground_truth)), None)
    if name is None:
        return None
    return Said(
        f"The option {name}={quoted(item.options[name])} does not allow the truth {quoted(item.ground_truth)}.",
        "The judge's reply is refused when it holds the right value.",
        "Correct the option or the truth.",
        FieldFix(f"Remove {name}", {"options": {k: v for k, v in item.options.items() if k != name}}),
    )


def is_ambiguous_date(item: FieldSpec, context: Context) -> Said | None:
    """A date that is another day elsewhere: 11/04/2016."""
    rule = item.verify_with or {}
    if item.type != "date" or rule.get("format"):
        return None
    first = bool(rule.get("dayfirst"))
    bounds = {name: rule[name] for name in ("min", "max") if isinstance(rule.get(name), str)}
    unclear = {name: text for name, text in bounds.items() if is_ambiguous(text)}
    truth = item.ground_truth
    wrong_truth = uses_truth(item) and isinstance(truth, str) and is_ambiguous(truth)
    if not unclear and not wrong_truth:
        return None
    changes: dict[str, Any] = {
        "verify_with": {**rule, **{k: str(read_date(v, None, first)) for k, v in unclear.items()}}
    }
    if wrong_truth:
        changes["ground_truth"] = str(read_date(truth, None, first))
    shown = truth if wrong_truth else next(iter(unclear.values()))
    return Said(
        f"The date {quoted(shown)} can be read in two ways.",
        f"It is read with the {'day' if first else 'month'} first, as {read_date(shown, None, first)}.",
        "Write it as year-month-day.",
        FieldFix("Write it as year-month-day", changes),
    )


def is_not_in_reference(item: FieldSpec, context: Context) -> Said | None:
    """A truth that the reference answer does not speak of."""
    reference, truth = context.reference_answer, item.ground_truth
    if not reference or not uses_truth(item) or item.type in ("bool", "other") or is_placeholder(truth):
        return None
    if isinstance(truth, list) and len(truth) > _MOST_LOOKED_FOR:
        return None
    if item.is_semantic or _speaks_of(reference, truth):
        return None
    return Said(
        f"The reference answer {quoted(reference)} does not hold the truth {quoted(truth)}.",
        "One of them may be wrong, or belong to another question.",
        "Compare the two.",
    )


def is_no_truth_value(item: FieldSpec, context: Context) -> Said | None:
    """A trace field whose truth is a word: `"no"` would count as true."""
    if not item.is_trace or isinstance(item.ground_truth, bool):
        return None
    value = converted("bool", item.ground_truth)
    return Said(
        f"The truth {quoted(item.ground_truth)} of a trace field is not True or False.",
        "Whatever is not empty or zero counts as True, also the word no.",
        "Write True when the check shall hold, False when it shall not.",
        FieldFix(f"Make it {value is not False}", {"ground_truth": value is not False}),
    )


def converted(kind: str, value: Any) -> Any:
    """Return a value in the type of a field, or None where that is not plainly possible."""
    text = value.strip() if isinstance(value, str) else value
    match kind:
        case "bool":
            word = str(text).casefold()
            return True if word in _YES else False if word in _NO else None
        case "int" | "float":
            figure = read_figure(str(text)) if isinstance(text, str | int | float) else None
            usable = figure is not None and not figure.is_range and not figure.unsure
            whole = usable and figure is not None and float(figure.value).is_integer()
            return figure.value if usable and figure is not None and (kind == "float" or whole) else None
        case "list_str":
            return spread(text) or [text] if isinstance(text, str) and text else None
        case "other":
            return None
    return str(text) if isinstance(text, str | int | float) and str(text) else None


def _wrong_type(item: FieldSpec) -> bool:
    truth = item.ground_truth
    if not uses_truth(item) or item.is_trace or is_placeholder(truth):
        return False
    match item.type:
        case "bool":
            return not isinstance(truth, bool)
        case "int":
            return isinstance(truth, bool) or not isinstance(truth, int)
        case "float":
            return isinstance(truth, bool) or not isinstance(truth, int | float)
        case "list_str":
            return not isinstance(truth, list) or not all(isinstance(part, str) for part in truth)
        case "str" | "date":
            return not isinstance(truth, str)
    return False


def _among(value: Any, options: list[Any]) -> bool:
    return any(value == option and type(value) is type(option) for option in options)


def _placeholder(item: FieldSpec) -> Any:
    return 0 if item.type in ("int", "float") else "N/A"


def _stands_for_nothing(truth: Any) -> bool:
    return is_placeholder(truth) or (truth == 0 and not isinstance(truth, bool))


def _mended_date(item: FieldSpec) -> FieldFix | None:
    """Return the fix for a date that is only written in another form than the rule reads."""
    format = (item.verify_with or {}).get("format")
    read = read_date(item.ground_truth)
    if not format or read is None or read.moment is None:
        return None
    return FieldFix(f"Write it as {format}", {"ground_truth": read.moment.strftime(format)})


def _refuses(name: str, limit: Any, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    sized = isinstance(value, str | list)
    match name:
        case "ge" | "gt" | "le" | "lt" if number:
            return not {"ge": value >= limit, "gt": value > limit, "le": value <= limit, "lt": value < limit}[name]
        case "multiple_of" if number:
            return bool(limit) and abs(value / limit - round(value / limit)) > 1e-9
        case "min_length" | "max_length" if sized:
            return bool(len(value) < limit if name == "min_length" else len(value) > limit)
        case "pattern" if isinstance(value, str):
            return not patterns.found(str(limit), value)
    return False


def _speaks_of(reference: str, truth: Any) -> bool:
    if isinstance(truth, list):
        return all(_speaks_of(reference, part) for part in truth)
    if isinstance(truth, int | float):
        figure = read_figure(reference)
        return (figure is not None and figure.value == truth) or any(
            read_number(word) == truth for word in words(reference)
        )
    if not isinstance(truth, str):
        return True
    day, other = read_date(truth), read_date(reference)
    if day is not None and other is not None:
        return day.parts == other.parts
    if day is not None and gives_away(reference, truth):
        return True
    wanted = "".join(words(truth))
    return not wanted or wanted in "".join(words(reference))
