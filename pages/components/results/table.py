"""The evaluations of a run as a list, a page at a time, and the way from a row to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from karenina_core.analysis import VIEWS
from karenina_core.schemas import CAUSE_WORDS, Annotation, causes, latest_reviews
from karenina_core.text import counted
from pages.components import export, services, state
from pages.components.answer import drawer as answer_drawer
from pages.components.answer import list as answer_list
from pages.components.results import filters as results_filters
from pages.components.results.data import Frames
from pages.components.results.filters import Scope
from pages.components.text import short

PAGE = 100
VERDICTS = {"pass": "✓ pass", "fail": "✗ fail", "not_evaluated": "– not evaluated"}
_ORDERS: dict[str, tuple[str, bool]] = {
    "as in the run": ("", True),
    "lowest score first": ("granular", True),
    "slowest first": ("seconds", False),
    "most expensive first": ("cost", False),
}
_WHOLE = (
    " Score n/a: the template decides on the answer as a whole, or a field could not be decided, "
    "so there is no share of right fields."
)


def draw(data: Frames, results: pd.DataFrame, scope: Scope) -> None:
    """Draw quick views, the list and its downloads.

    Args:
        data: The run.
        results: The evaluations that the filters keep.
        scope: The filters.
    """
    reviews = latest_reviews(services.store().annotations.all(data.run_id))
    disputed = tuple(sorted(name for name, review in reviews.items() if not review.agrees))
    counts = _counts(data.run_id, data.revision, scope, disputed)
    view = _quick_views(counts)
    listed = results[VIEWS[view].rows(_disputed(results, disputed))]
    every = len(data.results)
    left_out = int((listed["verdict"] == "not_evaluated").sum())
    note = f", {left_out:,} not evaluated" if left_out else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{len(listed):,} of {counted(every, 'evaluation')} shown{note}: {VIEWS[view].meaning}", width="stretch"
        )
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
    event = st.dataframe(
        _cells(page, reviews or {}),
        key=name,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        alt=alt,
        height="content" if len(page) < 12 else 460,
        column_config=_COLUMNS,
    )
    whole = page["granular"].isna() & (page["verdict"] != "not_evaluated")
    told = f"Tick a row to open its answer.{_WHOLE if whole.any() else ''}"
    st.caption(told, help="With the keyboard: choose a row with the arrows, and tick it with Shift + Space.")
    picked, before = event.selection.rows, st.session_state.get(f"_{name}", [])
    st.session_state[f"_{name}"] = picked
    if picked and picked != before:  # a row stays ticked when the page is drawn again, and must not open again
        open_answer(run_id, ids[picked[0]], list(results["result_id"]))


def open_answer(run_id: str, result_id: str, among: Sequence[str]) -> None:
    """Open an answer beside the page.

    Args:
        run_id: The run.
        result_id: The evaluation.
        among: The evaluations of the list it stands in: the Answer page walks through them in this order.
    """
    answer_list.remember(run_id, among)
    answer_drawer.open_drawer(run_id, result_id)


def _quick_views(counts: Mapping[str, int]) -> str:
    """Draw the quick views that have anything to show; the choice is kept in the link, without the numbers."""
    wanted = st.query_params.get("show", "all")
    chosen = wanted if wanted in VIEWS else "all"
    st.session_state["show"] = chosen
    st.segmented_control(
        "Evaluations by outcome",
        [name for name in VIEWS if counts[name] or name in ("all", "failures", "passes", chosen)],
        required=True,
        format_func=lambda name: f"{VIEWS[name].label} {counts[name]:,}",
        key="show",
        on_change=lambda: state.choose("show", st.session_state["show"]),
        help="Every number counts evaluations: one model's answer to one question, read by one judge.",
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
        "Score": [
            f"{share:.2f}" if share == share else "" if verdict == "not_evaluated" else "n/a"
            for share, verdict in zip(page["granular"], page["verdict"], strict=True)
        ],
        "Time": page["seconds"].map(lambda seconds: f"{seconds:.1f} s"),
        "Reason": page["failure_category"].astype(object).map(_why),
    }
    if reviews:
        shown["Review"] = page["result_id"].map(lambda name: _review(reviews.get(name)))
    # What is the same everywhere tells nothing.
    same = {
        "Judge": page["parsing_model"].nunique() == 1,
        "Repeat": bool((page["replicate"] == 1).all()),
        "Time": bool((page["seconds"] < 0.05).all()),
        "Reason": bool(page["failure_category"].isna().all()),
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
    "Verdict": st.column_config.TextColumn(width=130, help="⚑ marks an answer that seems to address its judge."),
    "Question": st.column_config.TextColumn(width=320),
    "Reason": st.column_config.TextColumn(help="Why it was not evaluated."),
    "Score": st.column_config.TextColumn(
        help="The weighted share of fields that are right, 0 to 1; n/a where the template decides on the answer as a "
        "whole, or where a field could not be decided."
    ),
    "Time": st.column_config.TextColumn(help="The whole evaluation: answer, judge and rules."),
    "Review": st.column_config.TextColumn(help="What a person said last; it never changes the verdict."),
}
