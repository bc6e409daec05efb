"""The columns of number tables in plain words; the data and its downloads keep the names that code knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    import pandas as pd

HEADINGS: Mapping[str, str] = {
    "a": "One judge",
    "agreed": "Agreed",
    "alpha": "Krippendorff's alpha",
    "always": "All tries right",
    "always_high": "All tries right: to",
    "always_low": "All tries right: from",
    "answering_model": "Model",
    "b": "Other judge",
    "baseline": "Baseline",
    "baseline_rate": "Baseline: share right",
    "best": "None better for less",
    "better": "Better on",
    "candidate": "Candidate",
    "candidate_rate": "Candidate: share right",
    "corrected": "p, corrected",
    "correlation": "Correlation",
    "cost": "Cost in US dollars",
    "count": "Count",
    "difference": "Difference",
    "discrimination": "Discrimination",
    "discrimination_high": "Discrimination: to",
    "discrimination_low": "Discrimination: from",
    "errors": "Technical failures",
    "evaluated": "Decided",
    "examinees": "Models and repeats",
    "failed": "Wrong",
    "few": "Too few to tell",
    "field": "Field",
    "finding": "Finding",
    "first": "One trait",
    "fn": "False negatives",
    "fp": "False positives",
    "high": "Interval: to",
    "index": "Place of the class",
    "joint_high": "Joint interval: to",
    "joint_low": "Joint interval: from",
    "k": "Tries",
    "kappa": "Cohen's kappa",
    "kappa_high": "Kappa: to",
    "kappa_low": "Kappa: from",
    "keywords": "Keyword",
    "label": "Class",
    "left_out": "Left out",
    "low": "Interval: from",
    "macro": "Mean of the questions",
    "mean": "Mean",
    "median": "Median",
    "metric": "Metric",
    "micro": "Over all items",
    "missing": "Without a value",
    "n": "Number",
    "not_evaluated": "Not evaluated",
    "not_found": "Nothing found",
    "of": "Time of",
    "once": "One try right",
    "once_high": "One try right: to",
    "once_low": "One try right: from",
    "p": "p",
    "p10": "10th percentile",
    "p90": "90th percentile",
    "p99": "99th percentile",
    "pairs": "Tested together",
    "parsing_model": "Judge",
    "passed": "Right",
    "priced": "With a known price",
    "question": "Question",
    "question_id": "Id of the question",
    "questions": "Questions",
    "rank": "Rank",
    "rate": "Share right",
    "rate_of_all": "Share right of all",
    "right": "Right",
    "run_id": "Id of the run",
    "sd": "Standard deviation",
    "second": "Other trait",
    "share": "Share",
    "shared_questions": "Questions all have",
    "shared_rate": "Share right on these",
    "test": "Test",
    "ties": "Groups",
    "tn": "True negatives",
    "tp": "True positives",
    "trait": "Trait",
    "undecided": "Not decided",
    "undefined": "Undefined (0/0)",
    "unmatched": "Only on one side",
    "worse": "Worse on",
    "wrong": "Wrong",
}
"""What each column is called on a page."""


def headings(table: pd.DataFrame) -> dict[str, Any]:
    """Return the column configuration that shows plain headings, with the names of the download as help.

    Args:
        table: What is shown; columns that are not known keep their name.
    """
    return {
        name: st.column_config.Column(HEADINGS[name], help=f"`{name}` in the download")
        for name in table.columns
        if isinstance(name, str) and name in HEADINGS
    }
