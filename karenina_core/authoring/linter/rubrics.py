"""`lint_rubric`: what could be better in the traits of a rubric."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from karenina_core import patterns
from karenina_core.authoring.linter.fields import pattern_problems, repeats_repetition
from karenina_core.authoring.linter.findings import Finding, Problem, findings_of, in_order, rule
from karenina_core.authoring.reading import is_placeholder, words
from karenina_core.errors import InputError
from karenina_core.schemas import (
    METRICS_BY_MODE,
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    RubricTrait,
    StoredTrait,
    listed,
    quoted,
)
from karenina_core.text import first_free

_WIDEST = 11  # steps of a scale that a judge can tell apart


def lint_rubric(traits: Sequence[AnyTrait], *, shared: Sequence[AnyTrait] = ()) -> list[Finding]:
    """Return what could be better in traits, the gravest first; `field` of a finding is the trait's name.

    Every fix that is offered makes its finding go away.

    Args:
        traits: The traits of one rubric. They need not form one yet: names may be repeated.
        shared: The global traits, where `traits` belong to one question.
    """
    findings = [item for trait in traits for item in findings_of("trait", trait, traits, shared, name=trait.name)]
    unique = {(finding.code, finding.field, finding.what): finding for finding in findings}
    return in_order(unique.values())


@rule("trait", "error")
def duplicate_trait(trait: AnyTrait, traits: Sequence[AnyTrait], shared: Sequence[AnyTrait]) -> Iterator[Problem]:
    """Results are stored by the name of a trait, whatever its kind.

    Give each its own name.
    """
    count = [other.name for other in traits].count(trait.name)
    if count > 1:
        yield Problem(f"{count} traits are named {quoted(trait.name)}.")


@rule("trait", "warning")
def trait_hides_global(trait: AnyTrait, traits: Sequence[AnyTrait], shared: Sequence[AnyTrait]) -> Iterator[Problem]:
    """For this question the global one is not evaluated; names that differ only in capitals are easily confused.

    Rename it if both are meant.
    """
    names = {_key(other.name): other.name for other in shared}
    alike = names.get(_key(trait.name))
    if alike is not None:
        taken = {other.name for other in (*shared, *traits)}
        free = first_free(lambda number: f"{trait.name} {number}", taken, 2)
        yield Problem(f"The global rubric has a trait {quoted(alike)} too.", "Give it another name", {"name": free})


@rule("trait", "error")
def trait_undescribed(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """It is all that a judge, or a reader of results, knows of what to assess.

    Describe what to assess, and what the ends of the scale stand for.
    """
    if isinstance(trait, RubricTrait | ManualRubricTrait) and not (trait.description or "").strip():
        if isinstance(trait, ManualRubricTrait):
            text = f"Whether {quoted(trait.pattern)} is found in the response"
        elif trait.is_binary:
            text = f"Answer yes if the response shows {trait.name.strip().lower()}, no otherwise"
        else:
            text = f"Rate how far the response shows {trait.name.strip().lower()}"
        yield Problem("The trait has no description.", "Use a first description", {"description": text})


@rule("trait", "warning")
def trait_vague(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """Two judges would assess different things.

    Describe what to assess, and when a response belongs to each class or end of the scale.
    """
    if not isinstance(trait, RubricTrait):
        return
    text = (trait.description or "").strip()
    if text and (is_placeholder(text) or set(words(text)) <= set(words(trait.name))):
        yield Problem(f"The description {quoted(text)} tells no more than the name.")
    silent = [name for name, meaning in (trait.classes or {}).items() if not meaning.strip()]
    if silent and trait.kind == "literal":
        yield Problem(f"The class {listed(silent)} has no description.")


@rule("trait", "warning")
def scale_too_fine(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """A judge does not tell so many apart, so that scores vary by chance.

    Use 1 to 5.
    """
    if isinstance(trait, RubricTrait) and trait.kind == "score":
        steps = trait.max_score - trait.min_score + 1
        if steps > _WIDEST:
            yield Problem(f"The scale has {steps} steps.", "Use 1 to 5", {"min_score": 1, "max_score": 5})


@rule("trait", "warning")
def scale_disagrees(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """The judge is told both.

    Make the two agree.
    """
    if not isinstance(trait, RubricTrait) or trait.kind != "score":
        return
    numbers = [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.%])", trait.description or "")]
    low, high = (min(numbers), max(numbers)) if len(numbers) > 1 else (trait.min_score, trait.max_score)
    if (low, high) != (trait.min_score, trait.max_score):
        changes = {"min_score": low, "max_score": high} if 0 < high - low < _WIDEST else None
        what = f"The description names {low} to {high}, the scale is {trait.min_score} to {trait.max_score}."
        yield Problem(what, f"Make the scale {low} to {high}", changes)


@rule("trait", "error")
def trait_pattern(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """The trait has no value, or the same for every text.

    Correct the pattern; ask for at least one character.
    """
    if not isinstance(trait, ManualRubricTrait):
        return
    try:
        patterns.validate(trait.pattern)
    except InputError as error:
        what = f"The pattern {quoted(trait.pattern)} is not valid: {error.why.rstrip('.')}."
        yield Problem(what, "Look for the text literally", {"pattern": re.escape(trait.pattern)})
        return
    yield from pattern_problems(trait.pattern)


@rule("trait", "warning")
def trait_pattern_can_hang(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """On some texts the search takes practically forever; it is stopped, and the trait has no value.

    Repeat only once, for example a+ instead of (a+)+.
    """
    if isinstance(trait, ManualRubricTrait) and repeats_repetition(trait.pattern):
        yield Problem(f"The pattern {quoted(trait.pattern)} repeats a repetition.")


@rule("trait", "error")
def metric_not_computable(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """Without a list of what should be classified as negative there are no true negatives.

    Add such a list, or leave these metrics out.
    """
    if isinstance(trait, MetricRubricTrait):
        mode = "full_matrix" if trait.tn_instructions and trait.evaluation_mode != "tp_only" else "tp_only"
        lost = [name for name in trait.metrics if name not in METRICS_BY_MODE[mode]]
        if lost:
            rest = [name for name in trait.metrics if name not in lost] or ["precision", "recall", "f1"]
            yield Problem(f"{listed(lost)} cannot be computed.", "Leave them out", {"metrics": rest})


@rule("trait", "warning")
def negatives_unused(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """The mode is tp_only, which tracks no true negatives.

    Use the full matrix, or remove the items.
    """
    if isinstance(trait, MetricRubricTrait) and trait.evaluation_mode == "tp_only" and trait.tn_instructions:
        what = "The items of the negative class are not used."
        yield Problem(what, "Use the full matrix", {"evaluation_mode": "full_matrix"})


@rule("trait", "error")
def items_overlap(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """An item that is in two lists, or twice in one, cannot be counted.

    List every item once.
    """
    if not isinstance(trait, MetricRubricTrait):
        return
    expected = set(map(_key, trait.tp_instructions)) - {""}
    for other, name in ((trait.tn_instructions, "of the negative class"), (trait.fp_instructions, "a mistake")):
        both = [item for item in other if _key(item) in expected]
        if both:
            yield Problem(f"{listed(both)} is both expected and {name}.")
    for name in ("tp_instructions", "tn_instructions"):
        items: list[str] = getattr(trait, name)
        once = list({_key(item): item for item in reversed(items) if item.strip()}.values())[::-1]
        if len(once) < len(items):
            yield Problem("An item is listed twice or blank.", "List every item once", {name: once}, name)


def _key(item: str) -> str:
    return item.strip().casefold()


@rule("trait", "warning")
def trait_not_evaluated(trait: AnyTrait, *_: Any) -> Iterator[Problem]:
    """It has no values in results.

    Replace it by a trait of another kind if its values matter.
    """
    if isinstance(trait, StoredTrait):
        yield Problem(f"The trait is stored but not evaluated: {trait.reason}.")
