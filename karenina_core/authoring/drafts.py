"""First templates without a model, what linter and self-test say of a draft, and which drafts a person must look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from karenina_core.authoring.explanations import Subject
from karenina_core.authoring.field_types import full_date, suggest_rule, yes_or_no
from karenina_core.authoring.linter.findings import Finding
from karenina_core.authoring.linter.templates import lint
from karenina_core.authoring.reading import (
    asked_for,
    field_name,
    gives_away,
    is_placeholder,
    offered,
    read_figure,
    read_notes,
    spread,
    with_synonyms,
    words,
)
from karenina_core.authoring.self_test import Case, near_misses
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import normalize, quoted
from karenina_core.templates import FieldSpec, TemplateSpec
from karenina_core.text import counted

REVIEW_PROPERTY = "template_needs_review"
"""The custom property of a question whose template a person has to look at; holds the reasons, one a line."""
_PLAIN = ["lowercase", "strip"]
_LONGEST_NAME = 5  # words of a name; more are a sentence
_LONGEST_ANSWER = 5_000  # characters; more are a text, which no rule compares
_ASIDE = re.compile(r"([^()]+?)\s*\(([^()]*)\)\.?")
_ORDER = frozenset({"order", "ordered", "sequence", "chronological", "ranked", "rank", "sorted"})


# --- Reviews ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Review:
    """What the linter and the self-test say of a draft.

    Attributes:
        findings: What the linter found.
        cases: The rows of the self-test; none where there is nothing to test.
        reservations: What the drafting itself is not sure of.
    """

    findings: tuple[Finding, ...]
    cases: tuple[Case, ...] = ()
    reservations: tuple[str, ...] = ()

    @property
    def reasons(self) -> list[str]:
        """Why a person has to look at it, one sentence each; hints are no reason."""
        grave = [finding for finding in self.findings if finding.severity != "hint"]
        return [
            *self.reservations,
            *(f"{finding.field}: {finding.what}" if finding.field else finding.what for finding in grave),
            *(
                f"{case.field}: {case.label} should {case.expected}, but the verdict is {case.verdict}."
                for case in self.cases
                if case.surprising
            ),
        ]

    @property
    def failed(self) -> bool:
        """Whether it decides wrongly as it stands: a finding that is an error, or a surprise of the self-test."""
        errors = any(finding.severity == "error" for finding in self.findings)
        return errors or any(case.surprising for case in self.cases)

    @property
    def needs_review(self) -> bool:
        """Whether a person has to look at it."""
        return bool(self.reasons)


def review(
    template: Subject,
    *,
    question: str | None = None,
    reference_answer: str | None = None,
    notes: str | None = None,
    reservations: Sequence[str] = (),
) -> Review:
    """Return what the linter and the self-test say of a draft. No model is asked, and no code of it is run.

    Args:
        template: The draft, readable or not.
        question: The text of the question.
        reference_answer: What people know to be true.
        notes: Remarks on edge cases; answers that they accept or reject are tried.
        reservations: What whoever drafted it is not sure of.
    """
    findings = lint(template, question=question, reference_answer=reference_answer)
    known = read_notes(notes)
    try:
        cases = near_misses(template, accepted=known.accepted, rejected=known.rejected)
    except InputError:
        cases = []
    return Review(tuple(findings), tuple(cases), tuple(reservations))


def add_draft(benchmark: Benchmark, question_id: str, source: str, reviewed: Review | None) -> None:
    """Give a question a drafted template, marked where a person has to look at it.

    The question of a draft that failed takes no part in runs until somebody marks it finished.

    Args:
        benchmark: Gets the template.
        question_id: The question.
        source: The draft.
        reviewed: The result of `review`; None marks nothing.

    Raises:
        InputError: There is no such question.
        TemplateError: The template cannot be read.
    """
    benchmark.add_answer_template(question_id, source)
    if reviewed is not None and reviewed.needs_review:
        benchmark.set_question_custom_property(question_id, REVIEW_PROPERTY, "\n".join(reviewed.reasons))
    else:
        benchmark.remove_question_custom_property(question_id, REVIEW_PROPERTY)
    if reviewed is not None and reviewed.failed:
        benchmark.mark_unfinished(question_id)


# --- Drafts by rule --------------------------------------------------------------------------------------------------


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


class _Proposal(NamedTuple):
    """A field for a reference answer.

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

    def field(self, name: str, asked: str) -> FieldSpec:
        description = self.description.format(it=asked)
        return FieldSpec.model_validate({"name": name, "description": description, **self.settings})


def draft_by_rule(question: str, reference_answer: str, notes: str | None = None) -> RuleDraft:
    """Return a first template, tested against itself.

    It understands yes and no, dates, numbers with their units, bounds and tolerances, choices that the question
    offers, lists, and single names with their synonyms. What it does not understand it leaves to a person or a model.

    Args:
        question: What is asked.
        reference_answer: What people know to be true.
        notes: Remarks on edge cases, such as: Accept 'Bcl2' but not 'BCL-XL'.
    """
    text = reference_answer.strip() if "\n" in reference_answer.strip() else " ".join(reference_answer.split())
    if is_placeholder(text):
        return RuleDraft(None, "There is no reference answer to take a truth from.")
    readers = _READERS if len(text) <= _LONGEST_ANSWER else ()
    accepted = read_notes(notes).accepted
    proposals = (reader(text, question, accepted) for reader in readers)
    proposal = next((proposal for proposal in proposals if proposal is not None), None)
    if proposal is None:
        return RuleDraft(
            None,
            "The reference answer is a sentence or more. What an answer must say to be right is for a person to "
            "decide, or for a model to propose.",
        )
    try:
        spec = _template(proposal, question)
    except ValidationError as error:
        return RuleDraft(
            None, f"The reference answer cannot be written into a template: {validation_message(error, most=1)}."
        )
    known = {"question": question, "reference_answer": reference_answer, "notes": notes}
    return RuleDraft(spec, proposal.why, review(spec, **known, reservations=proposal.reservations))


def _template(proposal: _Proposal, question: str) -> TemplateSpec:
    """Build the template with the first name and description that do not give the truth away."""
    name, asked = field_name(question, proposal.fallback), asked_for(question)
    if gives_away(name.replace("_", " "), proposal.settings["ground_truth"]):
        name = proposal.fallback
    for phrase in filter(None, (asked, "answer to the question")):
        spec = TemplateSpec(fields=[proposal.field(name, phrase)])
        if not any(finding.code.startswith("description_") for finding in lint(spec)):
            return spec
    return TemplateSpec(fields=[proposal.field(proposal.fallback, "answer to the question")])


def _braced(text: str) -> str:
    return text.replace("{", "(").replace("}", ")")


def _yes_no(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    value = yes_or_no(text)
    if value is None:
        return None
    settings = {"type": "bool", "ground_truth": value, "verify_with": suggest_rule("bool")}
    asked = _braced(" ".join(question.split()).rstrip("?").strip())
    description = f"Whether the response answers this question with yes: {asked}?"
    return _Proposal("answer_is_yes", settings, description, f"The reference answer says {'yes' if value else 'no'}.")


def _choice(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    options = offered(question, text)
    if not options:
        return None
    truth = next(option for option in options if option.casefold() == text.rstrip(".").casefold())
    rule = suggest_rule("literal")
    settings = {"type": "literal", "literal_values": options, "ground_truth": truth, "verify_with": rule}
    described = "Which of the offered categories the response settles on as the {it}"
    return _Proposal("choice", settings, described, f"The question offers {counted(len(options), 'answer')}.")


def _number(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    figure, doubts = read_figure(text), []
    if figure is None and (match := _ASIDE.fullmatch(text)):
        figure = read_figure(match[1])
        doubts = [f"What stands in brackets was left out: {match[2]}."] if match[2] else []
    if figure is None:
        return None
    if figure.unsure:
        doubts.append(f"The comma is read as a thousands separator: {figure.value}.")
    if figure.is_range and None in (figure.low, figure.high):
        doubts.append("The bound itself counts as right.")
    whole = all(isinstance(part, int) for part in (figure.value, figure.low or 0, figure.high or 0))
    truth, rule = 0 if figure.is_range else figure.value, figure.rule()
    settings = {"type": "int" if whole else "float", "ground_truth": truth, "verify_with": rule}
    unit = f", in {_braced(figure.unit)}" if figure.unit else ""
    letters = re.sub("[^a-z]", "", figure.unit.lower())
    name = f"number_of_{letters}" if len(letters) > 2 and isinstance(figure.value, int) else "amount"
    described = f"The {{it}} that the response states, as a {'whole' if whole else 'decimal'} number without its unit"
    if figure.is_range:
        why = "The reference answer gives bounds, so any number within them is right."
    elif rule["type"] == "NumericExact":
        why = "The reference answer is a whole number, which is compared exactly."
    else:
        by = f"{rule['tolerance']:g}" if figure.margin is not None else f"{rule['tolerance'] * 100:g} %"
        why = f"The reference answer is not exact, so numbers up to {by} away are right."
    return _Proposal(name, settings, described + unit, why, tuple(doubts))


def _date(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    day = full_date(text)
    if day is None:
        return None
    settings = {"type": "date", "ground_truth": day, "verify_with": suggest_rule("date")}
    described = "The {it} that the response states, as a calendar date in the form year-month-day"
    return _Proposal("date", settings, described, f"The reference answer is the date {day}, however it is written.")


def _list(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    items = [with_synonyms(item) for item in spread(text)]
    if not items:
        return None
    names = [name for name, _ in items]
    mapping = {normalize(other, _PLAIN): normalize(name, _PLAIN) for name, others in items for other in others}
    chosen = all(name.casefold() in question.casefold() for name in names)
    rule: dict[str, Any] = {"type": "SetContainment", "mode": "exact" if chosen else "superset"}
    order, how = "", "in any order; " + ("no others, as the question offers them" if chosen else "others are allowed")
    if _ORDER & set(words(question)):
        rule, order, how = {"type": "OrderedMatch"}, ", in the order of the response", "in their order"
    settings = {"type": "list_str", "ground_truth": names, "verify_with": {**rule, "normalize": _normalizers(mapping)}}
    described = f"The {{it}} that the response names, one entry each{order}"
    why = f"The reference answer names {counted(len(items), 'item')}, which must all be there, {how}."
    return _Proposal("items", settings, described, why)


def _name(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    name, others = with_synonyms(text.rstrip("."))
    if len(words(name)) > _LONGEST_NAME or not words(name):
        return None
    truth = normalize(name, _PLAIN)
    spellings = {normalize(other, _PLAIN) for other in (*others, *accepted)} - {truth}
    rule = {"type": "ExactMatch", "normalize": _normalizers(dict.fromkeys(sorted(spellings), truth))}
    also = f", also under {counted(len(spellings), 'other name')}" if spellings else ""
    return _Proposal(
        "answer",
        {"ground_truth": name, "verify_with": rule},
        "The {it} that the response settles on, as short as it is written there",
        f"The reference answer is the name {quoted(name)}, which must be met{also}; capitals do not count.",
    )


def _normalizers(synonyms: dict[str, str]) -> list[Any]:
    return [*_PLAIN, *([{"mapping": synonyms}] if synonyms else [])]


_Reader = Callable[[str, str, Sequence[str]], _Proposal | None]
_READERS: tuple[_Reader, ...] = (_yes_no, _choice, _number, _date, _list, _name)
