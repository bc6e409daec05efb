"""Who is ahead, and who is as good as level?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.comparison.arms import Arm
from karenina_core.analysis.comparison.words import Labels
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.dots import Dot, dot_plot
from karenina_core.analysis.summary import rate_sentence

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

ROW = 56
"""Height of a row: a name of two lines, and a third for its group."""


def compare_leaderboard(table: pd.DataFrame, labels: Labels) -> go.Figure:
    """Draw the share of right answers of every arm, the best first, with the letters of its tie groups.

    The `customdata` of a mark is the id of its arm.

    Args:
        table: See `leaderboard.leaderboard`.
        labels: Names of the arms.
    """
    if table.empty:
        return canvas.empty("No arm to rank.")
    dots = [_dot(row, labels) for row in table.to_dict("records")]
    return dot_plot(dots, "Share of evaluated answers that are right").update_layout(height=110 + ROW * len(dots))


def _dot(row: dict[Any, Any], labels: Labels) -> Dot:
    arm = Arm(row["run_id"], row["answering_model"], row["parsing_model"])
    return Dot(
        row=f"{canvas.wrapped(labels[arm])}<br>group {row['ties']} · n = {row['evaluated']}",
        series="",
        value=row["rate"],
        low=row["low"],
        high=row["high"],
        few=bool(row["few"]),
        hover=f"{canvas.literal(labels[arm])}, group {row['ties']}<br>{rate_sentence(row)}",
        click=[arm.id],
    )
