"""Traits as ratings of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.properties import ABSENT, laid_over, plain, values_by_name, write_over
from karenina_core.benchmark.checkpoint.ratings import KINDS, METRIC_LISTS
from karenina_core.benchmark.checkpoint.vocabulary import GLOBAL, PREFIX, QUESTION
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, RubricTrait, StoredTrait

_OPTIONAL = frozenset({"summary", "fp_instructions", "fn_instructions"})
_ASSUMED: dict[str, Any] = {
    "higher_is_better": True,
    "case_sensitive": True,
    "invert_result": False,
}


def write_rating(trait: AnyTrait, scope: str, read: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the rating of a trait.

    Args:
        trait: The trait.
        scope: `Global` or `QuestionSpecific`.
        read: The rating it was read from, if any; what it holds beyond the trait is kept.
    """
    if isinstance(trait, StoredTrait):
        return _kept(trait, scope)
    suffix, worst, best, wanted = _parts(trait)
    base = read if read is not None and _kind(read) in (None, trait.type) else {}
    wanted = {name: value for name, value in wanted.items() if not _goes_without_saying(name, value, base)}
    values = {
        "@type": "Rating",
        "name": trait.name,
        "description": ABSENT if trait.description is None else trait.description,
        "bestRating": best,
        "worstRating": worst,
        "additionalType": f"{PREFIX}{scope}{suffix}",
        "additionalProperty": write_over(
            base.get("additionalProperty"),
            wanted,
            known=lambda name: name in wanted or name in _OPTIONAL or name in ("invert", "callable_name"),
            decode=lambda name, value: plain(value) if name in METRIC_LISTS or name == "classes" else value,
            encode=lambda name, value: value,
        ),
    }
    return laid_over(base, values)


def _kept(trait: StoredTrait, scope: str) -> dict[str, Any]:
    """Return the rating as it was read, unless the trait now has another name or place."""
    rating = trait.rating
    if rating.get("name") != trait.name:
        rating = {**rating, "name": trait.name}
    kind = rating.get("additionalType")
    bare = kind.removeprefix(PREFIX) if isinstance(kind, str) else ""
    for other in (GLOBAL, QUESTION):
        if bare.startswith(other) and other != scope:
            rating = {**rating, "additionalType": f"{PREFIX}{scope}{bare.removeprefix(other)}"}
    return rating


def _kind(rating: Mapping[str, Any]) -> str | None:
    kind = rating.get("additionalType")
    if not isinstance(kind, str):
        return None
    return KINDS.get(kind.removeprefix(PREFIX).removeprefix(GLOBAL).removeprefix(QUESTION))


def _goes_without_saying(name: str, value: Any, base: Mapping[str, Any]) -> bool:
    """Whether an existing rating may stay silent about a value, because that is what silence means."""
    if not base or name not in _ASSUMED or value != _ASSUMED[name]:
        return False
    return name not in values_by_name(base.get("additionalProperty"))


def _parts(trait: RubricTrait | ManualRubricTrait | MetricRubricTrait) -> tuple[str, int, int, dict[str, Any]]:
    """Return the type suffix, the worst and best rating, and the properties of a trait."""
    match trait:
        case RubricTrait():
            suffix, worst, best, wanted = _llm_parts(trait)
        case ManualRubricTrait():
            suffix, worst, best = "RegexTrait", 0, 1
            wanted = {
                "pattern": trait.pattern,
                "case_sensitive": trait.case_sensitive,
                "invert_result": trait.invert,
                "higher_is_better": trait.higher_is_better,
            }
        case MetricRubricTrait():
            suffix, worst, best = "MetricRubricTrait", 0, 1
            wanted = _metric_properties(trait)
    return suffix, worst, best, wanted if trait.summary is None else {**wanted, "summary": trait.summary}


def _llm_parts(trait: RubricTrait) -> tuple[str, int, int, dict[str, Any]]:
    bounds = {"min_score": trait.min_score, "max_score": trait.max_score}
    wanted = {"higher_is_better": trait.higher_is_better, **bounds}
    if trait.is_binary:
        return "RubricTrait", 0, 1, {"kind": "boolean", **wanted}
    if trait.kind == "literal":
        classes = dict(trait.classes or {})
        return "LLMRubricTrait", 0, len(classes) - 1, {"kind": "literal", "classes": classes, **wanted}
    return "RubricTrait", trait.min_score, trait.max_score, {"kind": "score", **wanted}


def _metric_properties(trait: MetricRubricTrait) -> dict[str, Any]:
    lists = {name: list(getattr(trait, name)) for name in METRIC_LISTS}
    return {
        **{name: items for name, items in lists.items() if items or name not in _OPTIONAL},
        "evaluation_mode": trait.evaluation_mode,
        "repeated_extraction": trait.repeated_extraction,
        "higher_is_better": trait.higher_is_better,
    }
