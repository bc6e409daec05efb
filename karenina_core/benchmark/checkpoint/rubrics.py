"""Lists of ratings as rubrics, and back."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from karenina_core.benchmark.checkpoint.properties import listed, objects
from karenina_core.benchmark.checkpoint.rating_writer import write_rating
from karenina_core.benchmark.checkpoint.ratings import read_rating
from karenina_core.benchmark.checkpoint.repairs import Repairs
from karenina_core.errors import CheckpointError
from karenina_core.schemas import AnyTrait, Rubric
from karenina_core.text import first_free

MAX_TRAITS = 1_000


class ReadTraits(NamedTuple):
    """The traits of a list of ratings: those of the list's own scope, and those of the other."""

    own: list[AnyTrait]
    strays: list[AnyTrait]


def read_traits(ratings: Any, place: str, where: str, repairs: Repairs) -> ReadTraits:
    """Read a list of ratings that stands in a place of scope `place`."""
    read = ReadTraits([], [])
    for rating in objects(ratings):
        scope, trait = read_rating(rating, place, where, repairs)
        (read.own if scope == place else read.strays).append(trait)
    if ratings is not None and (not isinstance(ratings, list | dict) or sum(map(len, read)) < len(listed(ratings))):
        repairs.add(where, "a rating is no object", "left out")
    return read


def make_rubric(
    traits: Iterable[AnyTrait], where: str, repairs: Repairs, name: str | None = None, description: str | None = None
) -> Rubric | None:
    """Return the rubric of the traits, None when there are none; a repeated name gets a number."""
    unique: dict[str, AnyTrait] = {}
    traits = list(traits)
    if len(traits) > MAX_TRAITS:
        raise CheckpointError(
            f"The {where} has {len(traits):,} traits.",
            f"At most {MAX_TRAITS:,} are read.",
            "Keep those that are wanted.",
            code="too_many_traits",
        )
    for trait in traits:
        if trait.name not in unique:
            unique[trait.name] = trait
        elif unique[trait.name] == trait:
            repairs.add(f"{where}, trait {trait.name}", "the trait is given twice", "read once")
        else:
            renamed = first_free(partial("{} ({})".format, trait.name[:240]), unique, start=2)
            repairs.add(f"{where}, trait {trait.name}", "two traits share the name", f"the second is now {renamed!r}")
            unique[renamed] = trait.model_copy(update={"name": renamed})
    if not unique and name is None and description is None:
        return None
    return Rubric(name=name, description=description, traits=list(unique.values()))


def write_ratings(rubric: Rubric | None, scope: str, read: Any) -> list[dict[str, Any]]:
    """Return the ratings of a rubric.

    Args:
        rubric: The rubric.
        scope: `Global` or `QuestionSpecific`.
        read: The ratings the file held; those of the same name keep what the program does not know.
    """
    by_name = {str(rating.get("name")): rating for rating in objects(read)}
    return [write_rating(trait, scope, by_name.get(trait.name)) for trait in (rubric.traits if rubric else ())]
