"""Which questions do the models get right?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.figures.squares import Square, grid, hardest, state_of
from karenina_core.analysis.groups import keys
from karenina_core.analysis.statistics import pass_rate
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

MOST_COLUMNS = 12
"""Up to this many columns, every repetition has one of its own."""


def questions(frame: pd.DataFrame, replicates: bool | None = None) -> go.Figure:
    """Draw one square per question and model.

    Args:
        frame: A table of `results_frame`.
        replicates: Whether every repetition has its own column; decided by their number when not given.
    """
    if frame.empty:
        return canvas.empty("No results yet: start a run to see them question by question.")
    shown = hardest(frame, ["question_id"], frame["verdict"] == "pass", frame["verdict"] != "not_evaluated")
    rows = question_numbers(shown.frame, replicates).to_dict("records")
    return grid([_square(row) for row in rows], "question", shown.total)


def question_numbers(frame: pd.DataFrame, replicates: bool | None = None) -> pd.DataFrame:
    """Return the rates behind the squares, see `statistics.pass_rate`."""
    import numpy as np

    columns = ["answering_model"]
    if frame["parsing_model"].nunique() > 1:
        columns.append("parsing_model")
    repeated = frame["replicate"].nunique() > 1
    if replicates is None:
        replicates = len(frame[[*columns, "replicate"]].drop_duplicates()) <= MOST_COLUMNS
    if repeated and replicates:
        columns.append("replicate")
    # Columns in the order of their models, not in the order in which answers came in.
    order = [_first_seen(frame, name) for name in ("question_id", *columns)]
    in_order = frame.iloc[np.lexsort(order[::-1])]
    return pass_rate(in_order, ["question_id", "question", *columns])


def _first_seen(frame: pd.DataFrame, name: str) -> Any:
    return frame[name].to_numpy() if name == "replicate" else keys(frame, [name]).codes


def _square(row: dict[Any, Any]) -> Square:
    state, text = state_of(row["passed"], row["evaluated"])
    model, judge, replicate = row["answering_model"], row.get("parsing_model"), row.get("replicate")
    label = "<br>".join(_parts(model, judge, replicate))
    question = canvas.literal(row["question"])
    return Square(
        row=row["question_id"],
        row_label=canvas.wrapped(row["question"]),
        column=f"{model}\n{judge}\n{replicate}",
        column_label=label,
        state=state,
        text=text,
        hover=f"<b>{question}</b><br>{label}<br>{_words(row)}",
        click=place(model, judge, row["question_id"], replicate),
    )


def _parts(model: str, judge: str | None, replicate: int | None) -> list[str]:
    names = [canvas.literal(name, 30) for name in (model, judge) if name]
    return [*names, f"#{replicate}"] if replicate else names


def _words(row: dict[Any, Any]) -> str:
    if row["n"] == 1:
        return "right" if row["passed"] else "wrong" if row["evaluated"] else "not evaluated"
    left_out = f", {row['not_evaluated']} not evaluated" if row["not_evaluated"] else ""
    return f"{row['passed']} of {counted(row['evaluated'], 'answer')} right{left_out}"
