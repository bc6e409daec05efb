"""The data behind the Explore pages, read once per state of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import NamedTuple

import pandas as pd
import streamlit as st

from karenina_core.errors import KareninaError
from karenina_core.runs import STATES, scored_at
from karenina_core.schemas import VerificationResult, causes
from pages.components import frame, services, state
from pages.components.text import distinct, local_time, short

SIGN = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}


WARMING = "karenina-reading"
"""Name of the thread that reads ahead."""
_LARGE = 5_000
_EXAMPLES = 20
_AT_ONCE = 500


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
    def results(self) -> pd.DataFrame:
        """One row per evaluation, see `stored_frames.stored_results`."""
        return _results(self.run_id, self.revision)

    @property
    def fields(self) -> pd.DataFrame:
        """One row per evaluation and template field."""
        return _fields(self.run_id, self.revision)

    @property
    def traits(self) -> pd.DataFrame:
        """One row per evaluation and trait."""
        return _traits(self.run_id, self.revision)

    @property
    def headlines(self) -> list[str]:
        """One sentence per model."""
        return _sentences(self.run_id, self.revision).headlines

    @property
    def left_out(self) -> list[str]:
        """Why evaluations have no verdict."""
        return _sentences(self.run_id, self.revision).left_out

    @property
    def judges(self) -> list[str]:
        """What to keep in mind about the judges."""
        return _sentences(self.run_id, self.revision).judges


class _Sentences(NamedTuple):
    headlines: list[str]
    left_out: list[str]
    judges: list[str]


def choose_run(page: str) -> str | None:
    """Draw the run selector and return the chosen run, or say what to do when there is none."""
    runs = {run.id: run for run in services.store().runs.all()}
    if not runs:
        st.info("Nothing has run yet.", icon=":material/info:")
        if st.button("Go to the demo", type="primary", icon=":material/play_arrow:", key=f"{page}_home"):
            st.switch_page(frame.HOME)
        return None
    chosen = state.selected("run", runs) or next(iter(runs))
    say_unknown_run()
    labels = distinct(
        runs,
        lambda key: f"{short(runs[key].name)} · {local_time(runs[key].created)} · {STATES[runs[key].status]}",
    )
    picked = st.selectbox(
        "Run",
        list(runs),
        index=list(runs).index(chosen),
        format_func=labels.__getitem__,
        key=f"{page}_run_{chosen}",
    )
    if picked != chosen:
        state.choose("run", picked)
        state.choose("row", None)
        st.rerun()
    return picked


def say_unknown_run() -> None:
    """Say it when the link names a run that does not exist."""
    if state.unknown("run"):
        st.warning("The run in this link is not in this workspace; showing the newest.", icon=":material/link_off:")


def frames(run_id: str) -> Frames:
    """Return the tables of a run as it stands now; those of a large run under way as they were when first opened."""
    run = services.store().runs.get(run_id)
    scored = scored_at(services.store(), run_id)
    now = f"{run.status} {run.done} {run.passed} {run.failed} {run.calls} {run.finished} {scored}"
    read, done = st.session_state.get(f"_read_{run_id}", (now, run.done))
    if not run.active or done < _LARGE:
        read, done = now, run.done
    st.session_state[f"_read_{run_id}"] = read, done
    return Frames(run_id, read)


def read_again(run_id: str) -> None:
    """Let `frames` return the tables as they stand now."""
    st.session_state.pop(f"_read_{run_id}", None)


def traits_of_kind(data: Frames, kinds: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of the traits of some kinds."""
    return _traits_of_kind(data.run_id, data.revision, kinds)


@st.cache_resource(show_spinner=False, max_entries=12)
def _traits_of_kind(run_id: str, revision: str, kinds: tuple[str, ...]) -> pd.DataFrame:
    traits = _traits(run_id, revision)
    return traits[traits["kind"].isin(list(kinds))]


def warm(data: Frames, then: Callable[[Frames], None]) -> None:
    """Read the other tables of a large run while the page is being looked at; call it when everything is drawn.

    Args:
        data: The run.
        then: Prepares what is made of the tables.
    """
    if len(data.results) >= _LARGE:
        _warming(data.run_id, data.revision, then)


@st.cache_resource(show_spinner=False, max_entries=6)
def _warming(run_id: str, revision: str, _then: Callable[[Frames], None]) -> Thread:
    """Start to read once for all sessions; the page goes on meanwhile, because most of the work is the database's."""
    thread = Thread(target=_read_others, args=(Frames(run_id, revision), _then), name=WARMING, daemon=True)
    thread.start()
    return thread


def _read_others(data: Frames, then: Callable[[Frames], None]) -> None:
    with suppress(KareninaError):  # the figure that needs the table will say what is wrong
        _fields(data.run_id, data.revision)
        _traits(data.run_id, data.revision)
        then(data)


@st.cache_resource(show_spinner="Reading the results", max_entries=6)
def _results(run_id: str, revision: str) -> pd.DataFrame:
    from karenina_core.analysis import stored_results

    return stored_results(services.store(), run_id)


@st.cache_resource(show_spinner="Reading the fields", max_entries=4)
def _fields(run_id: str, revision: str) -> pd.DataFrame:
    from karenina_core.analysis import stored_fields

    return stored_fields(services.store(), run_id, _results(run_id, revision))


@st.cache_resource(show_spinner="Reading the traits", max_entries=4)
def _traits(run_id: str, revision: str) -> pd.DataFrame:
    from karenina_core.analysis import stored_traits

    benchmark = services.store().runs.plan(run_id).benchmark
    return stored_traits(services.store(), run_id, _results(run_id, revision), benchmark)


@st.cache_data(show_spinner=False, max_entries=20)
def _sentences(run_id: str, revision: str) -> _Sentences:
    from karenina_core.analysis import cause_sentences, judge_sentences, rate_sentences

    results = _results(run_id, revision)
    if results.empty:
        return _Sentences([], [], [])
    left_out = results[results["verdict"] == "not_evaluated"]
    cause = left_out["failure_category"].astype("str").fillna(causes.NO_VERDICT)
    examples = stored(run_id, left_out.groupby(cause.to_numpy())["result_id"].head(_EXAMPLES))
    reasons: dict[str, list[str]] = {}
    for result in examples:
        if result.failure:
            reasons.setdefault(result.failure.category, []).append(result.failure.reason)
    judged = results[results["verdict"] != "not_evaluated"].drop_duplicates("parsing_model")["result_id"]
    own = results[results["answering_model"].astype("str") == results["parsing_model"].astype("str")]
    samples = stored(run_id, pd.concat([judged, own.drop_duplicates("parsing_model")["result_id"]]))
    return _Sentences(
        rate_sentences(results),
        cause_sentences({str(name): int(n) for name, n in cause.value_counts().items()}, reasons),
        judge_sentences(samples),
    )


def stored(run_id: str, result_ids: Iterable[str] | None = None) -> list[VerificationResult]:
    """Return results of a run in full: those of the ids, or all of them."""
    store = services.store()
    if result_ids is None:
        return list(store.results.all(run_id))
    ids = list(dict.fromkeys(result_ids))
    parts = (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
    return [result for part in parts for result in store.results.iterate(run_id, result_id=part)]
