"""From a click on a mark back to the rows behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

PLACES = ("answering_model", "parsing_model", "question_id", "replicate", "item", "label")
"""What the places of every mark's `customdata` mean; None stands for any.

`item` is a field or a trait, `label` a trait's value in words.
"""


def place(
    answering_model: str | None = None,
    parsing_model: str | None = None,
    question_id: str | None = None,
    replicate: int | None = None,
    item: str | None = None,
    label: str | None = None,
) -> list[Any]:
    """Return the `customdata` of a mark."""
    # Plain numbers only: numpy's would not survive the way to the browser and back.
    repetition = None if replicate is None else int(replicate)
    return [answering_model, parsing_model, question_id, repetition, item, label]


def rows_behind(frame: pd.DataFrame, customdata: Sequence[Any]) -> pd.DataFrame:
    """Return the rows of a table that a mark stands for.

    Args:
        frame: The table the figure was drawn from, or another with the same identity columns.
        customdata: The `customdata` of the clicked mark.
    """
    for name, wanted in zip(PLACES, customdata, strict=False):
        column = _column(frame, name)
        if wanted is not None and column is not None:
            frame = frame[frame[column] == wanted]
    return frame


def _column(frame: pd.DataFrame, name: str) -> str | None:
    candidates = ("field", "trait") if name == "item" else (name,)
    return next((candidate for candidate in candidates if candidate in frame.columns), None)
