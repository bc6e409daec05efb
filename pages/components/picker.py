"""A table from which one row is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.components.widget_keys import fingerprint

_ROW_HEIGHT = 35


def pick(
    name: str,
    ids: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    chosen: str | None,
    *,
    alt: str,
    most: int = 14,
    columns: Mapping[str, Any] | None = None,
) -> str | None:
    """Draw the table and return the id of the chosen row.

    The marked row follows `chosen` also when a link, an undo or another widget changed it.

    Args:
        name: Begins the widget's key.
        ids: The id of every row.
        rows: The cells; foreign text through `short`.
        chosen: The id chosen so far; it stays chosen while it is filtered out.
        alt: Name of the table for people who cannot see it.
        most: Rows shown before the table scrolls.
        columns: Column configuration.
    """
    marked, turn = st.session_state.get(f"_{name}", (None, 0))
    turn += marked != chosen
    event = st.dataframe(
        list(rows),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [ids.index(chosen)] if chosen in ids else []}},
        key=f"{name}_{turn}_{fingerprint('/'.join(ids))}",
        alt=alt,
        height="content" if len(ids) <= most else most * _ROW_HEIGHT,
        column_config=dict(columns or {}),
    )
    picked = event.selection.rows
    chosen = ids[picked[0]] if picked else chosen
    st.session_state[f"_{name}"] = (chosen, turn)
    return chosen
