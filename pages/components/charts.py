"""Charts and the table of the Results page, and the way from a mark to the answers behind it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis.columns import COLUMNS
from karenina_core.analysis.figures import FIGURES, rows_behind
from karenina_core.analysis.spreadsheet import frame_to_csv
from karenina_core.analysis.summary import counted
from pages.components import frame, results_data, state
from pages.components.results_data import Frames
from pages.components.text import legible, plain, short

VIEWS: dict[str, tuple[str, ...]] = {
    "Pass rate": ("pass_rate",),
    "By field": ("fields",),
    "By question": ("questions",),
    "Traits": ("trait_scores", "trait_shares", "trait_labels"),
    "Metric traits": ("metrics", "precision_recall"),
}
_VERDICTS = {"pass": "✓ pass", "fail": "✗ fail", "not_evaluated": "– not evaluated"}


def show(run_id: str, data: Frames) -> None:
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
    for name in VIEWS[view or "Pass rate"]:
        _figure(run_id, data, name)


def _table_of(data: Frames, name: str) -> pd.DataFrame:
    return {"results": data.results, "fields": data.fields, "traits": data.traits}[FIGURES[name].frame]


def _figure(run_id: str, data: Frames, name: str) -> None:
    spec = FIGURES[name]
    table = _relevant(_table_of(data, name), name)
    if name != "pass_rate" and table.empty:
        st.caption(f"{spec.question} Nothing to show in this run.")
        return
    st.markdown(f"**{spec.question}**")
    event: Any = st.plotly_chart(
        spec.draw(table),
        key=f"figure_{name}_{run_id}",
        on_select="rerun",
        selection_mode="points",
        config={"displaylogo": False, "modeBarButtons": [["toImage"]]},
        alt=spec.question,
    )
    st.caption(spec.reading)
    points = event["selection"]["points"]
    if points and points[0].get("customdata"):
        behind = set(rows_behind(table, points[0]["customdata"])["result_id"])
        _behind(run_id, data.results[data.results["result_id"].isin(behind)])
    with st.expander("The numbers as a table", on_change="rerun", key=f"numbers_{name}") as numbers:
        if numbers.open:
            st.dataframe(legible(table), hide_index=True, alt=f"Data of: {spec.question}")
            st.download_button(
                "Download as CSV",
                lambda: frame_to_csv(table),
                file_name=f"{name}-{run_id}.csv",
                mime="text/csv",
                key=f"download_{name}",
                icon=":material/download:",
                on_click="ignore",
            )


_KINDS = {
    "trait_scores": ("llm_score",),
    "trait_shares": ("llm_binary", "regex"),
    "trait_labels": ("llm_literal",),
    "metrics": ("metric",),
    "precision_recall": ("metric",),
}


def _relevant(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["kind"].isin(_KINDS[name])] if name in _KINDS else table


def _behind(run_id: str, rows: pd.DataFrame) -> None:
    """List the answers behind a clicked mark."""
    with st.container(border=True):
        st.markdown(f"**{counted(len(rows), 'answer')} behind this mark**")
        for row in rows.head(12).itertuples():
            label = f"{results_data.SIGN[str(row.verdict)]} {plain(row.question, 70)} · {plain(row.answering_model)}"
            if st.button(label, key=f"behind_{row.result_id}", icon=":material/article:"):
                state.choose("row", str(row.result_id))
                st.switch_page(frame.ANSWER, query_params={"run": run_id, "row": str(row.result_id)})
        if len(rows) > 12:
            st.caption(f"and {len(rows) - 12} more, in the table below")


def filtered(results: pd.DataFrame) -> pd.DataFrame:
    """Draw the filters, which live in the link, and return the rows they keep."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input("Search in questions", type="search", key="search", bind="query-params")
        verdict = st.selectbox(
            "Verdict",
            ["all", *_VERDICTS],
            format_func=lambda v: _VERDICTS.get(v, "all"),
            key="verdict",
            bind="query-params",
        )
        models = ["all", *sorted(results["answering_model"].unique())]
        model = st.selectbox("Model", models, format_func=short, key="model", bind="query-params")
        flagged = int(results["flagged"].sum())
        only = bool(flagged) and st.toggle(
            f"Only flagged ({flagged})", key="flagged", bind="query-params", help=COLUMNS["results"]["flagged"].meaning
        )
    if search:
        results = results[results["question"].str.contains(search, case=False, regex=False)]
    if verdict and verdict != "all":
        results = results[results["verdict"] == verdict]
    if model and model != "all":
        results = results[results["answering_model"] == model]
    return results[results["flagged"]] if only else results


def clear_filters() -> None:
    """Show every evaluation again."""
    st.session_state["search"], st.session_state["verdict"], st.session_state["model"] = "", "all", "all"
    if "flagged" in st.session_state:
        st.session_state["flagged"] = False


def table(results: pd.DataFrame) -> str | None:
    """Draw the table of evaluations and return the selected one."""
    shown = pd.DataFrame(
        {
            "Verdict": results["verdict"].map(_VERDICTS) + results["flagged"].map({True: " ⚑", False: ""}),
            "Question": results["question"].map(short),
            "Model": results["answering_model"].map(short),
            "Judge": results["parsing_model"].map(short),
            "Repeat": results["replicate"],
            "Score": results["granular"].map(lambda share: "–" if pd.isna(share) else f"{share:.2f}"),
            "Why not": results["failure_reason"].fillna("").map(lambda why: short(why, 300)),
        }
    )
    key = f"table_{hash(tuple(results['result_id']))}"
    event: Any = st.dataframe(
        shown,
        key=key,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        alt="All evaluations of this run",
        column_config={
            "Verdict": st.column_config.TextColumn(help="⚑ marks an answer that seems to address its judge."),
            "Score": st.column_config.TextColumn(
                help="The weighted share of fields that are right, 0 to 1; – where no field was decided."
            ),
        },
    )
    rows = event["selection"]["rows"]
    return str(results.iloc[rows[0]]["result_id"]) if rows else None
