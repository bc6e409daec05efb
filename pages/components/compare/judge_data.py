"""The data behind the Judges view, computed once per state of its runs and their reviews."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from karenina_core.analysis import PEOPLE, Consistency, field_ratings, repeat_ratings, verdict_ratings
from karenina_core.analysis.comparison import agreement
from karenina_core.schemas import Annotation
from pages.components import services
from pages.components.compare import data as compare_data
from pages.components.compare.data import Stamp

Key = tuple[str, Stamp, tuple[str, ...], bool]
"""Store, runs, ids of the standing reviews, and whether fields are compared rather than verdicts."""


@dataclass(frozen=True)
class Judged:
    """How far the raters of some runs agree.

    Attributes:
        key: What it was computed from.
        ratings: See `ratings`.
        raters: Judges, then people.
        pairs: See `agreement.agreement`.
        alpha: Krippendorff's alpha of the judges, without people.
        own: How consistent each judge is over repeats; empty without repeats.
    """

    key: Key
    ratings: pd.DataFrame
    raters: list[str]
    pairs: pd.DataFrame
    alpha: float
    own: list[Consistency]

    @property
    def judges(self) -> list[str]:
        """The raters that are no people."""
        return [name for name in self.raters if name != PEOPLE]


def judged(stamp: Stamp, by_field: bool) -> Judged:
    """Return how far the raters agree, on verdicts or field by field."""
    reviews = _reviews(stamp)
    return _judged((services.store().url, stamp, tuple(item.id for item in reviews), by_field), reviews)


@st.cache_resource(show_spinner="Comparing the judges", max_entries=6)
def _judged(key: Key, _reviews: list[Annotation]) -> Judged:
    _, stamp, _, by_field = key
    results = compare_data.tables(stamp).results
    ratings = field_ratings(compare_data.fields(stamp), _reviews) if by_field else verdict_ratings(results, _reviews)
    raters = agreement.raters_of(ratings)
    own = [
        agreement.consistency(repeat_ratings(results, judge), judge)
        for judge in raters
        if judge != PEOPLE and not by_field and results["replicate"].max() > 1
    ]
    alpha = agreement.alpha(ratings[ratings["rater"] != PEOPLE])
    return Judged(key, ratings, raters, agreement.agreement(ratings), alpha, own)


def cells(found: Judged, a: str, b: str) -> pd.DataFrame:
    """Return how often which label of one met which of the other."""
    return _cells(found.key, a, b, found)


@st.cache_resource(show_spinner=False, max_entries=20)
def _cells(key: Key, a: str, b: str, _found: Judged) -> pd.DataFrame:
    return agreement.cells(_found.ratings, a, b)


def _reviews(stamp: Stamp) -> list[Annotation]:
    return [item for run_id, _ in stamp for item in services.store().annotations.all(run_id)]
