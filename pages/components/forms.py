"""Form pieces that several screens share: buttons, choices, lists with quick views and a search, tables to read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from karenina_core.text import counted
from pages.components import state
from pages.components.widgets import ROW_HEIGHT, pick

T = TypeVar("T")
# Sign in a table, colour, icon and word of a severity; colour is never the only sign.
SEVERITIES = {
    "error": ("✗", "red", "error", "error"),
    "warning": ("!", "orange", "warning", "warning"),
    "hint": ("·", "blue", "lightbulb", "hint"),
    "info": ("i", "gray", "info", "note"),
}


def button(label: str, icon: str, key: str, **options: Any) -> bool:
    """Draw a button with a Material icon; return whether it was pressed."""
    return st.button(label, icon=f":material/{icon}:", key=key, **options)


def segments(label: str, names: Mapping[str, str], key: str, *, shown: bool = False, **options: Any) -> str:
    """Draw a choice of one of a few, the first to begin with; return the name of the chosen one.

    Args:
        label: For people who cannot see it, or for all where it is `shown`.
        names: What each is called.
        key: Of the widget.
        shown: Whether the label is written above it.
        **options: Further arguments of `st.segmented_control`.
    """
    chosen = st.segmented_control(
        label,
        list(names),
        format_func=lambda name: names[name],
        default=next(iter(names)),
        required=True,
        key=key,
        label_visibility="visible" if shown else "collapsed",
        **options,
    )
    return str(chosen or next(iter(names)))


def select(label: str, names: Mapping[T, str], key: str, *, chosen: T | None = None, **options: Any) -> T:
    """Draw a choice of one of many, the first or `chosen` to begin with; return the chosen one."""
    values: list[Any] = list(names)
    at = values.index(chosen) if chosen in names else 0
    picked: T = st.selectbox(label, values, index=at, format_func=names.__getitem__, key=key, **options)
    return picked


def refuse_lost(name: str, valid: Container[str], what: str) -> None:
    """Say it where a link names something that does not exist, offer another, and draw nothing else.

    Args:
        name: Of the parameter in the link.
        valid: The ids that exist.
        what: What the parameter names, such as `run`.
    """
    if state.is_lost(name, valid):
        why = "It was deleted, or belongs to another workspace."
        st.warning(why, title=f"The {what} in this link does not exist", icon=":material/link_off:")
        if button(f"Show another {what}", "arrow_forward", f"{name}_instead"):
            state.choose(name, None)
            st.rerun()
        st.stop()


def linked(
    name: str, label: str, names: Mapping[str, str], *, few: bool = False, what: str = "", **options: Any
) -> str | None:
    """Draw a choice that the link holds and the session remembers; return it, None where there is nothing to choose.

    Args:
        name: Of the parameter in the link.
        label: Of the widget.
        names: What each option is called.
        few: Whether all options are shown side by side.
        what: What is chosen, such as `run`, where a link to one that does not exist must not show another.
        **options: Further arguments of the widget.
    """
    if names and what:
        refuse_lost(name, names, what)
    chosen, key = state.selected(name, names), f"{name}_choice"
    if chosen is None:
        return None
    st.session_state[key] = chosen
    options |= {"key": key, "on_change": lambda: state.choose(name, st.session_state[key])}
    if few:
        st.segmented_control(label, list(names), format_func=names.__getitem__, required=True, **options)
    else:
        st.selectbox(label, list(names), format_func=names.__getitem__, **options)
    return chosen


def search(key: str, placeholder: str, **options: Any) -> str:
    """Draw a field that searches while one types; return what was typed."""
    options |= {"type": "search", "live": True, "label_visibility": "collapsed", "placeholder": placeholder}
    return str(st.text_input("Search", key=key, **options))


def paged(ids: Sequence[str], size: int, key: str, *, chosen: str | None = None) -> Sequence[str]:
    """Draw the choice of a page where there are several, beginning with that of `chosen`; return the ids on it."""
    pages = math.ceil(len(ids) / size)
    if pages <= 1:
        return ids
    place = ids.index(chosen) // size + 1 if chosen in ids else 1
    page = st.pagination(pages, default=place, key=f"{key}_{pages}_{chosen}")
    return ids[(page - 1) * size : page * size]


def browse(
    name: str,
    items: Mapping[str, T],
    row: Callable[[T], Mapping[str, Any]],
    *,
    alt: str,
    views: Mapping[str, Callable[[T], object]] | None = None,
    first: str | None = None,
    most: int = 12,
    columns: Mapping[str, Any] | None = None,
) -> T | None:
    """Draw a list to choose from, with quick views that say how many they hold; return the chosen item.

    Args:
        name: Begins the keys of the widgets; the choice is remembered under it.
        items: What is listed, by id.
        row: Makes the cells of an item; foreign text through `short`.
        alt: Name of the table for people who cannot see it.
        views: Title of a view → whether it holds an item.
        first: The id chosen to begin with; the first one shown when not given.
        most: Rows shown before the table scrolls.
        columns: Column configuration.

    Returns:
        None where the view is empty.
    """
    shown = viewed(name, items, views) if views else items
    if not shown:
        st.caption("Nothing is in this view.")
        return None
    candidates = (st.session_state.get(f"{name}_chosen"), first, *shown)
    chosen = next(key for key in candidates if key is not None and key in shown)
    rows = [row(item) for item in shown.values()]
    picked = pick(f"{name}_table", list(shown), rows, chosen, alt=alt, most=most, columns=columns) or chosen
    st.session_state[f"{name}_chosen"] = picked
    return shown[picked]


def viewed(name: str, items: Mapping[str, T], views: Mapping[str, Callable[[T], object]]) -> dict[str, T]:
    """Draw quick views with how many items each holds; return the items of the chosen one."""
    held = {title: {key: item for key, item in items.items() if fits(item)} for title, fits in views.items()}
    return held[segments("View", {title: f"{title} {len(found)}" for title, found in held.items()}, f"{name}_view")]


def table(
    rows: Sequence[Mapping[str, Any]], alt: str, *, most: int = 10, columns: Mapping[str, Any] | None = None
) -> None:
    """Draw a table to read; it scrolls where it has more than `most` rows."""
    height: Any = "content" if len(rows) <= most else most * ROW_HEIGHT
    st.dataframe(rows, hide_index=True, alt=alt, height=height, column_config=dict(columns or {}))


def widths(**pixels: Any) -> dict[str, Any]:
    """Return columns of text of these widths, in pixels or as Streamlit's words; `_` in a name stands for a blank."""
    return {name.replace("_", " "): st.column_config.TextColumn(width=width) for name, width in pixels.items()}


def severity_sign(severity: str) -> str:
    """Return a severity for a table cell, such as `✗ error`."""
    sign, _, _, word = SEVERITIES[severity]
    return f"{sign} {word}"


def severity_badge(severity: str) -> str:
    """Return a severity as a Markdown badge."""
    _, color, icon, word = SEVERITIES[severity]
    return f":{color}-badge[:material/{icon}: {word}]"


def severities_in_short(severities: Iterable[str]) -> str:
    """Return how many of which severity there are, the gravest first."""
    count = Counter(severities)
    return " · ".join(counted(count[name], word) for name, (*_, word) in SEVERITIES.items() if count[name])


def first_few(names: Iterable[str], most: int) -> str:
    """Return names in one line, as many as `most`, and how many more there are."""
    every = list(names)
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")
