"""First templates without a model, what linter and self-test say of a draft, and which drafts a person must look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from karenina_core.authoring.explanations import Subject
from karenina_core.authoring.field_types import full_date, suggest_rule, yes_or_no
from karenina_core.authoring.linter.fields import first_description
from karenina_core.authoring.linter.findings import Finding
from karenina_core.authoring.linter.templates import lint
from karenina_core.authoring.reading import (
    Figure,
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
from karenina_core.templates import FieldSpec, FieldType, TemplateSpec
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
        odd = [case for case in self.cases if case.surprising]
        reasons = [*self.reservations]
        reasons += [f"{finding.field}: {finding.what}" if finding.field else finding.what for finding in grave]
        return reasons + [
            f"{case.field}: {case.label} should {case.expected}, but the verdict is {case.verdict}." for case in odd
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


class _Proposal(NamedTuple):
    """A field for a reference answer.

    Attributes:
        name: Its name where the question does not give one.
        kind: Its type.
        truth: Its truth.
        why: How it came about.
        rule: Its rule; None for the natural one of the type.
        options: The categories, for a choice.
        more: What its description says beside what is looked for.
        reservations: What is not sure.
    """

    name: str
    kind: FieldType
    truth: Any
    why: str
    rule: dict[str, Any] | None = None
    options: Sequence[str] = ()
    more: str = ""
    reservations: Sequence[str] = ()


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
    proposal = _propose(text, question, read_notes(notes).accepted) if len(text) <= _LONGEST_ANSWER else None
    if proposal is None:
        return RuleDraft(
            None,
            "The reference answer is a sentence or more. What an answer must say to be right is for a person to "
            "decide, or for a model to propose.",
        )
    try:
        spec = TemplateSpec(fields=[_field(proposal, question)])
    except ValidationError as error:
        return RuleDraft(
            None, f"The reference answer cannot be written into a template: {validation_message(error, most=1)}."
        )
    known = {"question": question, "reference_answer": reference_answer, "notes": notes}
    return RuleDraft(spec, proposal.why, review(spec, **known, reservations=proposal.reservations))


def _field(proposal: _Proposal, question: str) -> FieldSpec:
    """Build the field with the first name and description that do not give the truth away."""
    name = field_name(question, proposal.name)
    settings = {
        "name": proposal.name if gives_away(name.replace("_", " "), proposal.truth) else name,
        "type": proposal.kind,
        "description": "The answer to the question",
        "ground_truth": proposal.truth,
        "literal_values": list(proposal.options),
        "verify_with": proposal.rule or suggest_rule(proposal.kind),
    }
    asked = " ".join(question.split()) if proposal.kind == "bool" else asked_for(question)
    text = first_description(FieldSpec.model_validate(settings), asked, "answer to the question", more=proposal.more)
    return FieldSpec.model_validate(settings | ({"description": text} if text else {}))


def _propose(text: str, question: str, accepted: Sequence[str]) -> _Proposal | None:
    """Return the field for a reference answer, by the most special thing the answer can be; None for a sentence."""
    if (value := yes_or_no(text)) is not None:
        return _Proposal("answer_is_yes", "bool", value, f"The reference answer says {'yes' if value else 'no'}.")
    if options := offered(question, text):
        truth = next(option for option in options if option.casefold() == text.rstrip(".").casefold())
        why = f"The question offers {counted(len(options), 'answer')}."
        return _Proposal("choice", "literal", truth, why, options=options)
    if figure := read_figure(text):
        return _number(figure)
    if (aside := _ASIDE.fullmatch(text)) and (figure := read_figure(aside[1])):
        return _number(figure, aside[2])
    if day := full_date(text):
        return _Proposal("date", "date", day, f"The reference answer is the date {day}, however it is written.")
    if items := spread(text):
        return _list(items, question)
    name, others = with_synonyms(text.rstrip("."))
    return _name(name, [*others, *accepted]) if 0 < len(words(name)) <= _LONGEST_NAME else None


def _number(figure: Figure, aside: str = "") -> _Proposal:
    doubts = [f"What stands in brackets was left out: {aside}."] if aside else []
    if figure.unsure:
        doubts.append(f"The comma is read as a thousands separator: {figure.value}.")
    if figure.is_range and None in (figure.low, figure.high):
        doubts.append("The bound itself counts as right.")
    whole = all(isinstance(part, int) for part in (figure.value, figure.low or 0, figure.high or 0))
    truth, rule = 0 if figure.is_range else figure.value, figure.rule()
    letters = re.sub("[^a-z]", "", figure.unit.lower())
    name = f"number_of_{letters}" if len(letters) > 2 and isinstance(figure.value, int) else "amount"
    if figure.is_range:
        why = "The reference answer gives bounds, so any number within them is right."
    elif rule["type"] == "NumericExact":
        why = "The reference answer is a whole number, which is compared exactly."
    else:
        by = f"{rule['tolerance']:g}" if figure.margin is not None else f"{rule['tolerance'] * 100:g} %"
        why = f"The reference answer is not exact, so numbers up to {by} away are right."
    unit = f", in {figure.unit}" if figure.unit else ""
    return _Proposal(name, "int" if whole else "float", truth, why, rule, more=unit, reservations=doubts)


def _list(texts: Sequence[str], question: str) -> _Proposal:
    items = dict(map(with_synonyms, texts))
    chosen = all(name.casefold() in question.casefold() for name in items)
    rule: dict[str, Any] = {"type": "SetContainment", "mode": "exact" if chosen else "superset"}
    order, how = "", "in any order; " + ("no others, as the question offers them" if chosen else "others are allowed")
    if _ORDER & set(words(question)):
        rule, order, how = {"type": "OrderedMatch"}, ", in the order of the response", "in their order"
    rule["normalize"] = _normalizers((other, name) for name, others in items.items() for other in others)
    why = f"The reference answer names {counted(len(items), 'item')}, which must all be there, {how}."
    return _Proposal("items", "list_str", list(items), why, rule, more=order)


def _name(name: str, others: Sequence[str]) -> _Proposal:
    chain = _normalizers((other, name) for other in others)
    also = f", also under {counted(len(chain[-1]['mapping']), 'other name')}" if len(chain) > len(_PLAIN) else ""
    why = f"The reference answer is the name {quoted(name)}, which must be met{also}; capitals do not count."
    return _Proposal("answer", "str", name, why, {"type": "ExactMatch", "normalize": chain})


def _normalizers(synonyms: Iterable[tuple[str, str]]) -> list[Any]:
    pairs = {normalize(other, _PLAIN): normalize(name, _PLAIN) for other, name in synonyms}
    mapping = {other: name for other, name in sorted(pairs.items()) if other != name}
    return [*_PLAIN, *([{"mapping": mapping}] if mapping else [])]
