"""The outcome of a run in numbers and sentences, its evaluations as a list, and the way from a row to its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import FORMATS, VIEWS, interval, pass_rate, percent, rate_sentences
from karenina_core.runs import Progress, RunRow, spent_in_words
from karenina_core.schemas import CAUSE_WORDS, Annotation, VerificationResultSet, failure_in_words, latest_reviews
from karenina_core.text import counted
from pages.components import forms, frame, services, state
from pages.components.answer import drawer as answer_drawer
from pages.components.results import data as results_data
from pages.components.results.data import VERDICTS, Frames, Scope
from pages.components.text import plain, short, unbroken
from pages.components.widgets import download, select_row

PAGE = 100
_MOST_MODELS = 5
_NOTICEABLE = 0.05  # seconds; recordings are read in less
_LOOKS = 5  # seconds between two looks at a run under way
_PLAIN: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off"}


def unfinished(data: Frames) -> None:
    """Say of a run that has not ended how much of it is counted here, and offer what has come since."""
    run, here = services.store().runs.get(data.run_id), len(data.results)
    if here >= run.total:
        return
    done = f"{here:,} of {run.total:,} evaluations are done and counted here. {_standing(run)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/warning: {done}", width="content")
        frame.link_button("Open the monitor", frame.MONITOR, "results_monitor", run=run.id)
    if run.active:  # what is being read or filtered stays until somebody asks for more
        frame.part(more, _LOOKS)(data.run_id, here)


def more(run_id: str, here: int) -> None:
    """Offer to show what has come since the page was drawn; reads one row.

    Args:
        run_id: A run that was under way then.
        here: How many of its results the page shows.
    """
    run = services.store().runs.get(run_id)
    new = run.done - here
    if new <= 0 and run.active:
        return
    ended = "" if run.active else f" {_standing(run)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{counted(max(new, 0), 'more result')} since this page was opened.{ended}", width="content")
        if st.button("Show them" if new > 0 else "Look again", icon=":material/refresh:", key="refresh"):
            results_data.refresh(run_id)
            st.rerun(scope="app")


def _standing(run: RunRow) -> str:
    if run.status == "running":
        return "The run goes on."
    waits = "" if run.status == "queued" else "is "
    return f"The run {waits}{plain(run.state.rstrip('.'), 120)}."


def totals(data: Frames, scope: Scope) -> None:
    """Draw the numbers of what the filters keep."""
    row, run = _totals(data, scope), services.store().runs.get(data.run_id)
    rate = percent(row["rate"]) if row["evaluated"] else "–"
    with st.container(horizontal=True):
        about = "Right among the evaluated answers, with its 95 % interval. Others do not count."
        st.metric("Pass rate", rate, delta=_spread(row), help=about, **_PLAIN)
        for label, count in (("Evaluations", "n"), ("Pass", "passed"), ("Fail", "failed")):
            st.metric(label, f"{row[count]:,}")
        errors = f"of these {counted(int(row['errors']), 'error')}" if row["errors"] else None
        st.metric("Not evaluated", f"{row['not_evaluated']:,}", delta=errors, **_PLAIN)
        if row["seconds"] >= _NOTICEABLE:
            about = "Of a whole evaluation, judge and rules included. Replies that were known already take no time."
            st.metric("Median time", f"{row['seconds']:.1f} s", help=about)
        spent(run)


def spent(run: RunRow | Progress, limit: str | None = None) -> None:
    """Draw what a run has cost."""
    store = services.store()
    config = store.runs.get(run.run_id).config if isinstance(run, Progress) else run.config
    words = spent_in_words(run.cost, config, store.settings.prices(), run.calls - run.cached_calls)
    about = "What all model calls of the run cost, as far as their prices are known. Known replies cost nothing."
    st.metric("Spend", words, delta=limit, help=about, **_PLAIN)


def _spread(row: Mapping[str, float]) -> str | None:
    if not row["evaluated"]:
        return None
    few = ", too few to tell" if row["few"] else ""
    return f"{interval(row['low'], row['high'])}, n = {row['evaluated']:,}{few}"


@st.cache_data(show_spinner=False, max_entries=50)
def _totals(data: Frames, scope: Scope) -> dict[str, float]:
    results = results_data.shown(data, scope)
    if results.empty:
        counts = ("n", "passed", "failed", "evaluated", "not_evaluated", "errors", "seconds")
        return {**dict.fromkeys(counts, 0), "rate": math.nan}
    [row] = pass_rate(results, []).to_dict("records")
    return {**{str(name): value for name, value in row.items()}, "seconds": float(results["seconds"].median())}


def sentences(data: Frames, scope: Scope) -> None:
    """Draw the same in words; where there are many models, the first figure says it."""
    lines = _headlines(data, scope)
    if len(lines) <= _MOST_MODELS:
        st.markdown(unbroken("\n".join(f"- {plain(line)}" for line in lines)))
    for line in data.sentences.judges:
        st.caption(f":material/info: {plain(line)}")
    if data.sentences.left_out and not scope.narrow:
        with st.expander("Not evaluated: why"):
            st.markdown("\n".join(f"- {plain(line)}" for line in data.sentences.left_out))


@st.cache_data(show_spinner=False, max_entries=50)
def _headlines(data: Frames, scope: Scope) -> list[str]:
    results = results_data.shown(data, scope)
    return [] if results.empty else rate_sentences(results)


# The list

_ORDERS: dict[str, tuple[str, bool]] = {
    "as in the run": ("", True),
    "lowest score first": ("granular", True),
    "slowest first": ("seconds", False),
    "most expensive first": ("cost", False),
}
_WHOLE = "the template decides on the answer as a whole, or a field could not be decided."
_NO_SCORE = {"pass": "n/a", "fail": "n/a", "not_evaluated": ""}
_COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=130, help="⚑ marks an answer that seems to address its judge."),
    "Question": st.column_config.TextColumn(width=320),
    "Reason": st.column_config.TextColumn(help="Why it was not evaluated."),
    "Score": st.column_config.TextColumn(help=f"The weighted share of fields that are right, 0 to 1; n/a: {_WHOLE}"),
    "Time": st.column_config.TextColumn(help="The whole evaluation: answer, judge and rules."),
    "Review": st.column_config.TextColumn(help="What a person said last; it never changes the verdict."),
}


def listed(data: Frames, results: pd.DataFrame, scope: Scope) -> None:
    """Draw quick views, the list and its downloads.

    Args:
        data: The run.
        results: The evaluations that the filters keep.
        scope: The filters.
    """
    reviews = latest_reviews(services.store().annotations.all(data.run_id))
    disputed = tuple(sorted(name for name, review in reviews.items() if not review.agrees))
    view = _quick_views(_counts(data, scope, disputed))
    table = results[VIEWS[view].rows(_disputed(results, disputed))]
    every, left_out = len(data.results), int((table["verdict"] == "not_evaluated").sum())
    note = f", {left_out:,} not evaluated" if left_out else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        held = f"{len(table):,} of {counted(every, 'evaluation')} shown{note}"
        st.caption(f"{held}: {VIEWS[view].meaning}", width="stretch")
        look: Any = {"bind": "query-params", "width": 220, "label_visibility": "collapsed"}
        order = st.selectbox("Order", list(_ORDERS), key="order", **look)
    if table.empty:
        forms.button("Clear filters", "filter_alt_off", "clear_filters", on_click=results_data.clear_scope)
        return
    column, ascending = _ORDERS[order]
    table = table.sort_values(column, ascending=ascending, kind="stable") if column else table
    rows(data.run_id, table, "table", "All evaluations of this run", reviews)
    _exports(data.run_id, table, every)


def _quick_views(counts: Mapping[str, int]) -> str:
    """Draw the quick views that have anything to show; the choice is kept in the link, without the numbers."""
    wanted = st.query_params.get("show", "all")
    chosen = wanted if wanted in VIEWS else "all"
    st.session_state["show"] = chosen
    always = ("all", "failures", "passes", chosen)
    titles = {name: f"{view.label} {counts[name]:,}" for name, view in VIEWS.items() if counts[name] or name in always}
    look: Any = {"required": True, "format_func": titles.__getitem__, "key": "show"}
    look["on_change"] = lambda: state.choose("show", st.session_state["show"])
    about = "Every number counts evaluations: one model's answer to one question, read by one judge."
    st.segmented_control("Evaluations by outcome", list(titles), help=about, **look)
    return chosen


@st.cache_data(show_spinner=False, max_entries=50)
def _counts(data: Frames, scope: Scope, disputed: tuple[str, ...]) -> dict[str, int]:
    results = _disputed(results_data.shown(data, scope), disputed)
    return {name: int(view.rows(results).sum()) for name, view in VIEWS.items()}


def _disputed(results: pd.DataFrame, disputed: Sequence[str]) -> pd.DataFrame:
    return results.assign(disputed=results["result_id"].isin(list(disputed))) if disputed else results


def rows(
    run_id: str, results: pd.DataFrame, key: str, alt: str, reviews: Mapping[str, Annotation] | None = None
) -> None:
    """Draw evaluations; a row that is chosen opens as a drawer, from which one walks on through all of them.

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
    ticked = select_row(_cells(page, reviews or {}), name, alt=alt, columns=_COLUMNS)
    whole = page["granular"].isna() & (page["verdict"] != "not_evaluated")
    st.caption(
        f"Tick a row to open its answer.{f' Score n/a: {_WHOLE}' if whole.any() else ''}",
        help="With the keyboard: choose a row with the arrows, and tick it with Shift + Space.",
    )
    before, st.session_state[f"_{name}"] = st.session_state.get(f"_{name}"), ticked
    if ticked is not None and ticked != before:  # a row stays ticked when the page is drawn again
        answer_drawer.open_drawer(run_id, ids[ticked], list(results["result_id"]))


def behind(run_id: str, results: pd.DataFrame, key: str) -> None:
    """List the evaluations behind a mark that was clicked."""
    with st.container(border=True):
        st.markdown(f"**{counted(len(results), 'answer')} behind this mark**")
        rows(run_id, results, key, "Answers behind the mark")


def _cells(page: pd.DataFrame, reviews: Mapping[str, Annotation]) -> pd.DataFrame:
    texts = {name: page[name].astype(object) for name in ("verdict", "question", "answering_model", "parsing_model")}
    categories = page["failure_category"].astype(object)
    shown = {
        "Verdict": texts["verdict"].map(VERDICTS) + page["flagged"].map({True: " ⚑", False: ""}),
        "Question": texts["question"].map(short),
        "Model": texts["answering_model"].map(short),
        "Judge": texts["parsing_model"].map(short),
        "Repeat": page["replicate"],
        "Score": page["granular"].map("{:.2f}".format).where(page["granular"].notna(), texts["verdict"].map(_NO_SCORE)),
        "Time": page["seconds"].map("{:.1f} s".format),
        "Reason": categories.map(lambda name: failure_in_words(name) if isinstance(name, str) else ""),
    }
    if reviews:
        shown["Review"] = page["result_id"].map(lambda name: _review(reviews.get(name)))
    # What is the same everywhere tells nothing.
    same = {
        "Judge": page["parsing_model"].nunique() == 1,
        "Repeat": bool((page["replicate"] == 1).all()),
        "Time": bool((page["seconds"] < _NOTICEABLE).all()),
        "Reason": bool(categories.isna().all()),
    }
    return pd.DataFrame({name: cells for name, cells in shown.items() if not same.get(name)})


def _review(review: Annotation | None) -> str:
    if review is None:
        return ""
    stance = "agrees" if review.agrees else "disagrees"
    return f"{stance}: {CAUSE_WORDS[review.cause].lower()}" if review.cause else stance


def _exports(run_id: str, table: pd.DataFrame, every: int) -> None:
    """Offer what is listed as CSV, Excel and JSON."""
    from karenina_core.analysis import to_csv, to_json, to_xlsx

    runs, annotations = services.store().runs, services.store().annotations
    ids = None if len(table) == every else list(table["result_id"])
    makers: dict[str, Callable[[VerificationResultSet], bytes]] = {
        "csv": lambda results: to_csv(results, annotations.all(run_id)),
        "xlsx": lambda results: to_xlsx(results, annotations.all(run_id)),
        "json": lambda results: to_json(results, runs.get(run_id).config, annotations.all(run_id, undone=None)),
    }

    def content(name: str) -> bytes:
        return makers[name](VerificationResultSet(results_data.stored(run_id, ids), run_id))

    which = f"{'all' if ids is None else 'these'} {len(table):,}"
    with st.container(horizontal=True):
        for name in makers:
            kind = FORMATS[name]
            download(f"{kind.label}, {which}", partial(content, name), f"results-{run_id}.{kind.ending}", kind.mime)
