"""Which class do judges put the responses in?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.bubbles import Bubble, Panel, bubble_panels
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.statistics import label_shares
from karenina_core.analysis.summary import percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def trait_labels(frame: pd.DataFrame) -> go.Figure:
    """Draw how often each class of a literal trait was chosen, one panel per trait, one row per model.

    Args:
        frame: A table of `traits_frame`.
    """
    table = label_shares(frame)
    if table.empty:
        return canvas.empty("No classes yet: they appear when a rubric has traits with classes.")
    return bubble_panels([_panel(str(trait), rows) for trait, rows in table.groupby("trait", sort=False)])


def _panel(trait: str, table: pd.DataFrame) -> Panel:
    labels = table.sort_values("index", kind="stable")["label"].unique().tolist()
    return Panel(
        title=canvas.literal(trait),
        ticks={float(index): canvas.literal(label, 25) for index, label in enumerate(labels)},
        bubbles=[
            Bubble(
                row=f"{canvas.literal(row['answering_model'], 40)}<br>n = {row['n']}",
                x=float(labels.index(row["label"])),
                count=row["count"],
                hover=f"{canvas.literal(row['answering_model'])}<br>{canvas.literal(row['label'])}: "
                f"{row['count']} of {row['n']} ({percent(row['share'])})",
                click=place(row["answering_model"], item=trait, label=row["label"]),
            )
            for row in table.to_dict("records")
        ],
    )
