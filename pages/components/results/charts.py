"""Charts of the Results page, and the way from a mark to the answers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import FIGURES, rows_behind, same_place
from pages.components import figure as page_figure
from pages.components import forms
from pages.components.answer import drawer as answer_drawer
from pages.components.results import data as results_data
from pages.components.results import table as results_table
from pages.components.results.data import Frames, Scope

if TYPE_CHECKING:
    import plotly.graph_objects as go

# By view its figures; only those of the open view are drawn.
VIEWS: dict[str, list[str]] = {}
for _name, _spec in FIGURES.items():
    VIEWS.setdefault(_spec.view, []).append(_name)
_AT_ONCE = 2
"""So many figures of a view are drawn; further ones are folded up, and cost nothing until they are opened."""
_CLICKED = "_clicked_figure"


def show(data: Frames, scope: Scope) -> None:
    """Draw the view that is chosen in the link."""
    names = VIEWS[forms.segments("Chart", {name: name for name in VIEWS}, "view", bind="query-params")]
    for name in names[:_AT_ONCE]:
        st.markdown(f"**{FIGURES[name].question}**")
        _figure(data, scope, name)
    for name in names[_AT_ONCE:]:
        with st.expander(FIGURES[name].question, on_change="rerun", key=f"more_{name}") as more:
            if more.open:
                _figure(data, scope, name)


def prepare(data: Frames) -> None:
    """Draw what the other views show at once when nothing is filtered, so that it is there when somebody looks."""
    for names in VIEWS.values():
        for name in names[:_AT_ONCE]:
            _drawn(data, Scope(), name)


def _figure(data: Frames, scope: Scope, name: str) -> None:
    figure, spec = _drawn(data, scope, name), FIGURES[name]
    if figure.data:
        key = f"figure_{name}_{data.run_id}"
        mark = page_figure.chart(figure, key, spec.question, on_select=lambda: _note(key))
        st.caption(spec.reading)
        if mark:
            _behind(data, scope, name, mark, key)
    else:
        st.caption(figure.layout.annotations[0].text)
    if figure.data or not spec.kinds:
        counts, rows = lambda: _counted(data, scope, name), lambda: _table(data, scope, name)
        page_figure.numbers(name, spec.question, counts, f"{name}-{{}}-{data.run_id}.csv", rows)


def _note(key: str) -> None:
    """Note that a mark was clicked just now, rather than some time ago."""
    st.session_state[_CLICKED] = key


def _behind(data: Frames, scope: Scope, name: str, mark: list[Any], key: str) -> None:
    """List the answers behind a mark; a single one opens at once."""
    results, table = results_data.shown(data, scope), _table(data, scope, name)
    rows = results[results["result_id"].isin(rows_behind(table, mark)["result_id"])]
    if st.session_state.pop(_CLICKED, None) == key and len(rows) == 1:
        # A list of one leads nowhere: from there one walks through what all models say in the same place.
        around = results[results["result_id"].isin(rows_behind(table, same_place(mark))["result_id"])]
        answer_drawer.open_drawer(data.run_id, str(rows["result_id"].iloc[0]), list(around["result_id"]))
    results_table.behind(data.run_id, rows, f"behind_{name}")


def _table(data: Frames, scope: Scope, name: str) -> pd.DataFrame:
    """Return the rows that a figure is drawn from."""
    results = results_data.shown(data, scope)
    kind = FIGURES[name].frame
    if kind == "results":
        return results
    table = data.fields if kind == "fields" else results_data.traits_of_kind(data, FIGURES[name].kinds)
    return results_data.alike(table, results, scope)


@st.cache_resource(show_spinner=False, max_entries=40)
def _drawn(data: Frames, scope: Scope, name: str) -> go.Figure:
    return FIGURES[name].draw(_table(data, scope, name))


@st.cache_resource(show_spinner=False, max_entries=10)
def _counted(data: Frames, scope: Scope, name: str) -> pd.DataFrame:
    return FIGURES[name].numbers(_table(data, scope, name))
