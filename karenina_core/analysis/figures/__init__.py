"""Every chart answers one question. A new one is a file here and a line in `FIGURES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from karenina_core.analysis.columns import FrameKind
from karenina_core.analysis.figures.clicks import PLACES, rows_behind
from karenina_core.analysis.figures.fields import fields
from karenina_core.analysis.figures.metrics import metrics
from karenina_core.analysis.figures.pass_rate import pass_rate
from karenina_core.analysis.figures.precision_recall import precision_recall
from karenina_core.analysis.figures.questions import questions
from karenina_core.analysis.figures.trait_labels import trait_labels
from karenina_core.analysis.figures.trait_scores import trait_scores
from karenina_core.analysis.figures.trait_shares import trait_shares

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["FIGURES", "PLACES", "FigureSpec", "rows_behind"]


class FigureSpec(NamedTuple):
    """One chart.

    Attributes:
        question: What it answers, written above it.
        reading: How to read it, written below.
        frame: Which table it is drawn from, see `frames.to_dataframe`.
        draw: Table to figure.
    """

    question: str
    reading: str
    frame: FrameKind
    draw: Callable[[pd.DataFrame], go.Figure]


FIGURES: dict[str, FigureSpec] = {
    "pass_rate": FigureSpec(
        "How often is each model right, and how sure is that?",
        "Each dot is the share of evaluated answers that are right; the line is its 95 % interval. "
        "An open dot rests on too few answers to tell.",
        "results",
        pass_rate,
    ),
    "fields": FigureSpec(
        "Which facts do the models get right?",
        "One row per template field. A row that is wrong for every model points at the field or its rule.",
        "fields",
        fields,
    ),
    "questions": FigureSpec(
        "Which questions do the models get right?",
        "One row per question. Click a square to open the answers behind it.",
        "results",
        questions,
    ),
    "trait_scores": FigureSpec(
        "How do judges score the qualities of the responses?",
        "The larger the bubble, the more responses got that score. The diamond is the mean with its 95 % interval.",
        "traits",
        trait_scores,
    ),
    "trait_shares": FigureSpec(
        "How many responses have the quality or match the pattern?",
        "Each mark is the share of yes; the line is its 95 % interval.",
        "traits",
        trait_shares,
    ),
    "trait_labels": FigureSpec(
        "Which class do judges put the responses in?",
        "The larger the bubble, the more responses were put in that class.",
        "traits",
        trait_labels,
    ),
    "metrics": FigureSpec(
        "How well do the models find what they should, and only that?",
        "Each mark is the mean over questions; the average over all items and the counts appear on hover.",
        "traits",
        metrics,
    ),
    "precision_recall": FigureSpec(
        "Do the models miss things, or make things up?",
        "Further right: fewer things missed. Further up: fewer things made up. A dotted line joins equal F1.",
        "traits",
        precision_recall,
    ),
}
