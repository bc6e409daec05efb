"""Charts of the Results page, and the way from a mark to the answers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import FIGURES, frame_to_csv, rows_behind, same_place
from pages.components.headings import headings
from pages.components.results import chart_width
from pages.components.results import data as results_data
from pages.components.results import filters as results_filters
from pages.components.results import table as results_table
from pages.components.results.data import Frames
from pages.components.results.filters import Scope
from pages.components.text import legible

if TYPE_CHECKING:
    import plotly.graph_objects as go

VIEWS: dict[str, tuple[str, ...]] = {
    "Pass rate": ("pass_rate",),
    "By field": ("fields",),
    "By question": ("questions",),
    "By keyword": ("keywords",),
    "Traits": ("trait_scores", "trait_shares", "trait_labels", "trait_redundancy"),
    "Metric traits": ("metrics", "precision_recall"),
    "Cost and time": ("cost_quality", "latency"),
    "Question quality": ("items",),
}
"""By view its figures; only those of the open view are drawn."""
_KINDS = {
    "trait_scores": ("llm_score",),
    "trait_shares": ("llm_binary", "regex"),
    "trait_labels": ("llm_literal",),
    "trait_redundancy": ("llm_score", "llm_binary", "regex"),
    "metrics": ("metric",),
    "precision_recall": ("metric",),
}
_AT_ONCE = 2
"""So many figures of a view are drawn; further ones are folded up, and cost nothing until they are opened."""
_MOST_ROWS = 1_000
_TALL = 760
_NARROW = 320  # pixels that a figure has on the screen of a telephone


def show(data: Frames, scope: Scope) -> None:
    """Draw the view that is chosen in the link."""
    view = st.segmented_control(
        "Chart",
        list(VIEWS),
        default="Pass rate",
        required=True,
        key="view",
        bind="query-params",
        label_visibility="collapsed",
    )
    names = VIEWS[view or "Pass rate"]
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
            _drawn(data.run_id, data.revision, Scope(), name)


def _figure(data: Frames, scope: Scope, name: str) -> None:
    figure = _drawn(data.run_id, data.revision, scope, name)
    if figure.data:
        _clickable(data, scope, name, figure)
    else:
        st.caption(figure.layout.annotations[0].text)
    if figure.data or name not in _KINDS:
        with st.expander("The numbers as a table", on_change="rerun", key=f"numbers_{name}") as numbers:
            if numbers.open:
                _numbers(data, scope, name)


def _clickable(data: Frames, scope: Scope, name: str, figure: go.Figure) -> None:
    spec = FIGURES[name]
    key = f"figure_{name}_{data.run_id}"
    height, wide = figure.layout.height or 0, figure.layout.width
    least = int(wide or (figure.layout.meta or {}).get("least_width", 0))
    boxed = height > _TALL or least > _NARROW
    if boxed:
        chart_width.legend(figure)
    # The page stays short and fits the screen; what is tall or wide scrolls by itself.
    with st.container(height=min(height + 40, _TALL) if boxed else "content", border=boxed):
        if least > _NARROW:
            chart_width.keep(key, least)
        event: Any = st.plotly_chart(
            figure,
            width=int(wide) if wide else "stretch",
            key=key,
            on_select=lambda: _clicked(key),
            selection_mode="points",
            config={"displaylogo": False, "modeBarButtons": [["toImage"]]},
            alt=spec.question,
        )
    st.caption(spec.reading)
    points = event["selection"]["points"]
    if points and points[0].get("customdata"):
        _behind(data, scope, name, points[0]["customdata"], key)


def _numbers(data: Frames, scope: Scope, name: str) -> None:
    table = _counted(data.run_id, data.revision, scope, name)
    if len(table) > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} of {len(table):,} rows; the download holds all of them.")
    st.dataframe(
        legible(table.head(_MOST_ROWS)),
        hide_index=True,
        alt=f"Data of: {FIGURES[name].question}",
        column_config=headings(table),
    )
    with st.container(horizontal=True):
        for label, made, ending in (
            ("These numbers as CSV", lambda: table, "numbers"),
            ("The rows behind them as CSV", lambda: _table(data, scope, name), "rows"),
        ):
            st.download_button(
                label,
                lambda made=made: frame_to_csv(made()),  # type: ignore[misc]
                file_name=f"{name}-{ending}-{data.run_id}.csv",
                mime="text/csv",
                key=f"download_{ending}_{name}",
                icon=":material/download:",
                on_click="ignore",
            )


def _clicked(key: str) -> None:
    """Note that a mark was clicked just now, rather than some time ago."""
    st.session_state["_clicked_figure"] = key


def _behind(data: Frames, scope: Scope, name: str, click: list[Any], key: str) -> None:
    """List the answers behind a mark; a single one opens at once."""
    results = results_filters.shown(data, scope)
    behind = rows_behind(_table(data, scope, name), click)["result_id"]
    rows = results[results["result_id"].isin(behind)]
    fresh = st.session_state.pop("_clicked_figure", None) == key
    if fresh and len(rows) == 1:
        # A list of one leads nowhere: from there one walks through what all models say in the same place.
        alike = rows_behind(_table(data, scope, name), same_place(click))["result_id"]
        around = results[results["result_id"].isin(alike)]
        results_table.open_answer(data.run_id, str(rows["result_id"].iloc[0]), list(around["result_id"]))
    results_table.behind(data.run_id, rows, f"behind_{name}")


def _table(data: Frames, scope: Scope, name: str) -> pd.DataFrame:
    """Return the rows that a figure is drawn from."""
    results = results_filters.shown(data, scope)
    kind = FIGURES[name].frame
    if kind == "results":
        return results
    table = data.fields if kind == "fields" else results_data.traits_of_kind(data, _KINDS[name])
    return results_filters.alike(table, results, scope)


@st.cache_resource(show_spinner=False, max_entries=40)
def _drawn(run_id: str, revision: str, scope: Scope, name: str) -> go.Figure:
    return FIGURES[name].draw(_table(Frames(run_id, revision), scope, name))


@st.cache_resource(show_spinner=False, max_entries=10)
def _counted(run_id: str, revision: str, scope: Scope, name: str) -> pd.DataFrame:
    return FIGURES[name].numbers(_table(Frames(run_id, revision), scope, name))
