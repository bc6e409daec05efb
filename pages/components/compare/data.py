"""The data behind the Compare page: columns from the store, read once per state of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from karenina_core.analysis import Arm, Pair, Parts, arm_labels, by_field, by_keyword, compare, tallies
from karenina_core.analysis.comparison import data, leaderboard, replicates
from karenina_core.runs import revisions, scored_at
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


@dataclass(frozen=True)
class Tables:
    """The tables of some runs; shared by all sessions, never changed."""

    results: pd.DataFrame
    counts: dict[Arm, pd.DataFrame]
    questions: pd.DataFrame


def stamp(run_ids: list[str]) -> Stamp:
    """Return the present state of some runs."""
    runs = [services.store().runs.get(run_id) for run_id in run_ids]
    scored = [scored_at(services.store(), run.id) for run in runs]
    return tuple(
        (run.id, f"{run.status} {run.done} {run.passed} {run.failed} {run.errors} {at}")
        for run, at in zip(runs, scored, strict=True)
    )


def tables(runs: Stamp) -> Tables:
    """Return the results of the runs."""
    return _tables(services.store().url, runs)


@st.cache_resource(show_spinner="Reading the runs", max_entries=6)
def _tables(url: str, runs: Stamp) -> Tables:
    ids = [run_id for run_id, _ in runs]
    results = data.outcomes(services.store(), ids)
    questions = data.question_texts(services.store(), ids).drop_duplicates("question_id")
    return Tables(results, tallies(results), questions.set_index("question_id"))


def fields(runs: Stamp) -> pd.DataFrame:
    """Return what became of the template fields of the runs."""
    return _fields(services.store().url, runs)


@st.cache_resource(show_spinner="Reading the fields", max_entries=3)
def _fields(url: str, runs: Stamp) -> pd.DataFrame:
    return data.field_outcomes(services.store(), [run_id for run_id, _ in runs], tables(runs).results)


def labels(runs: Stamp) -> dict[Arm, str]:
    """Return the names of all arms of the runs."""
    return labels_of(runs, list(tables(runs).counts))


def labels_of(runs: Stamp, arms: Sequence[Arm]) -> dict[Arm, str]:
    """Return the names of some arms of the runs, which say only what these differ in."""
    return arm_labels(arms, {run_id: services.store().runs.get(run_id).name for run_id, _ in runs})


def families(run_ids: Sequence[str]) -> list[list[str]]:
    """Return the runs that were made from each other, the oldest first; runs that stand alone are left out."""
    found = {
        tuple(item.run.id for item in revisions(services.store(), run_id) if item.run.id in run_ids)
        for run_id in run_ids
    }
    return [list(family) for family in found if len(family) > 1]


def pairs(compared: Compared) -> list[Pair]:
    """Return the candidates against the baseline."""
    return _pairs(services.store().url, compared.stamp, compared.arms, compared.baseline)


@st.cache_resource(show_spinner="Comparing", max_entries=30)
def _pairs(url: str, runs: Stamp, arms: tuple[Arm, ...], baseline: Arm) -> list[Pair]:
    return compare(tables(runs).counts, baseline, arms)


def board(compared: Compared) -> pd.DataFrame:
    """Return the leaderboard of the arms."""
    return _board(services.store().url, compared.stamp, compared.arms)


@st.cache_resource(show_spinner="Comparing every two", max_entries=10)
def _board(url: str, runs: Stamp, arms: tuple[Arm, ...]) -> pd.DataFrame:
    found = tables(runs)
    return leaderboard.leaderboard(found.results, found.counts, arms)


def repeats(compared: Compared) -> pd.DataFrame:
    """Return pass@k and pass^k of the arms."""
    return _repeats(services.store().url, compared.stamp, compared.arms)


@st.cache_resource(show_spinner="Counting repeats", max_entries=10)
def _repeats(url: str, runs: Stamp, arms: tuple[Arm, ...]) -> pd.DataFrame:
    return replicates.repeat_rates(tables(runs).counts, arms)


def keyword_parts(compared: Compared) -> Parts:
    """Return baseline and candidate by keyword."""
    return _keyword_parts(services.store().url, compared.stamp, compared.baseline, compared.candidate)


@st.cache_resource(show_spinner="Comparing by keyword", max_entries=10)
def _keyword_parts(url: str, runs: Stamp, baseline: Arm, candidate: Arm) -> Parts:
    found = tables(runs)
    keywords = {str(question): words for question, words in found.questions["keywords"].items()}
    return by_keyword(found.counts, baseline, candidate, keywords)


def field_parts(compared: Compared) -> Parts:
    """Return baseline and candidate by template field."""
    return _field_parts(services.store().url, compared.stamp, compared.baseline, compared.candidate)


@st.cache_resource(show_spinner="Comparing by field", max_entries=10)
def _field_parts(url: str, runs: Stamp, baseline: Arm, candidate: Arm) -> Parts:
    return by_field(fields(runs), baseline, candidate)
