"""Do the models miss things, or make things up?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.statistics import metric_summary

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

F1_LINES = (0.2, 0.4, 0.6, 0.8)
Point = dict[str, Any]


def precision_recall(frame: pd.DataFrame) -> go.Figure:
    """Draw recall against precision, over all items of a trait, one mark per trait and model, with lines of equal F1.

    Args:
        frame: A table of `traits_frame`.
    """
    points = _points(metric_summary(frame))
    if not points:
        return canvas.empty("Nothing to compare yet: it needs a metric trait with precision and recall.")
    models = list(dict.fromkeys(point["model"] for point in points))
    traces = [_trace(model, number, points) for number, model in enumerate(models)]
    drawing = canvas.figure([*_f1_lines(), *traces], height=460)
    drawing.update_xaxes(title={"text": "Recall: how much of it was found"}, range=[-0.03, 1.19], tickformat=".0%")
    drawing.update_yaxes(title={"text": "Precision: how much is right"}, range=[-0.03, 1.06], tickformat=".0%")
    return drawing


def _points(table: pd.DataFrame) -> list[Point]:
    wide = table.pivot_table(index=["trait", "answering_model"], columns="metric", values="micro", sort=False)
    if not {"precision", "recall"} <= set(wide.columns):
        return []
    counts = table.groupby(["trait", "answering_model"])[["tp", "fp", "fn"]].first()
    points = wide.dropna(subset=["precision", "recall"]).join(counts).reset_index()
    return points.rename(columns={"answering_model": "model"}).to_dict("records")  # type: ignore[return-value]


def _trace(model: str, number: int, points: list[Point]) -> Any:
    import plotly.graph_objects as go

    own = [point for point in points if point["model"] == model]
    return go.Scatter(
        x=[point["recall"] for point in own],
        y=[point["precision"] for point in own],
        hovertext=[_words(point) for point in own],
        customdata=[place(model, item=point["trait"]) for point in own],
        name=canvas.literal(model),
        mode="markers",
        marker={"size": 14, **canvas.series_style(number)},
        unselected={"marker": {"opacity": 1}},
        hoverinfo="text",
    )


def _words(point: Point) -> str:
    return (
        f"<b>{canvas.literal(point['trait'])}</b><br>{canvas.literal(point['model'])}<br>"
        f"precision {point['precision']:.2f}, recall {point['recall']:.2f}<br>"
        f"{point['tp']} found, {point['fn']} missed, {point['fp']} made up"
    )


def _f1_lines() -> list[Any]:
    return [_f1_line(f1) for f1 in F1_LINES]


def _f1_line(f1: float) -> Any:
    import plotly.graph_objects as go

    # Precision where precision and recall give this F1; recall below F1 / (2 - F1) would need more than 100 %.
    lowest = f1 / (2 - f1)
    # Closer together on the left, where the line is steep.
    recalls = [lowest + (1 - lowest) * (step / 40) ** 2 for step in range(41)]
    return go.Scatter(
        x=recalls,
        y=[f1 * recall / (2 * recall - f1) for recall in recalls],
        mode="lines+text",
        line={"dash": "dot", "width": 1, "color": canvas.NOTHING},
        text=[""] * 40 + [f"F1 {f1:g}"],
        textposition="middle right",
        hoverinfo="skip",
        showlegend=False,
    )
