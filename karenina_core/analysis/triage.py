"""Whose fault a result without a pass is: what people say, and suggestions from the evidence for them to confirm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from karenina_core.analysis.evidence import Match, ValueEvidence, evidence_spans, spans_of
from karenina_core.authoring import RelaxedRule, passing_now, relaxed_rules
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import (
    CAUSE_WORDS,
    Annotation,
    Cause,
    Failure,
    FieldEvidence,
    VerificationResult,
    latest_reviews,
)

_LIKELY: Mapping[Cause, str] = {
    "answer_wrong": "The answer is probably wrong.",
    "judge_misread": "The judge probably misread the answer.",
    "rule_too_strict": "The rule is probably too strict.",
}
_PROVIDER = "The provider of the {asked} is probably at fault, or the way to it; this says nothing about the answer."
_SETTINGS = "The settings of the {asked} are probably at fault; this says nothing about the answer."
_TEMPLATE = "The template is at fault, not the answer."
_AT_FAULT: Mapping[str, str] = {
    **dict.fromkeys(("timeout", "connection", "rate_limit", "server_error"), _PROVIDER),
    **dict.fromkeys(("authentication", "not_found", "bad_request", "context_length"), _SETTINGS),
    **dict.fromkeys(("template_validation", "template_execution"), _TEMPLATE),
    "no_template": "The benchmark is at fault: the question has no template, so nothing can be decided.",
    "abstention": "The model is probably at fault: it seems not to have answered.",
    "sufficiency": "The answer is probably at fault: it seems to say too little to be judged.",
    "refused": "The filter of the provider is at fault; this says nothing about what the {asked} knows.",
    "recursion_limit": "The model is at fault: it did not come to an end.",
    "trace_validation": "The answer was delivered in a form that cannot be used; whether it is right is not known.",
    "deep_judgment": "The judge or the answer is at fault: no excerpt supports what was extracted.",
    "deep_judgment_rubric": "The judge or the answer is at fault: no excerpt supports a trait.",
    "truncated": "The token limit of the {asked} is probably too low; whether the answer is right is not known.",
    "empty": "The {asked} returned nothing; whether it knows the answer is not known.",
    "workspace": "The question's workspace is at fault, not the model.",
    "missing_recording": "The recording is at fault: it does not hold this call. This says nothing about the answer.",
    "cancelled": "Nobody is at fault: the run was cancelled before this was decided.",
    "parsing": "The judge is at fault, not the answer: its reply could not be read.",
    "embedding": "The embedding check is at fault, not the answer.",
    "unexpected": "Something failed that has nothing to do with the answer.",
}


def stance(review: Annotation) -> str:
    """Return an opinion in few words: the cause it names, or else whether it agrees with the verdict."""
    if review.cause:
        return CAUSE_WORDS[review.cause].lower()
    return "agrees" if review.agrees else "disagrees"


def disputes(reviews: Iterable[Annotation]) -> dict[str, tuple[Annotation, ...]]:
    """Return by result the last opinion of each person about it as a whole, where these opinions differ.

    Reviews without a name count as those of one person. A cause that only one of them names is no difference.

    Args:
        reviews: Of a run; those taken back and those of a single field are passed over.
    """
    latest: dict[str, dict[str, Annotation]] = {}
    for one in sorted(reviews, key=lambda one: one.at):
        if not one.undone and one.field is None:
            people = latest.setdefault(one.result_id, {})
            people.pop(one.author, None)
            people[one.author] = one
    return {name: tuple(people.values()) for name, people in latest.items() if _differ(people.values())}


def _differ(opinions: Collection[Annotation]) -> bool:
    causes = {one.cause for one in opinions} - {None}
    return len({one.agrees for one in opinions}) > 1 or len(causes) > 1


class Suggestion(NamedTuple):
    """A likely cause, and the evidence for it in one sentence."""

    cause: Cause
    why: str


def suggest(result: VerificationResult, near_miss: str = "", right_today: bool = False) -> Suggestion | None:
    """Return the likely cause of a result that did not pass; None for one that did.

    Args:
        result: The evaluation.
        near_miss: The change of a rule that would make it pass, in words; empty where there is none.
        right_today: Whether it passes by the rules of today, which accept more than those of its run.
    """
    if result.verdict == "pass":
        return None
    if result.failure is not None:
        return _of_failure(result.failure)
    if right_today:
        return Suggestion("rule_too_strict", "It passes by the rules of today. Re-verify the run to see that.")
    if near_miss:
        return Suggestion("rule_too_strict", f"It would pass if one were to {near_miss}.")
    return _of_values(result)


def blame(result: VerificationResult, suggestion: Suggestion) -> str:
    """Return in one or two sentences whose fault a result without a pass is, as surely as its evidence says it.

    Args:
        result: The evaluation.
        suggestion: What `suggest` says of it.
    """
    if result.failure is None:
        return f"{_LIKELY.get(suggestion.cause, CAUSE_WORDS[suggestion.cause] + '.')} {suggestion.why}"
    category, asked = result.failure.category, "model" if result.failure.stage == "generate_answer" else "judge"
    return _AT_FAULT.get(category, _AT_FAULT["unexpected"]).format(asked=asked)


class Suggestions(NamedTuple):
    """The likely causes of results by id, and the rules that would make some of them pass."""

    causes: dict[str, Suggestion]
    rules: list[RelaxedRule]


def suggestions(results: Sequence[VerificationResult], today: Benchmark) -> Suggestions:
    """Return the likely cause of every result that did not pass.

    Args:
        results: Of a run.
        today: The benchmark with the rules of today.
    """
    rules, right = relaxed_rules(results, today), passing_now(results, today)
    near = {name: f"{rule.label} ({rule.field})" for rule in reversed(rules) for name in rule.result_ids}
    causes = {item.result_id: suggest(item, near.get(item.result_id, ""), item.result_id in right) for item in results}
    return Suggestions({name: cause for name, cause in causes.items() if cause is not None}, rules)


class Fault(NamedTuple):
    """Whose fault a result without a pass is.

    Attributes:
        words: What the person named; or one or two whole sentences with the evidence.
        who: The person who named it; None where it is a guess from the evidence.
    """

    words: str
    who: str | None = None


def whose_fault(
    result: VerificationResult, reviews: Iterable[Annotation], today: Callable[[], Benchmark]
) -> Fault | None:
    """Return whose fault a result is: what a person said last, or else what the evidence suggests; None for a pass.

    Args:
        result: The evaluation.
        reviews: What people said about it.
        today: Returns the benchmark with the rules of today; asked only where no person named a cause.
    """
    if result.verdict == "pass":
        return None
    review = latest_reviews(reviews).get(result.result_id)
    if review is not None and review.cause is not None:
        return Fault(stance(review), review.who)
    found = suggestions([result], today()).causes.get(result.result_id)
    return Fault(blame(result, found)) if found else None


def _of_failure(failure: Failure) -> Suggestion:
    if failure.group == "abstained" or failure.category == "refused":
        return Suggestion("abstained", failure.reason)
    return Suggestion("unparseable" if failure.category == "parsing" else "technical", failure.reason)


def _of_values(result: VerificationResult) -> Suggestion:
    wrong = _decided_wrong(result)
    extracted = _matches(evidence_spans(result))
    truths = {item.name: item.expected for item in wrong if _is_quotable(item)}
    expected = _matches(spans_of(truths, result.answer.text if result.answer else ""))
    for item in wrong:
        if item.is_trace:
            continue
        there = expected.get(item.name)
        if item.extracted is None and there and there <= {"exact", "normalised"}:
            return Suggestion("judge_misread", f"{item.name}: the truth stands in the answer, but was not extracted.")
        if "nowhere" in extracted.get(item.name, ()) and not _is_class(item, item.extracted):
            return Suggestion("judge_misread", f"{item.name}: the extracted value stands nowhere in the answer.")
    otherwise = ", ".join(item.name for item in wrong if item.extracted is not None)
    nothing = ", ".join(item.name for item in wrong if item.extracted is None)
    parts = [f"{otherwise}: the answer says something else than the truth."] if otherwise else []
    parts += [f"{nothing}: nothing was found in the answer."] if nothing else []
    return Suggestion("answer_wrong", " ".join(parts) or "No field explains it.")


def _decided_wrong(result: VerificationResult) -> list[FieldEvidence]:
    """Return the fields that speak against the result: those decided wrong, and those where nothing was found."""
    fields = result.template.fields if result.template else []
    ruled = any(item.rule is not None for item in fields)
    return [
        item
        for item in fields
        if item.result is False
        or (item.result is None and item.extracted is None and (item.rule is not None or not ruled))
    ]


def _is_quotable(item: FieldEvidence) -> bool:
    """Return whether an answer that says the truth of a field has its words.

    A yes or no never stands there, and the name of a class may stand there for something else.
    """
    return not (item.expected is None or isinstance(item.expected, bool) or _is_class(item, item.expected))


def _is_class(item: FieldEvidence, value: Any) -> bool:
    """Return whether a value is a class that an answer need not name: one of given choices, or of synonyms."""
    rule = item.rule or {}
    if rule.get("type") == "LiteralMatch":
        return True
    chain = rule.get("normalize")
    maps = [part.get("mapping") for part in chain if isinstance(part, dict)] if isinstance(chain, list) else []
    labels = {str(label).casefold() for mapping in maps if isinstance(mapping, dict) for label in mapping.values()}
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, str) and one.strip().casefold() in labels for one in values)


def _matches(spans: Iterable[ValueEvidence]) -> dict[str, set[Match]]:
    """Return by field how its values were found."""
    found: dict[str, set[Match]] = {}
    for item in spans:
        found.setdefault(item.field.partition(".")[0], set()).add(item.match)
    return found
