"""What people say about results: each opinion in few words, and where people differ."""

from __future__ import annotations

from collections.abc import Iterable

from karenina_core.schemas import CAUSE_WORDS, Annotation


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


def _differ(opinions: Iterable[Annotation]) -> bool:
    opinions = list(opinions)
    causes = {one.cause for one in opinions if one.cause is not None}
    return len({one.agrees for one in opinions}) > 1 or len(causes) > 1
