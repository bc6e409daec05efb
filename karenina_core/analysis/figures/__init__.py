"""Every chart of the page Results answers one question. To add one: write a function, and a line in `FIGURES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from karenina_core.analysis.columns import FrameKind
from karenina_core.analysis.figures import grids, results, traits
from karenina_core.analysis.statistics import (
    cost_quality,
    item_analysis,
    label_shares,
    latencies,
    metric_summary,
    trait_correlations,
)

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


class FigureSpec(NamedTuple):
    """One chart.

    Attributes:
        view: The view of the page that shows it, in the order of the table.
        question: What it answers, written above it.
        reading: How to read it, written below.
        frame: Which table it is drawn from, see `to_dataframe`.
        draw: Table to figure.
        numbers: Table to what the figure shows, in numbers, for those who cannot see it and for other programs.
        kinds: Kinds of the traits it is drawn from; empty for another table.
        row: Columns that make a row of it where it has one for each question or field.
    """

    view: str
    question: str
    reading: str
    frame: FrameKind
    draw: Callable[[pd.DataFrame], go.Figure]
    numbers: Callable[[pd.DataFrame], pd.DataFrame]
    kinds: tuple[str, ...] = ()
    row: tuple[str, ...] = ()


# The legend of a tall grid is out of sight.
_SIGNS = "✓ right, ✗ wrong, – not evaluated, a number: per cent right"

FIGURES: dict[str, FigureSpec] = {
    "pass_rate": FigureSpec(
        "Pass rate", "How often is each model right, and how sure is that?",
        "Each dot is the share of evaluated answers that are right; the line is its 95 % interval. "
        "An open dot rests on too few answers to tell.",
        "results", results.pass_rate, results.pass_rate_numbers,
    ),
    "fields": FigureSpec(
        "By field", "Which facts do the models get right?",
        "One row per template field. A row that is wrong for every model points at the field or its rule. "
        f"{_SIGNS}, ∅ the judge found nothing. Click a square to open the answers behind it.",
        "fields", grids.fields, grids.field_numbers, row=("question_id", "field"),
    ),
    "questions": FigureSpec(
        "By question", "Which questions do the models get right?",
        f"One row per question. {_SIGNS}. Click a square to open the answers behind it.",
        "results", grids.questions, grids.question_numbers, row=("question_id",),
    ),
    "keywords": FigureSpec(
        "By keyword", "Which subjects are hard?",
        "One row per keyword, the hardest first. A question counts under each of its keywords. An open mark rests on "
        "too few answers to tell, a grey × stands for a model of which no answer was evaluated.",
        "results", results.keywords, results.keyword_numbers,
    ),
    "trait_scores": FigureSpec(
        "Traits", "How do judges score the qualities of the responses?",
        "The larger the bubble, the more responses got that score. The diamond is the mean with its 95 % interval.",
        "traits", traits.trait_scores, traits.score_numbers, ("llm_score",),
    ),
    "trait_shares": FigureSpec(
        "Traits", "How many responses have the quality or match the pattern?",
        "Each mark is the share of yes; the line is its 95 % interval.",
        "traits", traits.trait_shares, traits.share_numbers, ("llm_binary", "regex"),
    ),
    "trait_labels": FigureSpec(
        "Traits", "Which class do judges put the responses in?",
        "The larger the bubble, the more responses were put in that class.",
        "traits", traits.trait_labels, label_shares, ("llm_literal",),
    ),
    "trait_redundancy": FigureSpec(
        "Traits", "Do two traits measure the same thing?",
        "Each square is the rank correlation of two traits: +1 they always agree, 0 they have nothing to do with each "
        "other, −1 they are opposites. Above 0.9, one of the two may do.",
        "traits", traits.trait_redundancy, trait_correlations, ("llm_score", "llm_binary", "regex"),
    ),
    "metrics": FigureSpec(
        "Metric traits", "How well do the models find what they should, and only that?",
        "Each mark is the mean over questions; the average over all items and the counts appear on hover.",
        "traits", traits.metrics, metric_summary, ("metric",),
    ),
    "precision_recall": FigureSpec(
        "Metric traits", "Do the models miss things, or make things up?",
        "Further right: fewer things missed. Further up: fewer things made up.",
        "traits", traits.precision_recall, metric_summary, ("metric",),
    ),
    "cost_quality": FigureSpec(
        "Cost and time", "Is the dearer model worth its price?",
        "Up is more often right, left is cheaper; vertical lines are 95 % intervals. On the dotted line are the models "
        "that no other one beats on both. An answer from the ledger counts with what it cost when it was asked for, "
        "whatever this run spent.",
        "results", results.cost_quality, cost_quality,
    ),
    "latency": FigureSpec(
        "Cost and time", "How long does an answer take?",
        "The dot is the median, the bar holds the middle 80 %, and 1 % of the answers took longer than the tick.",
        "results", results.latency, latencies,
    ),
    "items": FigureSpec(
        "Question quality", "Are the questions any good?",
        "Discrimination says whether models that are better elsewhere are better here too. A question far below 0 "
        "often has a wrong reference answer or rule. Click a mark to open its answers.",
        "results", results.items, item_analysis,
    ),
}  # fmt: skip
