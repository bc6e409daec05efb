"""The pieces that screens are made of: a card, a table to choose from, a download, and keys of widgets.

A widget keeps what it shows as long as its key stays; where it is to begin anew, it gets another key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_NUMBER = "_widget_number"
ROW_HEIGHT = 35  # pixels of a row of a table


def fingerprint(text: str, digits: int = 16) -> str:
    """Return the first hexadecimal digits of a text's hash; equal texts have the same, others practically never.

    Args:
        text: Any text, also one that no file could hold.
        digits: At most 64.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def next_number() -> int:
    """Return a number that this session has not had before."""
    number = int(st.session_state.get(_NUMBER, 0)) + 1
    st.session_state[_NUMBER] = number
    return number


def card(name: str, about: str, remark: str = "") -> DeltaGenerator:
    """Draw a framed entry of a list and return the place of its buttons, which is below the name on a narrow page.

    Args:
        name: As Markdown; foreign parts through `plain`.
        about: The caption, likewise.
        remark: What has just been learned about it, likewise; blank for nothing.
    """
    with st.container(border=True):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(name, width="content")
            buttons = st.container(horizontal=True, width="content")
        st.caption(about)
        if remark:
            st.markdown(remark)
    return buttons


def download(label: str, content: Callable[[], bytes | str], file_name: str, mime: str, **look: Any) -> None:
    """Draw a download button; the file is made when somebody asks for it, and the page stays as it is.

    Args:
        label: Of the button.
        content: Returns the file.
        file_name: Its name.
        mime: Its media type.
        look: Further arguments of the button.
    """
    look.setdefault("icon", ":material/download:")
    st.download_button(label, content, file_name=file_name, mime=mime, on_click="ignore", **look)


def select_row(
    rows: Any, key: str, *, alt: str, most: int = 12, columns: Mapping[str, Any] | None = None, marked: Any = None
) -> int | None:
    """Draw a table and return the place of the row that is ticked.

    Args:
        rows: A data frame, or the cells of every row; foreign text through `short`.
        key: Of the table.
        alt: Name of the table for people who cannot see it.
        most: Rows shown before the table scrolls.
        columns: Column configuration.
        marked: The row that is ticked at first.
    """
    event: Any = st.dataframe(
        rows,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [] if marked is None else [marked]}},
        key=key,
        alt=alt,
        height="content" if len(rows) <= most else most * ROW_HEIGHT,
        column_config=dict(columns or {}),
    )
    ticked = event["selection"]["rows"]
    return int(ticked[0]) if ticked else None


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
    """Draw a table from which one row is chosen, and return the row's id.

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
    key = f"{name}_{turn}_{fingerprint('/'.join(ids))}"
    place = ids.index(chosen) if chosen in ids else None
    row = select_row(list(rows), key, alt=alt, most=most, columns=columns, marked=place)
    chosen = chosen if row is None else ids[row]
    st.session_state[f"_{name}"] = (chosen, turn)
    return chosen
