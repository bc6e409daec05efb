"""The tables of a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis import statistics
from karenina_core.analysis.columns import FrameKind
from karenina_core.analysis.statistics import NO_KEYWORD
from karenina_core.analysis.summary import interval, number, percent

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 500  # a longer table is cut; the data exports hold everything

Row = Mapping[Any, Any]
Frames = Mapping[FrameKind, "pd.DataFrame"]


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        title: What it shows.
        header: Names of the columns.
        rows: Texts of the cells.
        note: What is left out.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class _Spec(NamedTuple):
    """A table: its title, what it is made of, its rows, and its columns as patterns or functions of a row."""

    title: str
    frame: FrameKind
    table: Callable[[pd.DataFrame], pd.DataFrame]
    columns: Mapping[str, str | Callable[[Row], str]]


def grids(frames: Frames) -> Iterator[Grid]:
    """Yield the tables that have rows.

    Args:
        frames: Tables of `to_dataframe` by kind: results, fields, traits and calls.
    """
    for spec in _GRIDS:
        table = spec.table(frames[spec.frame]) if len(frames[spec.frame]) else frames[spec.frame]
        rows = table.head(MOST_ROWS).to_dict("records")
        if not rows:
            continue
        cells = tuple(
            tuple(str(cell(row)) if callable(cell) else cell.format_map(row) for cell in spec.columns.values())
            for row in rows
        )
        left_out = len(table) - len(rows)
        note = f"{left_out:,} more rows are in the data exports." if left_out else ""
        yield Grid(spec.title, tuple(spec.columns), cells, note)


def _rate(row: Row) -> str:
    if not row["evaluated"]:
        return "–"
    return percent(row["rate"]) + (", too few to tell" if row["few"] else "")


def _interval(row: Row) -> str:
    return interval(row["low"], row["high"]) if row["evaluated"] else "–"


def _trait_mean(row: Row) -> str:
    score = row["kind"] == "llm_score" or math.isnan(row["mean"])
    return number(row["mean"]) if score else percent(row["mean"])


def _trait_interval(row: Row) -> str:
    if math.isnan(row["low"]):
        return "–"
    return f"{row['low']:.2f}–{row['high']:.2f}" if row["kind"] == "llm_score" else interval(row["low"], row["high"])


def _dollars(row: Row) -> str:
    if not row["asked"] and not row["cost"]:
        return "nothing"
    return "not known" if row["unpriced"] == row["calls"] else f"{row['cost']:,.4f}"


def _by_keyword(frame: pd.DataFrame) -> pd.DataFrame:
    table = statistics.pass_rate(frame, ["keywords", "answering_model"]).sort_values("keywords", kind="stable")
    return table.head(0) if set(table["keywords"]) == {NO_KEYWORD} else table


def _hardest_first(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(["rate", "question"], kind="stable", na_position="last")


_GRIDS = (
    _Spec(
        "By model", "results", lambda frame: statistics.pass_rate(frame, ["answering_model", "parsing_model"]),
        {
            "Model": "{answering_model}", "Judge": "{parsing_model}", "Right": "{passed}", "Wrong": "{failed}",
            "Not evaluated": "{not_evaluated}", "Of these errors": "{errors}",
            "Rate": _rate, "95 % interval": _interval,
        },
    ),
    _Spec(
        "By keyword", "results", _by_keyword,
        {
            "Keyword": "{keywords}", "Model": "{answering_model}", "Right": "{passed} of {evaluated}",
            "Not evaluated": "{not_evaluated}", "Rate": _rate, "95 % interval": _interval,
        },
    ),
    _Spec(
        "By question, the hardest first", "results",
        lambda frame: _hardest_first(statistics.pass_rate(frame, ["question_id", "question", "answering_model"])),
        {
            "Question": "{question}", "Model": "{answering_model}", "Right": "{passed} of {evaluated}",
            "Not evaluated": "{not_evaluated}",
        },
    ),
    _Spec(
        "By template field, the worst first", "fields", lambda frame: _hardest_first(statistics.field_rates(frame)),
        {
            "Field": "{field}", "Question": "{question}", "Model": "{answering_model}",
            "Right": "{right} of {evaluated}", "Wrong": "{wrong}", "Not found": "{not_found}",
            "Not decided": "{undecided}",
        },
    ),
    _Spec(
        "Rubric traits", "traits", statistics.trait_summary,
        {
            "Trait": "{trait}", "Model": "{answering_model}", "n": "{n}", "Missing": "{missing}",
            "Mean, or share of yes": _trait_mean, "95 % interval": _trait_interval,
        },
    ),
    _Spec(
        "Classes", "traits", statistics.label_shares,
        {"Trait": "{trait}", "Model": "{answering_model}", "Class": "{label}", "Count": "{count} of {n}"},
    ),
    _Spec(
        "Metric traits", "traits", statistics.metric_summary,
        {
            "Trait": "{trait}", "Metric": "{metric}", "Model": "{answering_model}",
            "Mean over questions": lambda row: number(row["macro"]),
            "Of summed counts": lambda row: number(row["micro"]),
            "Undefined": "{undefined}", "TP · FP · FN · TN": "{tp} · {fp} · {fn} · {tn}",
        },
    ),
    _Spec(
        "Replies of models and judges", "calls",
        lambda frame: statistics.call_totals(frame, ["model", "purpose"]),
        {
            "Model": "{model}", "Purpose": "{purpose}", "Replies": "{calls:,}", "Sent to a provider": "{asked:,}",
            "Tokens in": "{input_tokens:,}", "Tokens out": "{output_tokens:,}", "US dollars": _dollars,
            "Median seconds": lambda row: number(row["median_seconds"]),
        },
    ),
)  # fmt: skip
