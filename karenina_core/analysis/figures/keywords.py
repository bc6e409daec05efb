"""Which subjects are hard?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.figures.dots import Dot, dot_plot
from karenina_core.analysis.figures.squares import Square, grid, state_of
from karenina_core.analysis.statistics import pass_rate
from karenina_core.analysis.summary import rate_sentence

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

MOST_SERIES = 4
"""With more models than this, dots of one keyword would hide each other: then there are squares."""
MOST_KEYWORDS = 60


def keywords(frame: pd.DataFrame) -> go.Figure:
    """Draw pass rates by keyword and answering model, the hardest keyword first.

    A question counts under each of its keywords.

    Args:
        frame: A table of `results_frame`.
    """
    if frame.empty or not frame["keywords"].map(len).any():
        return canvas.empty("No keywords yet: give questions keywords, and see here which subjects are hard.")
    table = keyword_numbers(frame)
    order = table.groupby("keywords", sort=False, observed=True)[["passed", "evaluated"]].sum()
    rates = (order["passed"] / order["evaluated"].where(order["evaluated"] > 0)).sort_values(kind="stable")
    shown = rates.index[:MOST_KEYWORDS].astype("str")
    ranks = table["keywords"].astype("str").map({name: rank for rank, name in enumerate(shown)})
    rows = table[ranks.notna()].assign(rank=ranks).sort_values("rank", kind="stable").to_dict("records")
    if table["answering_model"].nunique() > MOST_SERIES:
        return grid([_square(row) for row in rows], "keyword", len(rates))
    drawing = dot_plot([_dot(row) for row in rows], "Share of evaluated answers that are right")
    if len(rates) > len(shown):
        canvas.note(drawing, f"The {len(shown)} hardest of {len(rates):,} keywords are shown. Filter to see others.")
    return drawing


def keyword_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the marks, see `statistics.pass_rate`."""
    return pass_rate(frame, ["keywords", "answering_model"])


def _dot(row: dict[Any, Any]) -> Dot:
    return Dot(
        row=canvas.wrapped(row["keywords"]),
        series=canvas.literal(row["answering_model"]),
        value=row["rate"],
        low=row["low"],
        high=row["high"],
        few=bool(row["few"]),
        hover=_hover(row),
        click=_click(row),
    )


def _square(row: dict[Any, Any]) -> Square:
    state, text = state_of(row["passed"], row["evaluated"])
    return Square(
        row=row["keywords"],
        row_label=canvas.wrapped(row["keywords"]),
        column=row["answering_model"],
        column_label=canvas.literal(row["answering_model"], 30),
        state=state,
        text=text,
        hover=_hover(row),
        click=_click(row),
    )


def _hover(row: dict[Any, Any]) -> str:
    names = f"<b>{canvas.literal(row['keywords'])}</b><br>{canvas.literal(row['answering_model'])}"
    return f"{names}<br>{rate_sentence(row)}"


def _click(row: dict[Any, Any]) -> list[Any]:
    return place(row["answering_model"], keyword=row["keywords"])
