"""Grids of clickable squares: questions, template fields and keywords by model; what is right, wrong or missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.canvas import DARK_TEXT, LIGHT_TEXT, Mark, Row, literal
from karenina_core.analysis.statistics import Groups, field_rates, pass_rate
from karenina_core.analysis.summary import interval, percent
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

State = Literal["right", "partly", "wrong", "not_found", "nothing"]
MOST_ROWS = 100
MOST_COLUMNS = 12  # up to this many columns, every repetition has one of its own
MOST_SVG_MARKS = 3_000
SIZE, PITCH = 26, 36  # pixels of a square, and from one to the next
MOST_STRETCHED = 6  # columns; more keep their width, and the figure scrolls on a narrow screen
ROW_LABEL = 190  # pixels of the longest label of a row
LABEL_SPACE = 310  # labels of rows, and what the last tilted label of a column reaches over
FLAT_HEAD = FOOT = 60
MOST_FLAT_LABELS, MOST_FLAT_TEXT = 4, 30  # labels and characters above all columns; more overlap on a narrow screen


class Look(NamedTuple):
    """How a state is drawn: colour, colour of the text on it, and its words in the legend."""

    colour: str
    text_colour: str
    words: str


LOOKS: dict[State, Look] = {
    "right": Look(canvas.RIGHT, LIGHT_TEXT, "✓ right"),
    "partly": Look(canvas.PARTLY, DARK_TEXT, "% partly right"),
    "wrong": Look(canvas.WRONG, LIGHT_TEXT, "✗ wrong"),
    "not_found": Look(canvas.NOT_FOUND, LIGHT_TEXT, "∅ not found"),
    "nothing": Look(canvas.NOTHING, LIGHT_TEXT, "– not evaluated"),
}


class About(NamedTuple):
    """What a square says: the label of its row, the title of its hover text, and sentences below it."""

    label: str
    title: str
    sentences: Sequence[str]


def _state(row: Row) -> tuple[State, str]:
    if not row["evaluated"]:
        return "nothing", "–"
    if row.get("not_found") == row["evaluated"]:
        return "not_found", "∅"
    if row["rate"] in (0, 1):
        return ("right", "✓") if row["rate"] else ("wrong", "✗")
    return "partly", percent(row["rate"]).removesuffix(" %")


def hardest(table: pd.DataFrame, by: list[str], most: int, *, always: bool = False) -> tuple[pd.DataFrame, int]:
    """Return the rates that a figure has room for, and how many rows it would have in all.

    Args:
        table: Rates of `statistics`.
        by: Columns that make a row of the figure.
        most: Rows that fit; where there are more, the hardest are returned, the hardest first.
        always: Whether the hardest come first in any case.
    """
    import numpy as np

    rows = Groups(table, by)
    if len(rows) <= most and not always:
        return table, len(rows)
    evaluated = rows.total(table["evaluated"])
    rates = rows.total(table["passed" if "passed" in table else "right"]) / np.where(evaluated > 0, evaluated, np.nan)
    ranks = np.argsort(np.argsort(rates, kind="stable"))[rows.codes]  # what was never decided stands last
    return table.iloc[np.argsort(ranks, kind="stable")[: (ranks < most).sum()]], len(rows)


def grid(table: pd.DataFrame, names: Sequence[str], noun: str, total: int, about: Callable[[Row], About]) -> Any:
    """Draw a square for every row of a table of rates, in the order of the table.

    Args:
        table: Rates by `names`, model, and judge and repeat where there are several.
        names: Columns that make a row of the grid.
        noun: What a row is, such as `question`, for the remark when there are too many.
        total: Rows there are in all, when not all are in the table.
        about: What the square of a row of the table says.

    Returns:
        The figure; its layout's `meta` says under `least_width` from how many pixels on no squares overlap.
    """
    heads = [name for name in ("answering_model", "parsing_model", "replicate") if name in table]
    rows: dict[Any, tuple[int, str]] = {}
    columns: dict[Any, tuple[int, str]] = {}
    marks: dict[State, list[Mark]] = {state: [] for state in LOOKS}
    for row in table.to_dict("records"):
        label, title, sentences = about(row)
        head = "<br>".join(f"#{row[name]}" if name == "replicate" else literal(row[name], 30) for name in heads)
        x, _ = columns.setdefault(tuple(row[name] for name in heads), (len(columns), head))
        y, _ = rows.setdefault(tuple(row[name] for name in names), (len(rows), label))
        state, text = _state(row)
        marks[state].append(canvas.mark(row, x, y, title, head, *sentences, text=text))
    labels = [label for _, label in columns.values()]
    lengths = [max(map(len, label.split("<br>"))) for label in labels]
    tilted = len(lengths) > MOST_FLAT_LABELS or sum(lengths) > MOST_FLAT_TEXT
    head_space = FLAT_HEAD + 5 * max(lengths) if tilted else FLAT_HEAD
    right = min(70, max(20, 4 * lengths[-1] - PITCH // 2)) if tilted else 20  # the last label leans over the edge
    across: dict[str, Any] = {"range": [-0.5, len(labels) - 0.5], "side": "top", "automargin": False}
    drawing = canvas.figure(
        [_state_trace(LOOKS[state], own, len(table)) for state, own in marks.items()],
        height=head_space + PITCH * len(rows) + FOOT,
        xaxis=canvas.rows_axis(labels, tickangle=-50 if tilted else 0, **across),
        yaxis=canvas.rows_axis([label for _, label in rows.values()]),
        margin={"l": 10, "t": head_space, "b": FOOT, "r": right},
        meta={"least_width": ROW_LABEL + right + (SIZE + 4) * len(lengths)},
        legend={"orientation": "h", "xref": "container", "yref": "container", "x": 0, "y": 0, "yanchor": "bottom"},
        # Squares would overlap on a narrow screen: there the figure is wider than the screen and scrolls.
        width=LABEL_SPACE + PITCH * len(lengths) if len(lengths) > MOST_STRETCHED else None,
    )
    if total > len(rows):
        canvas.note(drawing, f"The {len(rows)} hardest of {total:,} {noun}s are shown. Filter to see others.")
    return drawing


def _state_trace(look: Look, marks: Sequence[Mark], together: int) -> Any:
    marker = {"symbol": "square", "size": SIZE, "color": look.colour}
    more: dict[str, Any] = {"name": look.words, "showlegend": bool(marks), "gl": together > MOST_SVG_MARKS}
    return canvas.trace(marks, marker, text_colour=look.text_colour, **more)


def questions(frame: pd.DataFrame, replicates: bool | None = None) -> go.Figure:
    """Draw one square per question and model.

    Args:
        frame: A table of `results_frame`.
        replicates: Whether every repetition has its own column; decided by their number when not given.
    """
    if frame.empty:
        return canvas.empty("No results yet: start a run to see them question by question.")
    shown, total = hardest(question_numbers(frame, replicates), ["question_id"], MOST_ROWS)
    return grid(shown, ["question_id"], "question", total, _about_question)


def question_numbers(frame: pd.DataFrame, replicates: bool | None = None) -> pd.DataFrame:
    """Return the rates behind the squares, see `statistics.pass_rate`."""
    import numpy as np

    columns = ["answering_model", *_judge(frame)]
    repeated = frame["replicate"].nunique() > 1
    if replicates is None:
        replicates = len(frame[[*columns, "replicate"]].drop_duplicates()) <= MOST_COLUMNS
    if repeated and replicates:
        columns.append("replicate")
    # Columns in the order of their models, not in the order in which answers came in.
    order = [
        frame[name].to_numpy() if name == "replicate" else Groups(frame, [name]).codes
        for name in ("question_id", *columns)
    ]
    return pass_rate(frame.iloc[np.lexsort(order[::-1])], ["question_id", "question", *columns])


def _judge(frame: pd.DataFrame) -> list[str]:
    return ["parsing_model"] if frame["parsing_model"].nunique() > 1 else []


def _about_question(row: Row) -> About:
    if row["n"] == 1:
        words = "right" if row["passed"] else "wrong" if row["evaluated"] else "not evaluated"
    else:
        words = f"{row['passed']} of {counted(row['evaluated'], 'answer')} right"
        words += f", {row['not_evaluated']} not evaluated" if row["not_evaluated"] else ""
    return About(canvas.wrapped(row["question"]), f"<b>{literal(row['question'])}</b>", [words])


def fields(frame: pd.DataFrame) -> go.Figure:
    """Draw one square per template field and model.

    Args:
        frame: A table of `fields_frame`.
    """
    if frame.empty:
        return canvas.empty("No verified fields yet: they appear when answers are checked by a template with fields.")
    shown, total = hardest(field_numbers(frame), ["question_id", "field"], MOST_ROWS)
    one_question = shown["question_id"].nunique() == 1
    return grid(shown, ["question_id", "field"], "field", total, lambda row: _about_field(row, one_question))


def field_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the squares, see `statistics.field_rates`."""
    return field_rates(frame, ["question_id", "question", "field", "answering_model", *_judge(frame)])


def _about_field(row: Row, one_question: bool) -> About:
    field, question = literal(row["field"], 30), canvas.wrapped(row["question"], lines=1)
    words = [f"none of {counted(row['n'], 'answer')} decided"]
    if row["evaluated"]:
        others = {"wrong": "wrong", "not_found": "not found in the response", "undecided": "not decided"}
        words = [f"{row['right']} of {row['evaluated']} right (95 % interval {interval(row['low'], row['high'])})"]
        words += [f"{row[name]} {meaning}" for name, meaning in others.items() if row[name]]
    return About(field if one_question else f"{field}<br>{question}", f"<b>{field}</b> of {question}", words)
