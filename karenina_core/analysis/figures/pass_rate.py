"""How often is each model right, and how sure is that?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis import statistics
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.figures.dots import Dot, dot_plot
from karenina_core.analysis.summary import rate_sentence

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def pass_rate(frame: pd.DataFrame) -> go.Figure:
    """Draw pass rates with 95 % Wilson intervals, one row per answering model, one series per judge.

    Args:
        frame: A table of `results_frame`.
    """
    if frame.empty:
        return canvas.empty("No results yet: start a run to see how often each model is right.")
    table = pass_rate_numbers(frame)
    evaluated = table.groupby("answering_model", observed=True)["evaluated"].sum()
    dots = [_dot(row, int(evaluated[row["answering_model"]])) for row in table.to_dict("records")]
    return dot_plot(dots, "Share of evaluated answers that are right")


def pass_rate_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the dots, see `statistics.pass_rate`."""
    return statistics.pass_rate(frame, ["answering_model", "parsing_model"])


def _dot(row: dict[Any, Any], evaluated: int) -> Dot:
    model, judge = row["answering_model"], row["parsing_model"]
    name = canvas.literal(model)
    return Dot(
        row=f"{name}<br>n = {evaluated}",
        series=f"judged by {canvas.literal(judge)}",
        value=row["rate"],
        low=row["low"],
        high=row["high"],
        few=bool(row["few"]),
        hover=f"{name}, judged by {canvas.literal(judge)}<br>{rate_sentence(row)}",
        click=place(answering_model=model, parsing_model=judge),
    )
