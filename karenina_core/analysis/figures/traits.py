"""Figures of a traits table: scores, shares of yes, classes, what traits have in common, and metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.canvas import Mark, Row, literal, mark
from karenina_core.analysis.statistics import SAME, label_shares, metric_summary, trait_correlations, trait_summary
from karenina_core.analysis.summary import interval, number, percent
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

USUAL_RANGE = (1, 5)
_SHARES = ["llm_binary", "regex"]
_PLANE = ["precision", "recall"]
_LARGEST_BUBBLE, _TITLE_SPACE, _ROW_SPACE, _MEAN_BELOW = 30, 70, 56, 0.36


# Bubbles: how often each value occurs, one panel per trait, one row per model


class Panel(NamedTuple):
    """The values of one trait.

    Attributes:
        title: Written above it.
        ticks: Places on the axis and what is written there.
        counts: How often each value occurs, see `statistics.label_shares`.
        means: Their means, see `statistics.trait_summary`; empty where a mean says nothing.
    """

    title: str
    ticks: dict[float, str]
    counts: list[Row]
    means: Sequence[Row] = ()


def bubble_panels(panels: Sequence[Panel]) -> Any:
    """Draw panels below each other, each on its own range."""
    from plotly.subplots import make_subplots

    rows = [
        {row["answering_model"]: f"{literal(row['answering_model'], 40)}<br>n = {row['n']}" for row in panel.counts}
        for panel in panels
    ]
    heights = [_ROW_SPACE * len(labels) for labels in rows]
    height = sum(heights) + _TITLE_SPACE * len(panels) + 60
    drawing = make_subplots(
        rows=len(panels),
        cols=1,
        row_heights=heights,
        vertical_spacing=_TITLE_SPACE / height if len(panels) > 1 else 0,
        subplot_titles=[panel.title for panel in panels],
        figure=canvas.figure([], height=height, showlegend=False),
    )
    for at, (panel, labels) in enumerate(zip(panels, rows, strict=True), 1):
        _draw_panel(drawing, panel, labels, at)
    return drawing


def _draw_panel(drawing: Any, panel: Panel, labels: dict[str, str], at: int) -> None:
    models = list(labels)
    bubbles = [
        mark(
            row,
            row["index"],
            models.index(row["answering_model"]),
            literal(row["answering_model"]),
            f"{literal(row['label'])}: {row['count']} of {row['n']} ({percent(row['share'])})",
            text=str(row["count"]),
        )
        for row in panel.counts
    ]
    most = max(row["count"] for row in panel.counts)
    # The area, not the width, is what people compare; 14 px keep the number readable.
    sizes = [max(14.0, _LARGEST_BUBBLE * math.sqrt(row["count"] / most)) for row in panel.counts]
    look = {"color": canvas.RIGHT, "opacity": 1, "size": sizes}
    drawing.add_trace(canvas.trace(bubbles, look, text_colour=canvas.LIGHT_TEXT), row=at, col=1)
    if panel.means:
        means = [
            _mean_mark(row, models.index(row["answering_model"]), labels[row["answering_model"]]) for row in panel.means
        ]
        diamond = {"symbol": "diamond", "size": 11, "color": canvas.PARTLY, "line": {"width": 1, "color": "#000000"}}
        drawing.add_trace(canvas.trace(means, diamond, error={"axis": "x", "color": canvas.PARTLY}), row=at, col=1)
    places = list(panel.ticks)
    edge = 0.5 * (places[1] - places[0]) if len(places) > 1 else 0.5
    shared = {"row": at, "col": 1, "gridcolor": canvas.GRID, "zeroline": False, "automargin": True}
    ends = [places[0] - edge, places[-1] + edge]
    drawing.update_xaxes(range=ends, tickvals=places, ticktext=list(panel.ticks.values()), **shared)
    drawing.update_yaxes(**canvas.rows_axis(list(labels.values())) | {"showgrid": True} | shared)


def _mean_mark(row: Row, at: int, label: str) -> Mark:
    spread = "" if math.isnan(row["low"]) else f" (95 % interval {row['low']:.1f}–{row['high']:.1f})"
    few = "too few to tell" if row["few"] else ""
    return mark(row, row["mean"], at + _MEAN_BELOW, label, f"mean {row['mean']:.2f}{spread}", few)


def trait_scores(frame: pd.DataFrame) -> go.Figure:
    """Draw how often each score was given, one panel per trait on the trait's own range, with means.

    Args:
        frame: A table of `traits_frame`. Where it does not know a trait's range, 1 to 5 is shown, widened to the
            scores that occur.
    """
    scores = frame[(frame["kind"] == "llm_score") & frame["value"].notna()]
    if scores.empty:
        return canvas.empty("No scores yet: they appear when a rubric has traits scored by a judge.")
    counts, means = label_shares(scores, kind="llm_score"), score_numbers(scores)
    groups = scores.groupby("trait", sort=False, observed=True)
    panels = []
    for trait, rows in groups:
        low, high = rows["minimum"].min(), rows["maximum"].max()
        if math.isnan(low) or math.isnan(high):
            low, high = USUAL_RANGE
        low, high = int(min(low, rows["value"].min())), int(max(high, rows["value"].max()))
        known = rows["higher_is_better"].dropna().unique()
        direction = "" if len(known) != 1 else " (higher is better →)" if known[0] else " (← lower is better)"
        own = means[means["trait"] == trait]
        # Scores end where the range ends, so their mean does too.
        own = own.assign(low=own["low"].clip(low), high=own["high"].clip(upper=high))
        ticks = {float(score): str(score) for score in range(low, high + 1, max(1, (high - low) // 20))}
        values = counts[counts["trait"] == trait].to_dict("records")
        panels.append(Panel(f"{literal(str(trait))}{direction}", ticks, values, own.to_dict("records")))
    return bubble_panels(panels)


def score_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means behind the diamonds, see `statistics.trait_summary`."""
    return trait_summary(frame[frame["kind"] == "llm_score"], ["trait", "answering_model"])


def trait_labels(frame: pd.DataFrame) -> go.Figure:
    """Draw how often each class of a literal trait was chosen, one panel per trait, one row per model."""
    table = label_shares(frame)
    if table.empty:
        return canvas.empty("No classes yet: they appear when a rubric has traits with classes.")
    panels = []
    for trait, rows in table.groupby("trait", sort=False, observed=True):
        labels = rows.sort_values("index", kind="stable")["label"].unique().tolist()
        ticks = {float(at): literal(label, 25) for at, label in enumerate(labels)}
        counts = rows.assign(index=[labels.index(label) for label in rows["label"]]).to_dict("records")
        panels.append(Panel(literal(str(trait)), ticks, counts))
    return bubble_panels(panels)


# Shares and correlations


def trait_shares(frame: pd.DataFrame) -> go.Figure:
    """Draw the share of yes for yes-or-no and pattern traits with 95 % intervals, one series per model."""
    table = share_numbers(frame)
    if table.empty:
        return canvas.empty("No yes-or-no traits yet: they appear when a rubric has binary or pattern traits.")
    counts, dots = table.groupby("trait", observed=True)["n"].sum(), []
    for row in table.to_dict("records"):
        trait, model = literal(row["trait"]), literal(row["answering_model"])
        words = [f"none of {row['missing']} evaluated"]
        if row["n"]:
            words = [f"yes in {percent(row['mean'])} of {row['n']}"]
            words += [f"95 % interval {interval(row['low'], row['high'])}"]
            words += [f"{row['missing']} not evaluated"] if row["missing"] else []
            words += ["too few to tell"] if row["few"] else []
        label = f"{trait}<br>n = {counts[row['trait']]}"
        dots.append(mark(row, row["mean"], label, f"<b>{trait}</b>", model, *words, series=model))
    return canvas.dot_plot(dots, "Share of yes")


def share_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the shares behind the marks, see `statistics.trait_summary`."""
    return trait_summary(frame[frame["kind"].isin(_SHARES)], ["trait", "answering_model"])


def trait_redundancy(frame: pd.DataFrame) -> go.Figure:
    """Draw the rank correlation of every two traits as a square."""
    rows: list[Row] = trait_correlations(frame).to_dict("records")
    if not rows:
        return canvas.empty("Nothing to compare yet: it needs two traits that are scored, yes or no, or patterns.")
    names = list(dict.fromkeys(row[side] for row in rows for side in ("first", "second")))
    labels = [canvas.wrapped(name, 24) for name in names]
    ends = [-0.5, len(names) - 1.5]
    return canvas.matrix(
        [_correlation_mark(row, names.index(row["first"]), names.index(row["second"]) - 1) for row in rows],
        [row["correlation"] for row in rows],
        size=34,
        height=120 + 46 * len(names),
        xaxis=canvas.rows_axis(labels[:-1], range=ends, side="bottom", tickangle=-40),
        yaxis=canvas.rows_axis(labels[1:]),
    )


def _correlation_mark(row: Row, x: int, y: int) -> Mark:
    known, row = not math.isnan(row["correlation"]), row | {"trait": row["first"]}
    words = [f"one of them is the same everywhere (n = {row['n']})"]
    if known:
        words = [f"correlation {row['correlation']:+.2f}, n = {row['n']}"]
        words += [] if math.isnan(row["low"]) else [f"95 % interval {row['low']:+.2f} to {row['high']:+.2f}"]
        redundant = "hardly different: one of them may do" if row["correlation"] >= SAME else ""
        words += ["too few to tell" if row["few"] else redundant]
    names = f"<b>{literal(row['first'])}</b> and <b>{literal(row['second'])}</b>"
    return mark(row, x, y, names, *words, text=f"{row['correlation']:+.2f}" if known else "–")


# Metrics


def metrics(frame: pd.DataFrame) -> go.Figure:
    """Draw the macro average of each metric of each metric trait, one series per model."""
    table = metric_summary(frame)
    if table.empty:
        return canvas.empty("No metrics yet: they appear when a rubric has metric traits.")
    one_trait = table["trait"].nunique() == 1
    return canvas.dot_plot([_metric_dot(row, one_trait) for row in table.to_dict("records")], "Mean over questions")


def _metric_dot(row: Row, one_trait: bool) -> Mark:
    model = literal(row["answering_model"])
    return mark(
        row,
        row["macro"],
        # Narrow labels: on a telephone they share the width with the dots.
        row["metric"] if one_trait else f"{row['metric']}<br>{canvas.wrapped(row['trait'], 18, 3)}",
        f"<b>{row['metric']}</b> of {literal(row['trait'], 40)}",
        model,
        f"mean of {counted(row['questions'], 'question')}: {number(row['macro'])}",
        f"over all items: {number(row['micro'])}",
        " · ".join(f"{name.upper()} {row[name]}" for name in ("tp", "fp", "tn", "fn")),
        f"{row['undefined']} undefined (0/0)" if row["undefined"] else "",
        "too few to tell" if row["few"] else "",
        series=model,
    )


def precision_recall(frame: pd.DataFrame) -> go.Figure:
    """Draw recall against precision, over all items, one mark per trait and model."""
    table = metric_summary(frame).astype({"trait": "str", "metric": "str", "answering_model": "str"})
    columns = {name: table[table["metric"] == name].set_index(["trait", "answering_model"]) for name in _PLANE}
    both = columns["precision"].join(columns["recall"]["micro"].rename("recall"), how="inner")
    points = both.rename(columns={"micro": "precision"}).dropna(subset=_PLANE).reset_index()
    if points.empty:
        return canvas.empty("Nothing to compare yet: it needs a metric trait with precision and recall.")
    traces = [
        canvas.trace(
            [_plane_mark(row) for row in rows.to_dict("records")],
            {"size": 14, **canvas.series_style(at)},
            name=literal(str(model)),
        )
        for at, (model, rows) in enumerate(points.groupby("answering_model", sort=False))
    ]
    return canvas.figure(
        traces,
        height=460,
        xaxis=canvas.share_axis("Recall: how much of it was found", range=[-0.03, 1.06]),
        yaxis=canvas.share_axis("Precision: how much is right", range=[-0.03, 1.06]),
    )


def _plane_mark(row: Row) -> Mark:
    return mark(
        row,
        row["recall"],
        row["precision"],
        f"<b>{literal(row['trait'])}</b>",
        literal(row["answering_model"]),
        f"precision {row['precision']:.2f}, recall {row['recall']:.2f}",
        f"{row['tp']} found, {row['fn']} missed, {row['fp']} made up",
    )
