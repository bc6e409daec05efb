"""Every chart answers one question. A new one is a file here and a line in `FIGURES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from karenina_core.analysis.columns import FrameKind
from karenina_core.analysis.effort import cost_quality as cost_quality_table
from karenina_core.analysis.effort import latencies
from karenina_core.analysis.figures.clicks import PLACES, rows_behind
from karenina_core.analysis.figures.cost_quality import cost_quality
from karenina_core.analysis.figures.fields import field_numbers, fields
from karenina_core.analysis.figures.items import items
from karenina_core.analysis.figures.keywords import keyword_numbers, keywords
from karenina_core.analysis.figures.latency import latency
from karenina_core.analysis.figures.metrics import metrics
from karenina_core.analysis.figures.pass_rate import pass_rate, pass_rate_numbers
from karenina_core.analysis.figures.precision_recall import precision_recall
from karenina_core.analysis.figures.questions import question_numbers, questions
from karenina_core.analysis.figures.trait_labels import trait_labels
from karenina_core.analysis.figures.trait_redundancy import trait_redundancy
from karenina_core.analysis.figures.trait_scores import score_numbers, trait_scores
from karenina_core.analysis.figures.trait_shares import share_numbers, trait_shares
from karenina_core.analysis.items import item_analysis
from karenina_core.analysis.redundancy import trait_correlations
from karenina_core.analysis.statistics import label_shares, metric_summary

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
        numbers: Table to what the figure shows, in numbers, for those who cannot see it and for other programs.
    """

    question: str
    reading: str
    frame: FrameKind
    draw: Callable[[pd.DataFrame], go.Figure]
    numbers: Callable[[pd.DataFrame], pd.DataFrame]


# The legend of a tall grid is out of sight.
_SIGNS = "✓ right, ✗ wrong, – not evaluated, a number: per cent right"

FIGURES: dict[str, FigureSpec] = {
    "pass_rate": FigureSpec(
        "How often is each model right, and how sure is that?",
        "Each dot is the share of evaluated answers that are right; the line is its 95 % interval. "
        "An open dot rests on too few answers to tell.",
        "results",
        pass_rate,
        pass_rate_numbers,
    ),
    "fields": FigureSpec(
        "Which facts do the models get right?",
        "One row per template field. A row that is wrong for every model points at the field or its rule. "
        f"{_SIGNS}, ∅ the judge found nothing. Click a square to open the answers behind it.",
        "fields",
        fields,
        field_numbers,
    ),
    "questions": FigureSpec(
        "Which questions do the models get right?",
        f"One row per question. {_SIGNS}. Click a square to open the answers behind it.",
        "results",
        questions,
        question_numbers,
    ),
    "keywords": FigureSpec(
        "Which subjects are hard?",
        "One row per keyword, the hardest first. A question counts under each of its keywords. An open mark rests on "
        "too few answers to tell, a grey × stands for a model of which no answer was evaluated.",
        "results",
        keywords,
        keyword_numbers,
    ),
    "trait_scores": FigureSpec(
        "How do judges score the qualities of the responses?",
        "The larger the bubble, the more responses got that score. The diamond is the mean with its 95 % interval.",
        "traits",
        trait_scores,
        score_numbers,
    ),
    "trait_shares": FigureSpec(
        "How many responses have the quality or match the pattern?",
        "Each mark is the share of yes; the line is its 95 % interval.",
        "traits",
        trait_shares,
        share_numbers,
    ),
    "trait_labels": FigureSpec(
        "Which class do judges put the responses in?",
        "The larger the bubble, the more responses were put in that class.",
        "traits",
        trait_labels,
        label_shares,
    ),
    "trait_redundancy": FigureSpec(
        "Do two traits measure the same thing?",
        "Each square is the rank correlation of two traits: +1 they always agree, 0 they have nothing to do with each "
        "other, −1 they are opposites. Above 0.9, one of the two may do.",
        "traits",
        trait_redundancy,
        trait_correlations,
    ),
    "metrics": FigureSpec(
        "How well do the models find what they should, and only that?",
        "Each mark is the mean over questions; the average over all items and the counts appear on hover.",
        "traits",
        metrics,
        metric_summary,
    ),
    "precision_recall": FigureSpec(
        "Do the models miss things, or make things up?",
        "Further right: fewer things missed. Further up: fewer things made up. A dotted line joins equal F1.",
        "traits",
        precision_recall,
        metric_summary,
    ),
    "cost_quality": FigureSpec(
        "Is the dearer model worth its price?",
        "Up is more often right, left is cheaper; vertical lines are 95 % intervals. On the dotted line are the models "
        "that no other one beats on both. An answer from the ledger counts with what it cost when it was asked for, "
        "whatever this run spent.",
        "results",
        cost_quality,
        cost_quality_table,
    ),
    "latency": FigureSpec(
        "How long does an answer take?",
        "The dot is the median, the bar holds the middle 80 %, and 1 % of the answers took longer than the tick.",
        "results",
        latency,
        latencies,
    ),
    "items": FigureSpec(
        "Are the questions any good?",
        "Discrimination says whether models that are better elsewhere are better here too. A question far below 0 "
        "often has a wrong reference answer or rule. Click a mark to open its answers.",
        "results",
        items,
        item_analysis,
    ),
}
