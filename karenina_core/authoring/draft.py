"""`draft_by_rule`: a first template out of question, reference answer and notes, without any model."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from karenina_core.authoring.linter.lint import lint
from karenina_core.authoring.linter.words import gives_away, is_placeholder, words
from karenina_core.authoring.question_words import Notes, asked_for, field_name, offered, read_notes
from karenina_core.authoring.reading import Figure, read_figure, spread, with_synonyms
from karenina_core.authoring.review import Review, review
from karenina_core.authoring.suggest import full_date, yes_or_no
from karenina_core.errors import validation_message
from karenina_core.schemas import normalize, quoted
from karenina_core.templates import FieldSpec, TemplateSpec
from karenina_core.text import counted

_PLAIN = ["lowercase", "strip"]
_LONGEST_NAME = 5  # words of a name; more are a sentence
_LONGEST_ANSWER = 5_000  # characters; more are a text, which no rule compares
_ASIDE = re.compile(r"([^()]+?)\s*\(([^()]*)\)\.?")
_ORDER = frozenset({"order", "ordered", "sequence", "chronological", "ranked", "rank", "sorted"})


@dataclass(frozen=True)
class RuleDraft:
    """A first template, or why there is none.

    Attributes:
        spec: The template; None where the reference answer is nothing a rule can compare.
        why: How it came about, or why there is none.
        review: What the linter and the self-test say of it; None where there is no template.
    """

    spec: TemplateSpec | None
    why: str
    review: Review | None = None

    @property
    def needs_review(self) -> bool:
        """Whether a person has to look at it before it is used."""
        return self.review is not None and self.review.needs_review


class _Field(NamedTuple):
    """What a reader of reference answers proposes.

    Attributes:
        fallback: A name for the field where the question does not give one.
        settings: The rest of the field.
        description: What the judge looks for; `{it}` stands for what the question asks for.
        why: How it came about.
        reservations: What is not sure.
    """

    fallback: str
    settings: dict[str, Any]
    description: str
    why: str
    reservations: tuple[str, ...] = ()


def draft_by_rule(question: str, reference_answer: str, notes: str | None = None) -> RuleDraft:
    """Return a first template, tested against itself.

    It understands yes and no, dates, numbers with their units, bounds and tolerances, choices that the question
    offers, lists, and single names with their synonyms. What it does not understand it leaves to a person or a model.

    Args:
        question: What is asked.
        reference_answer: What people know to be true.
        notes: Remarks on edge cases, such as: Accept 'Bcl2' but not 'BCL-XL'.
    """
    text = " ".join(reference_answer.split()) if "\n" not in reference_answer.strip() else reference_answer.strip()
    if is_placeholder(text):
        return RuleDraft(None, "There is no reference answer to take a truth from.")
    said = read_notes(notes)
    readers = _READERS if len(text) <= _LONGEST_ANSWER else ()
    found = next((field for reader in readers if (field := reader(text, question, said)) is not None), None)
    if found is None:
        return RuleDraft(
            None,
            "The reference answer is a sentence or more. What an answer must say to be right is for a person to "
            "decide, or for a model to propose.",
        )
    try:
        spec = _template(found, question)
    except ValidationError as error:
        return RuleDraft(
            None, f"The reference answer cannot be written into a template: {validation_message(error, most=1)}."
        )
    reviewed = review(
        spec, question=question, reference_answer=reference_answer, notes=notes, reservations=found.reservations
    )
    return RuleDraft(spec, found.why, reviewed)


def _template(found: _Field, question: str) -> TemplateSpec:
    """Build the template with the first name and description that do not give the truth away."""
    truth = found.settings["ground_truth"]
    name = field_name(question, found.fallback)
    name = found.fallback if gives_away(name.replace("_", " "), truth) else name
    asked = asked_for(question)
    for phrase in filter(None, (asked, "answer to the question")):
        spec = TemplateSpec(fields=[_field(found, name, found.description.format(it=phrase))])
        if not any(finding.code.startswith("description_") for finding in lint(spec)):
            return spec
    return TemplateSpec(fields=[_field(found, found.fallback, found.description.format(it="answer to the question"))])


def _field(found: _Field, name: str, description: str) -> FieldSpec:
    return FieldSpec.model_validate({"name": name, "description": description, **found.settings})


def _yes_no(text: str, question: str, notes: Notes) -> _Field | None:
    value = yes_or_no(text)
    if value is None:
        return None
    asked = " ".join(question.split()).rstrip("?").strip()
    settings = {"type": "bool", "ground_truth": value, "verify_with": {"type": "BooleanMatch"}}
    description = f"Whether the response answers this question with yes: {_braced(asked)}?"
    return _Field("answer_is_yes", settings, description, f"The reference answer says {'yes' if value else 'no'}.")


def _braced(text: str) -> str:
    return text.replace("{", "(").replace("}", ")")


def _date(text: str, question: str, notes: Notes) -> _Field | None:
    day = full_date(text) if read_figure(text) is None else None
    if day is None:
        return None
    settings = {"type": "date", "ground_truth": day, "verify_with": {"type": "DateMatch"}}
    described = "The {it} that the response states, as a calendar date in the form year-month-day"
    return _Field(
        "date", settings, described, f"The reference answer is the date {day}, in whatever way it is written."
    )


def _number(text: str, question: str, notes: Notes) -> _Field | None:
    figure, aside = read_figure(text), ""
    if figure is None and (match := _ASIDE.fullmatch(text)):
        figure, aside = read_figure(match[1]), match[2]
    if figure is None:
        return None
    whole = all(isinstance(part, int) for part in (figure.value, figure.low or 0, figure.high or 0))
    truth = 0 if figure.is_range else figure.value
    settings = {"type": "int" if whole else "float", "ground_truth": truth, "verify_with": figure.rule()}
    unit = f", in {_braced(figure.unit)}" if figure.unit else ""
    form = "a whole number" if whole else "a decimal number"
    described = f"The {{it}} that the response states, as {form} without its unit{unit}"
    return _Field(
        _number_name(figure), settings, described, _number_reason(figure), tuple(_number_doubts(figure, aside))
    )


def _number_name(figure: Figure) -> str:
    unit = "".join(character for character in figure.unit.lower() if character.isascii() and character.isalpha())
    return f"number_of_{unit}" if len(unit) > 2 and isinstance(figure.value, int) else "amount"


def _number_reason(figure: Figure) -> str:
    rule = figure.rule()
    match rule["type"]:
        case "NumericRange":
            return "The reference answer gives bounds, so any number within them is right."
        case "NumericExact":
            return "The reference answer is a whole number, which is compared exactly."
        case _ if figure.margin is not None:
            return f"The reference answer gives its uncertainty, so numbers up to {figure.margin:g} away are right."
        case _ if figure.about:
            return "The reference answer is rough, so a tenth more or less is right."
    return "The reference answer has decimals, so differences of a thousandth are rounding."


def _number_doubts(figure: Figure, aside: str) -> list[str]:
    doubts = [f"What stands in brackets was left out: {aside}."] if aside else []
    if figure.unsure:
        doubts.append(f"The comma is read as a thousands separator: {figure.value}.")
    if figure.is_range and None in (figure.low, figure.high):
        doubts.append("The bound itself counts as right.")
    return doubts


def _choice(text: str, question: str, notes: Notes) -> _Field | None:
    options = offered(question, text)
    if not options:
        return None
    truth = next(option for option in options if option.casefold() == text.rstrip(".").casefold())
    settings = {
        "type": "literal",
        "literal_values": options,
        "ground_truth": truth,
        "verify_with": {"type": "LiteralMatch"},
    }
    described = "Which of the offered categories the response settles on as the {it}"
    return _Field(
        "choice", settings, described, f"The question offers {counted(len(options), 'answer')} to choose from."
    )


def _list(text: str, question: str, notes: Notes) -> _Field | None:
    items = spread(text)
    if not items:
        return None
    named = [with_synonyms(item) for item in items]
    mapping = {normalize(other, _PLAIN): normalize(name, _PLAIN) for name, others in named for other in others}
    normalizers: list[Any] = [*_PLAIN, *([{"mapping": mapping}] if mapping else [])]
    ordered = bool(_ORDER & set(words(question)))
    chosen = all(name.casefold() in question.casefold() for name, _ in named)
    mode = "exact" if chosen else "superset"
    rule: dict[str, Any] = {"type": "OrderedMatch"} if ordered else {"type": "SetContainment", "mode": mode}
    settings = {
        "type": "list_str",
        "ground_truth": [name for name, _ in named],
        "verify_with": {**rule, "normalize": normalizers},
    }
    free = "no others, as the question offers them for choice" if chosen else "further items are allowed"
    why = "in their order" if ordered else f"in any order; {free}"
    return _Field(
        "items",
        settings,
        "The {it} that the response names, one entry each" + (", in the order of the response" if ordered else ""),
        f"The reference answer names {counted(len(items), 'item')}, which must all be there, {why}.",
    )


def _name(text: str, question: str, notes: Notes) -> _Field | None:
    name, others = with_synonyms(text.rstrip("."))
    if len(words(name)) > _LONGEST_NAME or not words(name):
        return None
    truth = normalize(name, _PLAIN)
    known = [other for other in (normalize(other, _PLAIN) for other in (*others, *notes.accepted)) if other != truth]
    mapping = dict.fromkeys(known, truth)
    normalizers = [*_PLAIN, *([{"mapping": mapping}] if mapping else [])]
    settings = {"ground_truth": name, "verify_with": {"type": "ExactMatch", "normalize": normalizers}}
    also = f", also under {counted(len(mapping), 'other name')}" if mapping else ""
    return _Field(
        "answer",
        settings,
        "The {it} that the response settles on, as short as it is written there",
        f"The reference answer is the name {quoted(name)}, which must be met{also}; capitals do not count.",
    )


_READERS: tuple[Callable[[str, str, Notes], _Field | None], ...] = (_yes_no, _choice, _number, _date, _list, _name)
