"""The data behind the Explore pages: a run's tables, read once per state of the run, and the filters that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from karenina_core.analysis import keywords_of, narrowed
from karenina_core.errors import KareninaError
from karenina_core.schemas import NO_VERDICT, VerificationResult
from pages.components import services, state
from pages.components.text import short

WARMING = "karenina-reading"
"""Name of the thread that reads ahead."""
SIGN = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}
VERDICTS = {"pass": "✓ pass", "fail": "✗ fail", "not_evaluated": "– not evaluated"}
_LARGE = 5_000
_EXAMPLES = 20
_AT_ONCE = 500


class Sentences(NamedTuple):
    """A run in words.

    Attributes:
        headlines: One sentence per model.
        left_out: Why evaluations have no verdict.
        judges: What to keep in mind about the judges.
    """

    headlines: list[str]
    left_out: list[str]
    judges: list[str]


@dataclass(frozen=True)
class Frames:
    """The tables of one run at one state; each is read when it is first asked for, and must not be changed.

    Attributes:
        run_id: The run.
        revision: Differs whenever what is stored does.
    """

    run_id: str
    revision: str

    @property
    @st.cache_resource(show_spinner="Reading the results", max_entries=6)
    def results(self) -> pd.DataFrame:
        """One row per evaluation, see `stored_results`."""
        from karenina_core.analysis import stored_results

        return stored_results(services.store(), self.run_id)

    @property
    @st.cache_resource(show_spinner="Reading the fields", max_entries=4)
    def fields(self) -> pd.DataFrame:
        """One row per evaluation and template field."""
        from karenina_core.analysis import stored_fields

        return stored_fields(services.store(), self.run_id, self.results)

    @property
    @st.cache_resource(show_spinner="Reading the traits", max_entries=4)
    def traits(self) -> pd.DataFrame:
        """One row per evaluation and trait."""
        from karenina_core.analysis import stored_traits

        benchmark = services.store().runs.plan(self.run_id).benchmark
        return stored_traits(services.store(), self.run_id, self.results, benchmark)

    @property
    @st.cache_data(show_spinner=False, max_entries=20)
    def sentences(self) -> Sentences:
        """The run in words."""
        from karenina_core.analysis import cause_sentences, judge_sentences, rate_sentences

        results = self.results
        if results.empty:
            return Sentences([], [], [])
        left_out = results[results["verdict"] == "not_evaluated"]
        cause = left_out["failure_category"].astype("str").fillna(NO_VERDICT)
        reasons: dict[str, list[str]] = {}
        for result in stored(self.run_id, left_out.groupby(cause.to_numpy())["result_id"].head(_EXAMPLES)):
            if result.failure:
                reasons.setdefault(result.failure.category, []).append(result.failure.reason)
        judged = results[results["verdict"] != "not_evaluated"].drop_duplicates("parsing_model")["result_id"]
        own = results[results["answering_model"].astype("str") == results["parsing_model"].astype("str")]
        samples = stored(self.run_id, pd.concat([judged, own.drop_duplicates("parsing_model")["result_id"]]))
        return Sentences(
            rate_sentences(results),
            cause_sentences({str(name): int(n) for name, n in cause.value_counts().items()}, reasons),
            judge_sentences(samples),
        )


def frames(run_id: str) -> Frames:
    """Return the tables of a run as it stands now; those of a large run under way as they were when first opened."""
    run, now = services.store().runs.get(run_id), services.version(run_id)
    read, done = st.session_state.get(f"_read_{run_id}", (now, run.done))
    if not run.active or done < _LARGE:
        read, done = now, run.done
    st.session_state[f"_read_{run_id}"] = read, done
    return Frames(run_id, read)


def refresh(run_id: str) -> None:
    """Let `frames` return the tables as they stand now."""
    st.session_state.pop(f"_read_{run_id}", None)


@st.cache_resource(show_spinner=False, max_entries=12)
def traits_of_kind(data: Frames, kinds: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of the traits of some kinds."""
    return data.traits[data.traits["kind"].isin(list(kinds))]


def stored(run_id: str, result_ids: Iterable[str] | None = None) -> list[VerificationResult]:
    """Return results of a run in full: those of the ids, or all of them."""
    store = services.store()
    if result_ids is None:
        return list(store.results.all(run_id))
    ids = list(dict.fromkeys(result_ids))
    parts = (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
    return [result for part in parts for result in store.results.iterate(run_id, result_id=part)]


def warm(data: Frames, then: Callable[[Frames], None]) -> None:
    """Read the other tables of a large run while the page is being looked at; call it when everything is drawn.

    Args:
        data: The run.
        then: Prepares what is made of the tables.
    """
    if len(data.results) >= _LARGE:
        _warming(data, then)


@st.cache_resource(show_spinner=False, max_entries=6)
def _warming(data: Frames, _then: Callable[[Frames], None]) -> Thread:
    """Start to read once for all sessions; the page goes on meanwhile, because most of the work is the database's."""

    def read() -> None:
        with suppress(KareninaError):  # the figure that needs the table will say what is wrong
            _ = data.fields, data.traits
            _then(data)

    thread = Thread(target=read, name=WARMING, daemon=True)
    thread.start()
    return thread


# Filters


class Scope(NamedTuple):
    """The filters of the page Results; hashable, so that what follows from it can be kept."""

    search: str = ""
    keywords: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()

    @property
    def narrow(self) -> bool:
        """Whether anything is filtered out."""
        return any(self)


_FILTERS = {"Keyword": "keyword", "Model": "model", "Judge": "judge"}


def choose_scope(data: Frames) -> Scope:
    """Draw the filters, which live in the link, and return what they say."""
    look: Any = {"format_func": short, "bind": "query-params", "placeholder": "All", "width": 220, "select_all": False}
    chosen: list[tuple[str, ...]] = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input("Search in questions", type="search", key="search", bind="query-params", width=260)
        for (label, key), options in zip(_FILTERS.items(), _choices(data), strict=True):
            offered = len(options) > 1 or st.session_state.get(key)
            chosen.append(tuple(st.multiselect(label, options, key=key, **look)) if offered else ())
    return Scope(search or "", *chosen)


def clear_scope() -> None:
    """Take all filters off."""
    st.session_state["search"] = ""
    state.choose("show", None)
    for key in _FILTERS.values():
        if key in st.session_state:
            st.session_state[key] = []


@st.cache_data(show_spinner=False, max_entries=20)
def _choices(data: Frames) -> list[list[str]]:
    results = data.results
    columns = ("answering_model", "parsing_model")
    return [keywords_of(results), *([str(name) for name in results[column].unique()] for column in columns)]


def shown(data: Frames, scope: Scope) -> pd.DataFrame:
    """Return the evaluations that the filters keep."""
    return _shown(data, scope) if scope.narrow else data.results


@st.cache_resource(show_spinner=False, max_entries=20)
def _shown(data: Frames, scope: Scope) -> pd.DataFrame:
    return narrowed(data.results, *scope)


def alike(table: pd.DataFrame, results: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Return the rows of a table of fields or traits that belong to the evaluations shown."""
    if not scope.narrow:
        return table
    kept = table["question_id"].isin(results["question_id"].unique())
    for name, wanted in (("answering_model", scope.models), ("parsing_model", scope.judges)):
        if wanted:
            kept &= table[name].isin(list(wanted))
    return table[kept]
