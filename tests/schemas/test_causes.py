"""Why evaluations have no verdict, in words."""

from __future__ import annotations

from typing import get_args

from karenina_core.schemas import NO_VERDICT, FailureCategory, in_words
from karenina_core.schemas.causes import WORDS, listed


def test_every_category_has_words() -> None:
    assert set(WORDS) == {*get_args(FailureCategory), NO_VERDICT}


def test_counts_are_listed_the_most_frequent_first() -> None:
    assert listed({"parsing": 1, "abstention": 2}) == (
        "2 × the model declined to answer, 1 × the judge's reply could not be read"
    )


def test_a_category_of_a_newer_version_is_shown_as_it_is() -> None:
    assert in_words("lost_in_space") == "lost in space"
