"""The data behind the Compare page: read and worked out once per state of its runs, and of what people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import streamlit as st

from karenina_core import analysis
from karenina_core.analysis import (
    PEOPLE,
    Arm,
    Consistency,
    Pair,
    Parts,
    arm_labels,
    by_field,
    by_keyword,
    compare,
    field_ratings,
    match,
    outcome,
    repeat_ratings,
    tallies,
    verdict_ratings,
)
from karenina_core.runs import revisions
from karenina_core.schemas import Annotation
from pages.components import services

Stamp = tuple[tuple[str, str], ...]
"""Ids of runs, each with what changes when its results do."""


@dataclass(frozen=True)
class Compared:
    """What is compared: the runs as they stand now, and the arms that take part.

    Attributes:
        stamp: The runs.
        arms: The arms that take part.
        baseline: The one that the others are compared with.
        candidate: The one that is looked at more closely.
        labels: Names of the arms, as short as tells them apart.
    """

    stamp: Stamp
    arms: tuple[Arm, ...]
    baseline: Arm
    candidate: Arm
    labels: Mapping[Arm, str]


class Tables(NamedTuple):
    """The tables of some runs; shared by all sessions, never changed."""

    results: pd.DataFrame
    counts: dict[Arm, pd.DataFrame]
    questions: pd.DataFrame


def stamp(run_ids: Sequence[str]) -> Stamp:
    """Return the present state of some runs."""
    return tuple((run_id, services.version(run_id)) for run_id in run_ids)


@st.cache_resource(show_spinner="Reading the runs", max_entries=6)
def tables(runs: Stamp) -> Tables:
    """Return the results of the runs."""
    ids = [run_id for run_id, _ in runs]
    results = analysis.outcomes(services.store(), ids)
    questions = analysis.question_texts(services.store(), ids).drop_duplicates("question_id")
    return Tables(results, tallies(results), questions.set_index("question_id"))


@st.cache_resource(show_spinner="Reading the fields", max_entries=3)
def fields(runs: Stamp) -> pd.DataFrame:
    """Return what became of the template fields of the runs."""
    return analysis.field_outcomes(services.store(), [run_id for run_id, _ in runs], tables(runs).results)


def labels(runs: Stamp, arms: Sequence[Arm] | None = None) -> dict[Arm, str]:
    """Return the names of some arms of the runs, or all of them, which say only what these differ in."""
    names = {run_id: services.store().runs.get(run_id).name for run_id, _ in runs}
    return arm_labels(list(tables(runs).counts) if arms is None else arms, names)


def lineages(run_ids: Sequence[str]) -> list[list[str]]:
    """Return the runs that were made from each other, the oldest first; runs that stand alone are left out."""
    known = {
        tuple(item.run.id for item in revisions(services.store(), run_id) if item.run.id in run_ids)
        for run_id in run_ids
    }
    return [list(lineage) for lineage in known if len(lineage) > 1]


@st.cache_resource(show_spinner="Comparing", max_entries=30)
def pairs(compared: Compared) -> list[Pair]:
    """Return the candidates against the baseline."""
    return compare(tables(compared.stamp).counts, compared.baseline, compared.arms)


@st.cache_resource(show_spinner="Comparing every two", max_entries=10)
def board(runs: Stamp, arms: tuple[Arm, ...]) -> pd.DataFrame:
    """Return the leaderboard of the arms."""
    found = tables(runs)
    return analysis.leaderboard(found.results, found.counts, arms)


@st.cache_resource(show_spinner="Counting repeats", max_entries=10)
def repeats(runs: Stamp, arms: tuple[Arm, ...]) -> pd.DataFrame:
    """Return pass@k and pass^k of the arms."""
    return analysis.repeat_rates(tables(runs).counts, arms)


@st.cache_resource(show_spinner="Comparing by keyword", max_entries=10)
def keyword_parts(runs: Stamp, baseline: Arm, candidate: Arm) -> Parts:
    """Return baseline and candidate by keyword."""
    found = tables(runs)
    keywords = {str(question): words for question, words in found.questions["keywords"].items()}
    return by_keyword(found.counts, baseline, candidate, keywords)


@st.cache_resource(show_spinner="Comparing by field", max_entries=10)
def field_parts(runs: Stamp, baseline: Arm, candidate: Arm) -> Parts:
    """Return baseline and candidate by template field."""
    return by_field(fields(runs), baseline, candidate)


def matched(compared: Compared) -> pd.DataFrame:
    """Return the questions both were asked, with their text, both counts and the `outcome`, by question id."""
    found = tables(compared.stamp)
    questions = match(found.counts, compared.baseline, compared.candidate).questions
    rates = zip(questions["baseline_rate"], questions["candidate_rate"], strict=True)
    table = questions.assign(outcome=[outcome(*pair) for pair in rates])
    return found.questions[["question"]].join(table, how="inner")


# Judges


@dataclass(frozen=True)
class Judged:
    """How far the raters of some runs agree.

    Attributes:
        stamp: The runs.
        reviewed: Whether people have reviewed any of their results.
        ratings: See `ratings`.
        raters: Judges, then people.
        pairs: See `analysis.agreement`.
        alpha: Krippendorff's alpha of the judges, without people.
        own: How consistent each judge is over repeats; empty without repeats.
    """

    stamp: Stamp
    reviewed: bool
    ratings: pd.DataFrame
    raters: list[str]
    pairs: pd.DataFrame
    alpha: float
    own: list[Consistency]

    @property
    def judges(self) -> list[str]:
        """The raters that are no people."""
        return [name for name in self.raters if name != PEOPLE]


def judged(runs: Stamp, fieldwise: bool) -> Judged:
    """Return how far the raters agree, on verdicts or field by field."""
    reviews = [item for run_id, _ in runs for item in services.store().annotations.all(run_id)]
    return _judged(runs, tuple(item.id for item in reviews), fieldwise, reviews)


@st.cache_resource(show_spinner="Comparing the judges", max_entries=6)
def _judged(runs: Stamp, review_ids: tuple[str, ...], fieldwise: bool, _reviews: list[Annotation]) -> Judged:
    results = tables(runs).results
    ratings = field_ratings(fields(runs), _reviews) if fieldwise else verdict_ratings(results, _reviews)
    raters = analysis.raters_of(ratings)
    own = [
        analysis.consistency(repeat_ratings(results, judge), judge)
        for judge in raters
        if judge != PEOPLE and not fieldwise and results["replicate"].max() > 1
    ]
    alpha = analysis.krippendorff_alpha(ratings[ratings["rater"] != PEOPLE])
    return Judged(runs, bool(review_ids), ratings, raters, analysis.agreement(ratings), alpha, own)
