"""`lint_rubric`: what is to be mended in the traits of a rubric."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from karenina_core import patterns
from karenina_core.authoring.linter.finding import Finding, Severity, TraitFix
from karenina_core.authoring.linter.words import is_placeholder, words
from karenina_core.authoring.patterns_at_risk import can_hang
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

_Found = Iterator[tuple[str, Severity, tuple[str, str, str], TraitFix | None]]
_WIDEST = 11  # steps of a scale that a judge can tell apart
_DESCRIBED = {
    True: "Answer yes if the response shows {it}, no otherwise",
    False: "Rate how far the response shows {it}",
}


def lint_rubric(traits: Sequence[AnyTrait], *, shared: Sequence[AnyTrait] = ()) -> list[Finding]:
    """Return what is to be mended in traits, the gravest first; `field` of a finding is the trait's name.

    Every fix that is offered makes its finding go away.

    Args:
        traits: The traits of one rubric. They need not form one yet: names may be repeated.
        shared: The global traits, where `traits` belong to one question.
    """
    found = [*_names(traits, shared)]
    for trait in traits:
        for check in _CHECKS:
            for code, severity, said, fix in check(trait):
                kept = fix if fix is not None and _mends(check, trait, fix, code) else None
                found.append(Finding(code, severity, trait.name, *said, fix=kept))
    order = ("error", "warning", "hint")
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _mends(check: Callable[[AnyTrait], _Found], trait: AnyTrait, fix: TraitFix, code: str) -> bool:
    try:
        return code not in {entry[0] for entry in check(fix.edit(trait))}
    except ValueError:
        return False


def _names(traits: Sequence[AnyTrait], shared: Sequence[AnyTrait]) -> Iterator[Finding]:
    names = [trait.name for trait in traits]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            said = (
                f"{names.count(name)} traits are named {quoted(name)}.",
                "Results are kept by the name of a trait, whatever its kind.",
                "Give each its own name.",
            )
            yield Finding("duplicate_trait", "error", name, *said)
    others = {trait.name for trait in shared}
    alike = {name.strip().casefold(): name for name in others}
    for name in dict.fromkeys(names):
        if name in others:
            said = (
                f"The global rubric has a trait {quoted(name)} too.",
                "For this question the global one is not evaluated, so the two cannot be compared.",
                "Rename it if both are meant.",
            )
            fix = TraitFix("Give it another name", lambda trait: _renamed(trait, others | set(names)))
            yield Finding("trait_hides_global", "warning", name, *said, fix=fix)
        elif name.strip().casefold() in alike:
            said = (
                f"The global rubric has the trait {quoted(alike[name.strip().casefold()])}.",
                "Names that differ only in capitals or blanks are easily taken for one another.",
                "Rename it.",
            )
            yield Finding("trait_names_alike", "hint", name, *said)


def _renamed(trait: AnyTrait, taken: set[str]) -> AnyTrait:
    name = next(name for n in range(2, len(taken) + 3) if (name := f"{trait.name} {n}") not in taken)
    return trait.model_copy(update={"name": name})


def _description(trait: AnyTrait) -> _Found:
    if isinstance(trait, StoredTrait) or (trait.description or "").strip():
        return
    if isinstance(trait, RubricTrait):
        text = _DESCRIBED[trait.is_binary].format(it=trait.name.strip().lower())
        said = (
            "The trait has no description.",
            "It is all the judge knows of what to assess.",
            "Say what to assess, and what the ends of the scale stand for.",
        )
        yield "trait_undescribed", "error", said, _described(text)
    elif isinstance(trait, ManualRubricTrait):
        said = ("The trait has no description.", "Readers of results see only its name.", "Say what it looks for.")
        yield "trait_undescribed", "hint", said, _described(f"Whether {quoted(trait.pattern)} is found in the response")


def _described(text: str) -> TraitFix:
    return TraitFix("Use a first description", lambda trait: trait.model_copy(update={"description": text}))


def _vague(trait: AnyTrait) -> _Found:
    text = (trait.description or "").strip()
    if not isinstance(trait, RubricTrait) or not text:
        return
    if is_placeholder(text) or set(words(text)) <= set(words(trait.name)):
        said = (
            f"The description {quoted(text)} says no more than the name.",
            "Two judges would assess different things.",
            "Say what to assess, and what the ends of the scale stand for.",
        )
        yield "trait_vague", "warning", said, None


def _scale(trait: AnyTrait) -> _Found:
    if not isinstance(trait, RubricTrait) or trait.kind != "score":
        return
    if trait.max_score - trait.min_score + 1 > _WIDEST:
        said = (
            f"The scale has {trait.max_score - trait.min_score + 1} steps.",
            "A judge does not tell so many apart, so that scores vary by chance.",
            "Use 1 to 5.",
        )
        fix = TraitFix("Use 1 to 5", lambda trait: trait.model_copy(update={"min_score": 1, "max_score": 5}))
        yield "scale_too_fine", "warning", said, fix
    numbers = [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.%])", trait.description or "")]
    if len(numbers) >= 2 and (max(numbers) != trait.max_score or min(numbers) != trait.min_score):
        said = (
            f"The description speaks of {min(numbers)} to {max(numbers)}, the scale is "
            f"{trait.min_score} to {trait.max_score}.",
            "The judge is told both.",
            "Make the two agree.",
        )
        yield "scale_disagrees", "warning", said, _rescaled(min(numbers), max(numbers))


def _rescaled(low: int, high: int) -> TraitFix | None:
    if not low < high or high - low >= _WIDEST:
        return None
    return TraitFix(
        f"Make the scale {low} to {high}", lambda trait: trait.model_copy(update={"min_score": low, "max_score": high})
    )


def _classes(trait: AnyTrait) -> _Found:
    if not isinstance(trait, RubricTrait) or trait.kind != "literal":
        return
    silent = [name for name, text in (trait.classes or {}).items() if not text.strip()]
    if silent:
        said = (
            f"The class {listed(silent)} has no description.",
            "The judge has only its name to go by.",
            "Say when a response belongs to it.",
        )
        yield "class_undescribed", "warning", said, None


def _pattern(trait: AnyTrait) -> _Found:
    if not isinstance(trait, ManualRubricTrait):
        return
    try:
        patterns.validate(trait.pattern)
    except ValueError as error:
        said = (f"The pattern {quoted(trait.pattern)} is not valid.", str(error), "Correct it.")
        literal = re.escape(trait.pattern)
        yield "regex_invalid", "error", said, _repatterned("Look for the text literally", literal)
        return
    if patterns.found(trait.pattern, ""):
        outcome = "never" if trait.invert else "always"
        said = (
            f"The pattern {quoted(trait.pattern)} matches also where there is nothing.",
            f"So the trait {outcome} holds.",
            "Ask for at least one character.",
        )
        yield (
            "pattern_matches_empty",
            "error",
            said,
            _repatterned("Write + for *", re.sub(r"(?<!\\)\*", "+", trait.pattern)),
        )
    if can_hang(trait.pattern):
        said = (
            f"The pattern {quoted(trait.pattern)} repeats a repetition.",
            "On some texts the search takes practically forever; it is stopped, and the trait has no value.",
            "Repeat only once, for example a+ instead of (a+)+.",
        )
        yield "pattern_can_hang", "warning", said, None


def _repatterned(label: str, pattern: str) -> TraitFix:
    return TraitFix(label, lambda trait: trait.model_copy(update={"pattern": pattern}))


def _metrics(trait: AnyTrait) -> _Found:
    if not isinstance(trait, MetricRubricTrait):
        return
    mode = "full_matrix" if trait.tn_instructions and trait.evaluation_mode != "tp_only" else "tp_only"
    lost = [name for name in trait.metrics if name not in METRICS_BY_MODE[mode]]
    if lost:
        kept = [name for name in trait.metrics if name not in lost] or ["precision", "recall", "f1"]
        said = (
            f"{listed(lost)} cannot be computed.",
            "Without a list of what should be classified as negative there are no true negatives.",
            "Add such a list, or leave these metrics out.",
        )
        fix = TraitFix("Leave them out", lambda trait: trait.model_copy(update={"metrics": kept}))
        yield "metric_not_computable", "error", said, fix
    if trait.evaluation_mode == "tp_only" and trait.tn_instructions:
        said = (
            "The items of the negative class are not used.",
            "The mode is tp_only, which tracks no true negatives.",
            "Use the full matrix, or remove the items.",
        )
        fix = TraitFix("Use the full matrix", lambda trait: trait.model_copy(update={"evaluation_mode": "full_matrix"}))
        yield "negatives_unused", "warning", said, fix


def _instructions(trait: AnyTrait) -> _Found:
    if not isinstance(trait, MetricRubricTrait):
        return
    positive, negative = (_keys(items) for items in (trait.tp_instructions, trait.tn_instructions))
    both = [item for item in trait.tp_instructions if item.strip().casefold() in negative]
    if both:
        said = (f"{listed(both)} is in both classes.", "It cannot be counted.", "Keep it in one of them.")
        yield "item_in_both_classes", "error", said, None
    for name, items in (("tp_instructions", trait.tp_instructions), ("tn_instructions", trait.tn_instructions)):
        if len(_keys(items)) < len(items):
            said = ("An item is listed twice or blank.", "It would count twice.", "List every item once.")
            once = list({item.strip().casefold(): item for item in reversed(items) if item.strip()}.values())[::-1]
            fix = _with_items(name, once)
            yield f"items_repeated_{name[:2]}", "warning", said, fix
    expected = [item for item in trait.fp_instructions if item.strip().casefold() in positive]
    if expected:
        said = (
            f"{listed(expected)} is both expected and an expected mistake.",
            "It counts as right, and is shown as a mistake.",
            "Keep it in one of the lists.",
        )
        yield "mistake_expected_as_right", "warning", said, None


def _with_items(name: str, items: list[str]) -> TraitFix:
    return TraitFix("List every item once", lambda trait: trait.model_copy(update={name: items}))


def _keys(items: Sequence[str]) -> set[str]:
    return {item.strip().casefold() for item in items if item.strip()}


def _stored(trait: AnyTrait) -> _Found:
    if isinstance(trait, StoredTrait):
        said = (
            f"The trait is kept but not evaluated: {trait.reason}.",
            "It has no values in results.",
            "Replace it by a trait of another kind if its values matter.",
        )
        yield "trait_not_evaluated", "warning" if trait.problem else "hint", said, None


_CHECKS: tuple[Callable[[AnyTrait], _Found], ...] = (
    _description,
    _vague,
    _scale,
    _classes,
    _pattern,
    _metrics,
    _instructions,
    _stored,
)
