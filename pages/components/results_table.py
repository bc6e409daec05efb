"""The evaluations of a run as a list, a page at a time, and the way from a row to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from karenina_core.analysis.summary import counted
from karenina_core.analysis.views import VIEWS
from karenina_core.schemas import causes
from karenina_core.schemas.annotation import CAUSE_WORDS, Annotation, latest_reviews
from pages.components import answer_drawer, export, results_filters, services, state
from pages.components.results_data import Frames
from pages.components.results_filters import Scope
from pages.components.text import short

PAGE = 100
VERDICTS = {"pass": "✓ pass", "fail": "✗ fail", "not_evaluated": "– no verdict"}
_ORDERS: dict[str, tuple[str, bool]] = {
    "as in the run": ("", True),
    "lowest score first": ("granular", True),
    "slowest first": ("seconds", False),
    "most expensive first": ("cost", False),
}
_OPENED = "_opened_answer"


def draw(data: Frames, results: pd.DataFrame, scope: Scope) -> None:
    """Draw quick views, the list and its downloads.

    Args:
        data: The run.
        results: The evaluations that the filters keep.
        scope: The filters.
    """
    reviews = latest_reviews(services.store().annotations(data.run_id))
    disputed = tuple(sorted(name for name, review in reviews.items() if not review.agrees))
    counts = _counts(data.run_id, data.revision, scope, disputed)
    view = _quick_views(counts)
    listed = results[VIEWS[view].rows(_disputed(results, disputed))]
    every = len(data.results)
    left_out = int((listed["verdict"] == "not_evaluated").sum())
    note = f", {left_out:,} without a verdict" if left_out else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{len(listed):,} of {every:,} shown{note}: {VIEWS[view].meaning}", width="stretch")
        listed = _ordered(listed)
    if listed.empty:
        st.button(
            "Clear filters", icon=":material/filter_alt_off:", key="clear_filters", on_click=results_filters.clear
        )
        return
    rows(data.run_id, listed, "table", "All evaluations of this run", reviews)
    with st.container(horizontal=True):
        export.buttons(data.run_id, len(listed), None if len(listed) == every else list(listed["result_id"]))


def rows(
    run_id: str, results: pd.DataFrame, key: str, alt: str, reviews: Mapping[str, Annotation] | None = None
) -> None:
    """Draw evaluations; a row that is chosen opens as a drawer.

    Args:
        run_id: The run.
        results: The evaluations.
        key: Begins the keys of its widgets.
        alt: Name of the list for people who cannot see it.
        reviews: What people say, by result.
    """
    page = results
    if len(results) > PAGE:
        pages = -(-len(results) // PAGE)
        number = min(st.pagination(pages, key=f"{key}_page"), pages)
        page = results.iloc[(number - 1) * PAGE : number * PAGE]
        st.caption(f"Rows {(number - 1) * PAGE + 1:,} to {(number - 1) * PAGE + len(page):,} of {len(results):,}")
    ids = list(page["result_id"])
    name = f"{key}_{hash(tuple(ids))}"
    st.dataframe(
        _cells(page, reviews or {}),
        key=name,
        hide_index=True,
        on_select=lambda: _choose(name, ids),
        selection_mode="single-row",
        alt=alt,
        height="content" if len(page) < 12 else 460,
        column_config=_COLUMNS,
    )
    st.caption("Tick a row to open its answer.")
    open_chosen(run_id)


def choose(result_id: str) -> None:
    """Let the answer be opened when the page is next drawn; for callbacks."""
    st.session_state[_OPENED] = result_id


def open_chosen(run_id: str) -> None:
    """Open the answer that was just chosen, if there is one."""
    chosen = st.session_state.pop(_OPENED, None)
    if chosen is not None:
        answer_drawer.open_drawer(run_id, chosen)


def _choose(name: str, ids: Sequence[str]) -> None:
    picked = st.session_state[name]["selection"]["rows"]
    if picked:
        choose(ids[picked[0]])


def _quick_views(counts: Mapping[str, int]) -> str:
    """Draw the quick views that have anything to show; the choice is kept in the link, without the numbers."""
    wanted = st.query_params.get("show", "all")
    chosen = wanted if wanted in VIEWS else "all"
    st.session_state["show"] = chosen
    st.segmented_control(
        "Show",
        [name for name in VIEWS if counts[name] or name in ("all", "failures", "passes", chosen)],
        required=True,
        format_func=lambda name: f"{VIEWS[name].label} {counts[name]:,}",
        key="show",
        on_change=lambda: state.choose("show", st.session_state["show"]),
        label_visibility="collapsed",
    )
    return chosen


@st.cache_data(show_spinner=False, max_entries=50)
def _counts(run_id: str, revision: str, scope: Scope, disputed: tuple[str, ...]) -> dict[str, int]:
    results = _disputed(results_filters.shown(Frames(run_id, revision), scope), disputed)
    return {name: int(view.rows(results).sum()) for name, view in VIEWS.items()}


def _disputed(results: pd.DataFrame, disputed: Sequence[str]) -> pd.DataFrame:
    return results.assign(disputed=results["result_id"].isin(list(disputed))) if disputed else results


def _ordered(results: pd.DataFrame) -> pd.DataFrame:
    order = st.selectbox(
        "Order", list(_ORDERS), key="order", bind="query-params", width=220, label_visibility="collapsed"
    )
    column, ascending = _ORDERS[order]
    return results.sort_values(column, ascending=ascending, kind="stable") if column else results


def _cells(page: pd.DataFrame, reviews: Mapping[str, Annotation]) -> pd.DataFrame:
    shown = {
        "Verdict": page["verdict"].astype(object).map(VERDICTS) + page["flagged"].map({True: " ⚑", False: ""}),
        "Question": page["question"].astype(object).map(short),
        "Model": page["answering_model"].astype(object).map(short),
        "Judge": page["parsing_model"].astype(object).map(short),
        "Repeat": page["replicate"],
        "Score": page["granular"].map(lambda share: "–" if pd.isna(share) else f"{share:.2f}"),
        "Time": page["seconds"].map(lambda seconds: f"{seconds:.1f} s"),
        "Why no verdict": page["failure_category"].astype(object).map(_why),
    }
    if reviews:
        shown["Review"] = page["result_id"].map(lambda name: _review(reviews.get(name)))
    # What is the same everywhere tells nothing.
    same = {
        "Judge": page["parsing_model"].nunique() == 1,
        "Repeat": bool((page["replicate"] == 1).all()),
        "Time": bool((page["seconds"] < 0.05).all()),
        "Why no verdict": bool(page["failure_category"].isna().all()),
    }
    return pd.DataFrame({name: cells for name, cells in shown.items() if not same.get(name)})


def _why(category: object) -> str:
    return causes.in_words(category) if isinstance(category, str) else ""


def _review(review: Annotation | None) -> str:
    if review is None:
        return ""
    said = "agrees" if review.agrees else "disagrees"
    return f"{said}: {CAUSE_WORDS[review.cause].lower()}" if review.cause else said


def behind(run_id: str, results: pd.DataFrame, key: str) -> None:
    """List the evaluations behind a mark that was clicked."""
    with st.container(border=True):
        st.markdown(f"**{counted(len(results), 'answer')} behind this mark**")
        rows(run_id, results, key, "Answers behind the mark")


_COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=110, help="⚑ marks an answer that seems to address its judge."),
    "Score": st.column_config.TextColumn(
        help="The weighted share of fields that are right, 0 to 1; – where no field was decided."
    ),
    "Time": st.column_config.TextColumn(help="The whole evaluation: answer, judge and rules."),
    "Review": st.column_config.TextColumn(help="What a person said last; it never changes the verdict."),
}
