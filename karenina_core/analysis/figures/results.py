"""Figures of a results table: pass rates, keywords, cost, time, and the quality of questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis import statistics
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.canvas import Mark, Row, literal, mark
from karenina_core.analysis.figures.grids import About, Look, grid, hardest
from karenina_core.analysis.statistics import MIN_EXAMINEES, item_analysis, latencies
from karenina_core.analysis.summary import rate_sentence

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SHARE_RIGHT = "Share of evaluated answers that are right"
MOST_SERIES = 4  # with more models, dots of one keyword would hide each other: then there are squares
MOST_KEYWORDS = 60
MOST_ITEMS = 1_000
_WIDE_PRICES, _WIDE_TIMES = 8, 20  # values that differ by more than this factor are drawn on a logarithmic axis
_MOST_NAMES = 6  # with more models, names of those that are not worth their price would hide the others
_TIME_AXES = {
    "answer": "Seconds until the answer was there",
    "evaluation": "Seconds for the whole evaluation, judge included",
}
_ITEM_LOOKS = {
    "x": Look(canvas.WRONG, "", "below 0: check the question, its reference answer and its rule"),
    "circle": Look(canvas.RIGHT, "", "tells good from weak"),
    "line-ew-open": Look(canvas.NOTHING, "", "all right or all wrong: tells nobody apart"),
}


def pass_rate(frame: pd.DataFrame) -> go.Figure:
    """Draw pass rates with 95 % Wilson intervals, one row per answering model, one series per judge."""
    if frame.empty:
        return canvas.empty("No results yet: start a run to see how often each model is right.")
    table, dots = pass_rate_numbers(frame), []
    evaluated = table.groupby("answering_model", observed=True)["evaluated"].sum()
    for row in table.to_dict("records"):
        model, judge = literal(row["answering_model"]), f"judged by {literal(row['parsing_model'])}"
        label = f"{model}<br>n = {evaluated[row['answering_model']]}"
        dots.append(mark(row, row["rate"], label, f"{model}, {judge}", rate_sentence(row), series=judge))
    return canvas.dot_plot(dots, SHARE_RIGHT)


def pass_rate_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the dots, see `statistics.pass_rate`."""
    return statistics.pass_rate(frame, ["answering_model", "parsing_model"])


def keywords(frame: pd.DataFrame) -> go.Figure:
    """Draw pass rates by keyword and answering model, the hardest keyword first.

    A question counts under each of its keywords.
    """
    if frame.empty or not frame["keywords"].map(len).any():
        return canvas.empty("No keywords yet: give questions keywords, and see here which subjects are hard.")
    shown, total = hardest(keyword_numbers(frame), ["keywords"], MOST_KEYWORDS, always=True)
    if shown["answering_model"].nunique() > MOST_SERIES:
        return grid(shown, ["keywords"], "keyword", total, _about_keyword)
    dots = []
    for row in shown.to_dict("records"):
        (label, title, sentences), model = _about_keyword(row), literal(row["answering_model"])
        dots.append(mark(row, row["rate"], label, title, model, *sentences, series=model))
    drawing = canvas.dot_plot(dots, SHARE_RIGHT)
    if total > MOST_KEYWORDS:
        canvas.note(drawing, f"The {MOST_KEYWORDS} hardest of {total:,} keywords are shown. Filter to see others.")
    return drawing


def keyword_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the marks, see `statistics.pass_rate`."""
    return statistics.pass_rate(frame, ["keywords", "answering_model"])


def _about_keyword(row: Row) -> About:
    return About(canvas.wrapped(row["keywords"]), f"<b>{literal(row['keywords'])}</b>", [rate_sentence(row)])


# Cost and time


def cost_quality(frame: pd.DataFrame) -> go.Figure:
    """Draw the pass rate of every model against the price of an answer, with the line of models that nobody beats."""
    rows: list[Row] = statistics.cost_quality(frame).to_dict("records")
    known = sorted((row for row in rows if row["priced"] and row["evaluated"]), key=lambda row: row["cost"])
    if not any(row["cost"] for row in known):
        return canvas.empty(_why_no_prices(frame))
    remembered = frame.loc[frame["answer_origin"] == "ledger", "answering_model"].value_counts()
    marks = [_price_mark(row, len(known), int(remembered.get(row["answering_model"], 0))) for row in known]
    looks = [(canvas.RIGHT, "diamond") if row["best"] else (canvas.NOTHING, "circle") for row in known]
    marker = {
        "size": 13,
        "color": [colour for colour, _ in looks],
        "symbol": [f"{symbol}-open" if row["few"] else symbol for row, (_, symbol) in zip(known, looks, strict=True)],
    }
    error = {"axis": "y", "thickness": 2, "color": canvas.NOTHING}
    models = canvas.trace(marks, marker, error=error, showlegend=False)
    # Names point inwards, and those of neighbours in price stand on different sides.
    halves = ["right" if number < len(known) / 2 else "left" for number in range(len(known))]
    sides = [f"{'top' if number % 2 else 'bottom'} {half}" for number, half in enumerate(halves)]
    models.update(text=[mark.text for mark in marks], mode="markers+text", textposition=sides)
    prices = canvas.axis("US dollars for an answer, the judge left out", **_price_ticks(known))
    shares = canvas.share_axis("Share right", range=[-0.03, 1.06])
    drawing = canvas.figure([_frontier(known), models], 420, xaxis=prices, yaxis=shares)
    if len(known) < len(rows):
        lacking = [literal(row["answering_model"], 30) for row in rows if row not in known]
        more = "…" if len(lacking) > 5 else ""
        canvas.note(drawing, f"Without a price or a verdict: {', '.join(lacking[:5])}{more}.")
    return drawing


def _why_no_prices(frame: pd.DataFrame) -> str:
    answered = frame[frame["answer_origin"].notna()]
    if answered.empty:
        return "No call behind an answer of this run is on record, so there are no prices to compare."
    if answered["answer_origin"].isin(["recording", "manual"]).all():
        return (
            "The answers of this run were recorded or prepared beforehand: no model was asked, so there are no prices "
            "to compare."
        )
    if answered["answer_cost"].isna().all():
        return (
            "No price of these models is known: enter prices on the page Configure. They count for the calls that "
            "follow."
        )
    return "No answer that cost anything has a verdict, so no price can be compared with quality."


def _price_ticks(rows: Sequence[Row]) -> dict[str, Any]:
    low, high = rows[0]["cost"], rows[-1]["cost"]
    if low <= 0 or high <= _WIDE_PRICES * low:
        return {"tickprefix": "$", "rangemode": "tozero"}
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"${tick:g}" for tick in ticks]}


def _frontier(rows: Sequence[Row]) -> Any:
    import plotly.graph_objects as go

    best = sorted((row["cost"], row["rate"]) for row in rows if row["best"])
    return go.Scatter(
        x=[cost for cost, _ in best],
        y=[rate for _, rate in best],
        mode="lines",
        line={"dash": "dot", "width": 2, "color": canvas.NOTHING, "shape": "hv"},
        name="no model is better for less",
        hoverinfo="skip",
    )


def _price_mark(row: Row, of: int, remembered: int) -> Mark:
    partly = "" if row["priced"] == row["n"] else f" (known for {row['priced']} of {row['n']})"
    return mark(
        row,
        row["cost"],
        row["rate"],
        f"<b>{literal(row['answering_model'])}</b>",
        f"${row['cost']:.5f} an answer{partly}",
        f"{remembered} of {row['n']} from the ledger, at the price first paid" if remembered else "",
        rate_sentence(row),
        "no model is better for less" if row["best"] else "",
        text=literal(row["answering_model"], 30) if row["best"] or of <= _MOST_NAMES else "",
    )


def latency(frame: pd.DataFrame) -> go.Figure:
    """Draw median, middle 80 % and slowest 1 % of the times of every model."""
    import plotly.graph_objects as go

    rows: list[Row] = [row for row in latencies(frame).to_dict("records") if row["n"]]
    if not rows or not max(row["p99"] for row in rows):
        return canvas.empty("No times yet: they appear when models were asked just now, rather than recordings read.")
    middle = go.Scatter(
        x=[end for row in rows for end in (row["p10"], row["p90"], None)],
        y=[end for number in range(len(rows)) for end in (number, number, None)],
        name="middle 80 %",
        mode="lines",
        line={"width": 6, "color": canvas.RIGHT},
        opacity=0.45,
        hoverinfo="skip",
    )
    slow = {"size": 12, "color": canvas.PARTLY, "symbol": "line-ns-open", "line": {"width": 3}}
    symbols = ["circle-open" if row["few"] else "circle" for row in rows]
    medians = {"size": 13, "color": canvas.RIGHT, "symbol": symbols}
    traces = [
        canvas.trace([_time_mark(row, column, at) for at, row in enumerate(rows)], marker, name=name)
        for column, name, marker in (("p99", "slowest 1 %", slow), ("median", "median", medians))
    ]
    fastest, slowest = min(row["p10"] for row in rows), max(row["p99"] for row in rows)
    scale = {"type": "log"} if fastest > 0 and slowest > _WIDE_TIMES * fastest else {"rangemode": "tozero"}
    labels = [f"{literal(row['answering_model'])}<br>n = {row['n']:,}" for row in rows]
    axis = canvas.axis(_TIME_AXES[rows[0]["of"]], ticksuffix=" s", **scale)
    return canvas.figure([middle, *traces], 130 + 44 * len(rows), xaxis=axis, yaxis=canvas.rows_axis(labels))


def _time_mark(row: Row, column: str, at: int) -> Mark:
    return mark(
        row,
        row[column],
        at,
        f"<b>{literal(row['answering_model'])}</b>",
        f"median {row['median']:.2f} s, n = {row['n']:,}",
        f"80 % between {row['p10']:.2f} and {row['p90']:.2f} s",
        f"1 % longer than {row['p99']:.2f} s",
        f"{row['missing']} without a time" if row["missing"] else "",
        "too few to tell" if row["few"] else "",
    )


# Quality of questions


def items(frame: pd.DataFrame) -> go.Figure:
    """Draw how hard every question is against how well it tells good models from weak ones."""
    table = item_analysis(frame) if len(frame) else frame
    if table.empty or table["examinees"].max() < MIN_EXAMINEES:
        return canvas.empty(f"Too few to tell: this needs at least {MIN_EXAMINEES} models or repeats per question.")
    judged = table[(table["evaluated"] > 0) & (table["examinees"] >= MIN_EXAMINEES)]
    rows = judged.sort_values("discrimination", kind="stable").head(MOST_ITEMS).to_dict("records")
    drawing = canvas.figure(
        [_item_trace(symbol, rows) for symbol in _ITEM_LOOKS],
        height=460,
        xaxis=canvas.share_axis("Share right: left is hard, right is easy", range=[-0.04, 1.04]),
        yaxis=canvas.axis("Discrimination", range=[-1.08, 1.08]),
    )
    drawing.add_hline(y=0, line={"width": 1, "color": canvas.NOTHING})
    if len(rows) < len(table):
        canvas.note(drawing, f"{len(rows):,} of {len(table):,} questions are shown.")
    return drawing


def _item_trace(symbol: str, rows: Sequence[Row]) -> Any:
    look = _ITEM_LOOKS[symbol]
    marks = [_item_mark(row, look.words) for row in rows if _item_symbol(row) == symbol]
    marker = {"size": 10, "color": look.colour, "symbol": symbol, "line": {"width": 1.5, "color": look.colour}}
    return canvas.trace(marks, marker, name=look.words, showlegend=bool(marks))


def _item_symbol(row: Row) -> str:
    if math.isnan(row["discrimination"]):
        return "line-ew-open"
    return "x" if row["discrimination"] < 0 else "circle"


def _item_mark(row: Row, meaning: str) -> Mark:
    value, known = row["discrimination"], not math.isnan(row["discrimination"])
    spread = f"(95 % interval {row['discrimination_low']:+.2f} to {row['discrimination_high']:+.2f})"
    told = f"discrimination {value:+.2f} {spread}, {row['examinees']} models and repeats" if known else ""
    title = f"<b>{literal(row['question'])}</b>"
    return mark(row, row["rate"], value if known else 0.0, title, rate_sentence(row), told, meaning)
