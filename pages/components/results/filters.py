"""What a person looks at on the Results page: filters that live in the link and hold for everything on the page."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import streamlit as st

from karenina_core.analysis import keywords_of, narrowed
from pages.components import state
from pages.components.results.data import Frames
from pages.components.text import short


class Scope(NamedTuple):
    """The filters of a page; hashable, so that what follows from it can be kept."""

    search: str = ""
    keywords: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()

    @property
    def narrow(self) -> bool:
        """Whether anything is filtered out."""
        return any(self)


def draw(data: Frames) -> Scope:
    """Draw the filters and return what they say."""
    choices = _choices(data.run_id, data.revision)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input("Search in questions", type="search", key="search", bind="query-params", width=260)
        keywords = _several("Keyword", "keyword", choices.keywords)
        models = _several("Model", "model", choices.models)
        judges = _several("Judge", "judge", choices.judges)
    return Scope(search or "", *(tuple(chosen) for chosen in (keywords, models, judges)))


def clear() -> None:
    """Take all filters off."""
    st.session_state["search"] = ""
    state.choose("show", None)
    for name in ("keyword", "model", "judge"):
        if name in st.session_state:
            st.session_state[name] = []


def shown(data: Frames, scope: Scope) -> pd.DataFrame:
    """Return the evaluations that the filters keep."""
    return _shown(data.run_id, data.revision, scope) if scope.narrow else data.results


def alike(table: pd.DataFrame, results: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Return the rows of a table of fields or traits that belong to the evaluations shown."""
    if not scope.narrow:
        return table
    kept = table["question_id"].isin(results["question_id"].unique())
    for name, wanted in (("answering_model", scope.models), ("parsing_model", scope.judges)):
        if wanted:
            kept &= table[name].isin(list(wanted))
    return table[kept]


class _Choices(NamedTuple):
    keywords: list[str]
    models: list[str]
    judges: list[str]


def _several(label: str, key: str, options: list[str]) -> list[str]:
    if len(options) < 2 and not st.session_state.get(key):
        return []
    return st.multiselect(
        label, options, format_func=short, key=key, bind="query-params", placeholder="All", width=220, select_all=False
    )


@st.cache_data(show_spinner=False, max_entries=20)
def _choices(run_id: str, revision: str) -> _Choices:
    results = Frames(run_id, revision).results
    return _Choices(keywords_of(results), *([str(name) for name in results[column].unique()] for column in _MODELS))


_MODELS = ("answering_model", "parsing_model")


@st.cache_resource(show_spinner=False, max_entries=20)
def _shown(run_id: str, revision: str, scope: Scope) -> pd.DataFrame:
    return narrowed(Frames(run_id, revision).results, *scope)
