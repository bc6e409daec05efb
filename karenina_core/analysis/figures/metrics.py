"""How well do the models find what they should, and only that?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.figures.dots import Dot, dot_plot
from karenina_core.analysis.statistics import metric_summary
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def metrics(frame: pd.DataFrame) -> go.Figure:
    """Draw the macro average of each metric of each metric trait, one series per model.

    Args:
        frame: A table of `traits_frame`.
    """
    table = metric_summary(frame)
    if table.empty:
        return canvas.empty("No metrics yet: they appear when a rubric has metric traits.")
    one_trait = table["trait"].nunique() == 1
    return dot_plot([_dot(row, one_trait) for row in table.to_dict("records")], "Mean over questions")


def _dot(row: dict[Any, Any], one_trait: bool) -> Dot:
    trait, model = canvas.literal(row["trait"], 40), canvas.literal(row["answering_model"])
    return Dot(
        # Narrow labels: on a telephone they share the width with the dots.
        row=row["metric"] if one_trait else f"{row['metric']}<br>{canvas.wrapped(row['trait'], 18, 3)}",
        series=model,
        value=row["macro"],
        few=bool(row["few"]),
        hover=f"<b>{row['metric']}</b> of {trait}<br>{model}<br>{_words(row)}",
        click=place(row["answering_model"], item=row["trait"]),
    )


def _words(row: dict[Any, Any]) -> str:
    counts = " · ".join(f"{name.upper()} {row[name]}" for name in ("tp", "fp", "tn", "fn"))
    parts = [f"mean of {counted(row['questions'], 'question')}: {_number(row['macro'])}"]
    parts += [f"over all items: {_number(row['micro'])}", counts]
    parts += [f"{row['undefined']} undefined (0/0)"] if row["undefined"] else []
    parts += ["too few to tell"] if row["few"] else []
    return "<br>".join(parts)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
