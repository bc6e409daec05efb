"""What a report says, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Bar(NamedTuple):
    """A share with its interval, 0 to 1 each."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        title: What it shows.
        header: Names of the columns.
        rows: Texts of the cells.
        bars: One share per row, drawn beside it; empty when there is nothing to draw.
        note: What is left out.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bars: tuple[Bar | None, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """A figure as Plotly's JSON text, the question it answers, and how to read it."""

    question: str
    reading: str
    figure: str


@dataclass(frozen=True)
class AnswerSheet:
    """One evaluation.

    Attributes:
        verdict: `pass`, `fail` or `not_evaluated`.
        response: The answer's text; None where the report goes without answers, or there is none.
        reason: Why there is no verdict.
        fields: Expected, extracted and result by template field.
        traits: Name and value of each trait.
        reviews: What people said about it, in words.
    """

    question: str
    reference: str
    who: str
    verdict: str
    response: str | None
    reason: str
    fields: Grid
    traits: tuple[tuple[str, str], ...]
    reviews: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunPart:
    """What the report says about one run.

    Attributes:
        name: Name of the run.
        sentences: The outcome, a sentence per model.
        remarks: What to keep in mind: what was left out, who judged itself, what it cost.
        grids: The tables.
        charts: The figures.
        answers: Evaluations in full.
        answers_note: Which of them are shown.
        facts: Name and value of everything needed to run it again.
        config: The configuration as JSON, without keys.
        templates: Question, identity and source of each template.
        provenance: What a reader must know before any number: replies that no model gave in this run.
    """

    name: str
    sentences: tuple[str, ...]
    remarks: tuple[str, ...]
    grids: tuple[Grid, ...]
    charts: tuple[Chart, ...]
    answers: tuple[AnswerSheet, ...]
    answers_note: str
    facts: tuple[tuple[str, str], ...]
    config: str
    templates: tuple[tuple[str, str, str], ...]
    provenance: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        created: ISO 8601 in UTC.
        comparisons: Sentences over all runs, such as which model is better.
    """

    title: str
    author: str
    created: str
    parts: tuple[RunPart, ...]
    comparisons: tuple[str, ...] = field(default=())

    @property
    def provenance(self) -> tuple[str, ...]:
        """What a reader must know before any number, each sentence once."""
        return tuple(dict.fromkeys(sentence for part in self.parts for sentence in part.provenance))
