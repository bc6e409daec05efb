"""How many responses have the quality, or match the pattern?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.figures.dots import Dot, dot_plot
from karenina_core.analysis.statistics import trait_summary
from karenina_core.analysis.summary import interval, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def trait_shares(frame: pd.DataFrame) -> go.Figure:
    """Draw the share of yes for yes-or-no and pattern traits with 95 % intervals, one series per model.

    Args:
        frame: A table of `traits_frame`.
    """
    shares = frame[frame["kind"].isin(["llm_binary", "regex"])]
    if shares.empty:
        return canvas.empty("No yes-or-no traits yet: they appear when a rubric has binary or pattern traits.")
    table = share_numbers(shares)
    counts = table.groupby("trait", observed=True)["n"].sum()
    return dot_plot([_dot(row, int(counts[row["trait"]])) for row in table.to_dict("records")], "Share of yes")


def share_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the shares behind the marks, see `statistics.trait_summary`."""
    return trait_summary(frame[frame["kind"].isin(["llm_binary", "regex"])], ["trait", "answering_model"])


def _dot(row: dict[Any, Any], n: int) -> Dot:
    trait, model = canvas.literal(row["trait"]), canvas.literal(row["answering_model"])
    return Dot(
        row=f"{trait}<br>n = {n}",
        series=model,
        value=row["mean"],
        low=row["low"],
        high=row["high"],
        few=bool(row["few"]),
        hover=f"<b>{trait}</b><br>{model}<br>{_words(row)}",
        click=place(row["answering_model"], item=row["trait"]),
    )


def _words(row: dict[Any, Any]) -> str:
    if not row["n"]:
        return f"none of {row['missing']} evaluated"
    parts = [
        f"yes in {percent(row['mean'])} of {row['n']}",
        f"95 % interval {interval(row['low'], row['high'])}",
    ]
    parts += [f"{row['missing']} not evaluated"] if row["missing"] else []
    parts += ["too few to tell"] if row["few"] else []
    return "<br>".join(parts)
