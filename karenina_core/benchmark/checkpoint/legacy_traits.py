"""Traits that older programs stored as plain objects, turned into ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.properties import plain, property_node, values_by_name
from karenina_core.benchmark.checkpoint.ratings import KINDS, SUFFIXES
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.benchmark.checkpoint.vocabulary import PREFIX

_LISTS = {
    "traits": None,
    "llm_traits": "llm",
    "regex_traits": "regex",
    "manual_traits": "regex",
    "metric_traits": "metric",
    "callable_traits": "callable",
    "agentic_traits": "agentic",
}
_ON_THE_RATING = frozenset({"name", "description", "type", "@type", "@id"})


def ratings_of_rubric(rubric: Any, scope: str, where: str, repairs: Repairs) -> list[dict[str, Any]]:
    """Return the ratings of a rubric object with `traits`, `llm_traits`, `manual_traits` and the like.

    Args:
        rubric: The object; anything else holds no traits.
        scope: `Global` or `QuestionSpecific`.
        where: Its place in words.
        repairs: Gets a note that traits were converted.
    """
    if not isinstance(rubric, Mapping):
        return []
    found = [(trait, kind) for key, kind in _LISTS.items() for trait in _listed(rubric.get(key), where, repairs)]
    if found:
        repairs.add(where, "the rubric is a plain object", "its traits were turned into ratings")
    return [rating_of_trait(trait, kind, scope) for trait, kind in found]


def ratings_of_carriers(
    nodes: Any, carriers: Mapping[str, str], scope: str, where: str, repairs: Repairs
) -> list[dict[str, Any]]:
    """Return the ratings of traits stored as additional properties under the names in `carriers`."""
    ratings = []
    for name, value in values_by_name(nodes).items():
        if name not in carriers:
            continue
        traits = plain(value)
        if isinstance(traits, list):
            ratings += [rating_of_trait(trait, carriers[name], scope) for trait in _listed(traits, where, repairs)]
            repairs.add(where, f"traits are stored in the property {name!r}", "turned into ratings")
        else:
            repairs.add(where, f"the property {name!r} holds no list of traits", "kept as it is, not used")
    return ratings


def rating_of_trait(trait: Mapping[str, Any], kind: str | None, scope: str) -> dict[str, Any]:
    """Return the rating of one plain trait; whatever it holds becomes a property.

    Args:
        trait: Such as `{"name": ..., "pattern": ...}`.
        kind: What its list says it is; None when the trait itself tells.
        scope: `Global` or `QuestionSpecific`.
    """
    kind = _kind(trait, kind)
    literal = kind == "llm" and (trait.get("kind") == "literal" or "classes" in trait)
    suffix = "LLMRubricTrait" if literal else SUFFIXES[kind]
    properties = {name: value for name, value in trait.items() if name not in _ON_THE_RATING}
    scale = properties.pop("scale", None)
    if isinstance(scale, list) and scale and "min_score" not in trait:
        properties |= {"min_score": scale[0], "max_score": scale[-1]}
    bounds = (
        {} if kind == "llm" else {"bestRating": trait.get("max_score", 1), "worstRating": trait.get("min_score", 0)}
    )
    return {
        "@type": "Rating",
        **{key: trait[key] for key in ("@id", "name", "description") if key in trait},
        **bounds,
        "additionalType": f"{PREFIX}{scope}{suffix}",
        "additionalProperty": [property_node(name, value) for name, value in properties.items()],
    }


def _kind(trait: Mapping[str, Any], kind: str | None) -> str:
    stated = trait.get("type")
    if isinstance(stated, str) and (KINDS.get(stated, stated) in SUFFIXES):
        return KINDS.get(stated, stated)
    if "callable_name" in trait or "callable_code" in trait:
        return "callable"
    if kind is None:
        kind = "regex" if "pattern" in trait else "metric" if "metrics" in trait else "llm"
    return kind


def _listed(traits: Any, where: str, repairs: Repairs) -> list[dict[str, Any]]:
    if not isinstance(traits, list):
        return []
    found = [trait for trait in traits if isinstance(trait, dict)]
    if len(found) < len(traits):
        repairs.add(where, "an entry of the trait list is no object", "left out")
    return found
