"""The tables of a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from karenina_core.analysis import statistics
from karenina_core.analysis.report.content import Bar, Grid
from karenina_core.analysis.summary import interval, percent

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 500
"""A longer table is cut; the data exports hold everything."""

Row = Mapping[Any, Any]


def by_model(frame: pd.DataFrame) -> Grid:
    """Return pass rates by answering model and judge, from a results table."""
    table = statistics.pass_rate(frame, ["answering_model", "parsing_model"])
    columns: dict[str, Callable[[Row], str]] = {
        "Model": lambda row: row["answering_model"],
        "Judge": lambda row: row["parsing_model"],
        "Right": lambda row: str(row["passed"]),
        "Wrong": lambda row: str(row["failed"]),
        "Not evaluated": lambda row: str(row["not_evaluated"]),
        "Of these errors": lambda row: str(row["errors"]),
        "Rate": _rate,
        "95 % interval": _interval,
    }
    return _grid("By model", table, columns, bars=True)


def by_keyword(frame: pd.DataFrame) -> Grid:
    """Return pass rates by keyword and answering model, from a results table."""
    table = statistics.pass_rate(frame, ["keywords", "answering_model"])
    columns: dict[str, Callable[[Row], str]] = {
        "Keyword": lambda row: row["keywords"],
        "Model": lambda row: row["answering_model"],
        "Right": lambda row: f"{row['passed']} of {row['evaluated']}",
        "Not evaluated": lambda row: str(row["not_evaluated"]),
        "Rate": _rate,
        "95 % interval": _interval,
    }
    if set(table["keywords"]) == {"(no keyword)"}:
        table = table.head(0)
    return _grid("By keyword", table.sort_values("keywords", kind="stable"), columns, bars=True)


def by_question(frame: pd.DataFrame) -> Grid:
    """Return pass rates by question and answering model, the hardest first, from a results table."""
    table = statistics.pass_rate(frame, ["question_id", "question", "answering_model"])
    table = table.sort_values(["rate", "question"], kind="stable", na_position="last")
    columns: dict[str, Callable[[Row], str]] = {
        "Question": lambda row: row["question"],
        "Model": lambda row: row["answering_model"],
        "Right": lambda row: f"{row['passed']} of {row['evaluated']}",
        "Not evaluated": lambda row: str(row["not_evaluated"]),
    }
    return _grid("By question, the hardest first", table, columns)


def by_field(frame: pd.DataFrame) -> Grid:
    """Return how often each template field is right, the worst first, from a fields table."""
    table = statistics.field_rates(frame).sort_values(["rate", "question"], kind="stable", na_position="last")
    columns: dict[str, Callable[[Row], str]] = {
        "Field": lambda row: row["field"],
        "Question": lambda row: row["question"],
        "Model": lambda row: row["answering_model"],
        "Right": lambda row: f"{row['right']} of {row['evaluated']}",
        "Wrong": lambda row: str(row["wrong"]),
        "Not found": lambda row: str(row["not_found"]),
        "Not decided": lambda row: str(row["undecided"]),
    }
    return _grid("By template field, the worst first", table, columns)


def by_trait(frame: pd.DataFrame) -> Grid:
    """Return means of score traits and shares of yes, from a traits table."""
    columns: dict[str, Callable[[Row], str]] = {
        "Trait": lambda row: row["trait"],
        "Model": lambda row: row["answering_model"],
        "n": lambda row: str(row["n"]),
        "Missing": lambda row: str(row["missing"]),
        "Mean, or share of yes": lambda row: _trait_value(row, row["mean"]),
        "95 % interval": lambda row: _trait_interval(row),
    }
    return _grid("Rubric traits", statistics.trait_summary(frame), columns)


def by_label(frame: pd.DataFrame) -> Grid:
    """Return how often each class of a literal trait was chosen, from a traits table."""
    columns: dict[str, Callable[[Row], str]] = {
        "Trait": lambda row: row["trait"],
        "Model": lambda row: row["answering_model"],
        "Class": lambda row: row["label"],
        "Count": lambda row: f"{row['count']} of {row['n']}",
    }
    return _grid("Classes", statistics.label_shares(frame), columns)


def by_metric(frame: pd.DataFrame) -> Grid:
    """Return averages and counts of metric traits, from a traits table."""
    columns: dict[str, Callable[[Row], str]] = {
        "Trait": lambda row: row["trait"],
        "Metric": lambda row: row["metric"],
        "Model": lambda row: row["answering_model"],
        "Mean over questions": lambda row: number(row["macro"]),
        "Of summed counts": lambda row: number(row["micro"]),
        "Undefined": lambda row: str(row["undefined"]),
        "TP · FP · FN · TN": lambda row: " · ".join(_count(row[name]) for name in ("tp", "fp", "fn", "tn")),
    }
    return _grid("Metric traits", statistics.metric_summary(frame), columns)


def by_call(frame: pd.DataFrame) -> Grid:
    """Return what the model calls took, from a calls table."""
    columns: dict[str, Callable[[Row], str]] = {
        "Model": lambda row: row["model"],
        "Purpose": lambda row: row["purpose"],
        "Replies": lambda row: f"{row['calls']:,}",
        "Sent to a provider": lambda row: f"{row['asked']:,}",
        "Tokens in": lambda row: f"{row['input_tokens']:,.0f}",
        "Tokens out": lambda row: f"{row['output_tokens']:,.0f}",
        "US dollars": lambda row: _dollars(row),
        "Median seconds": lambda row: number(row["median_seconds"]),
    }
    return _grid("Replies of models and judges", statistics.call_totals(frame, ["model", "purpose"]), columns)


def _dollars(row: Row) -> str:
    if not row["asked"] and not row["cost"]:
        return "nothing"
    return "not known" if row["unpriced"] == row["calls"] else f"{row['cost']:,.4f}"


def _grid(title: str, table: pd.DataFrame, columns: Mapping[str, Callable[[Row], str]], *, bars: bool = False) -> Grid:
    rows = table.head(MOST_ROWS).to_dict("records")
    left_out = len(table) - len(rows)
    return Grid(
        title=title,
        header=tuple(columns),
        rows=tuple(tuple(str(cell(row)) for cell in columns.values()) for row in rows),
        bars=tuple(_bar(row) for row in rows) if bars else (),
        note=f"{left_out:,} more rows are in the data exports." if left_out else "",
    )


def _bar(row: Row) -> Bar | None:
    return Bar(row["low"], row["rate"], row["high"]) if row["evaluated"] else None


def _rate(row: Row) -> str:
    if not row["evaluated"]:
        return "–"
    return percent(row["rate"]) + (", too few to tell" if row["few"] else "")


def _interval(row: Row) -> str:
    return interval(row["low"], row["high"]) if row["evaluated"] else "–"


def _trait_value(row: Row, value: float) -> str:
    if math.isnan(value):
        return "–"
    return number(value) if row["kind"] == "llm_score" else percent(value)


def _trait_interval(row: Row) -> str:
    if math.isnan(row["low"]):
        return "–"
    return f"{row['low']:.2f}–{row['high']:.2f}" if row["kind"] == "llm_score" else interval(row["low"], row["high"])


def number(value: float) -> str:
    """Return a number with two decimals, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.2f}"


def _count(value: float) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.0f}"
