"""The frame around every page: navigation, the sidebar, and a guard for deep links and errors.

Streamlit runs a file in `pages/` by itself when its address is the first one opened on a fresh server. Every page
therefore begins with `frame.begin(...)`, which builds the navigation first when `app.py` has not run yet.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from karenina_core.errors import KareninaError, validation_message
from karenina_core.redact import redact
from pages.components import drafts, job_card, page_top, services, sign_in, whole_input
from pages.components.text import plain

log = logging.getLogger(__name__)

HOME = "pages/home.py"
BENCHMARKS = "pages/benchmarks.py"
QUESTIONS = "pages/questions.py"
RUBRICS = "pages/rubrics.py"
CONFIGURE = "pages/configure.py"
MONITOR = "pages/monitor.py"
RESULTS = "pages/results.py"
COMPARE = "pages/compare.py"
ANSWER = "pages/answer.py"
REPORT = "pages/report.py"
SETTINGS = "pages/settings.py"

SECTIONS: dict[str, list[tuple[str, str, str]]] = {
    "": [(HOME, "Home", ":material/home:")],
    "Build": [
        (BENCHMARKS, "Benchmarks", ":material/folder_open:"),
        (QUESTIONS, "Questions", ":material/quiz:"),
        (RUBRICS, "Rubrics", ":material/checklist:"),
    ],
    "Run": [
        (CONFIGURE, "Configure", ":material/tune:"),
        (MONITOR, "Monitor", ":material/monitoring:"),
    ],
    "Explore": [
        (RESULTS, "Results", ":material/bar_chart:"),
        (COMPARE, "Compare", ":material/compare_arrows:"),
        (ANSWER, "Answer", ":material/article:"),
        (REPORT, "Report", ":material/summarize:"),
    ],
    " ": [(SETTINGS, "Settings", ":material/settings:")],
}
_FRAMED = "_framed"
_PAGE = "_page"
_VISIT = "_visit"


def navigation() -> StreamlitPage:
    """Build the navigation and return the page to run; whoever may not use the app gets no further."""
    whole_input.keep_whole()
    sign_in.require()
    st.session_state[_FRAMED] = True
    pages = {
        section: [
            st.Page(path, title=title, icon=icon, default=path == HOME, url_path=None if path == HOME else _slug(path))
            for path, title, icon in entries
        ]
        for section, entries in SECTIONS.items()
    }
    return st.navigation(pages)


def _slug(path: str) -> str:
    return path.removeprefix("pages/").removesuffix(".py")


def begin(title: str, caption: str = "") -> None:
    """Start a page: frame, title and one sentence; must be the page's first statement."""
    sign_in.require()
    if not st.session_state.get(_FRAMED):
        navigation()
        st.rerun()
    services.note_click()
    if st.session_state.get(_PAGE) != title:
        st.session_state[_PAGE], st.session_state[_VISIT] = title, visit() + 1
    drafts.collect()
    with st.sidebar:
        job_card.show()
        sign_in.account()
    page_top.title(title, visit())
    if caption:
        st.caption(caption)


def visit() -> int:
    """Return how often this session has come to another page, which tells one stay on a page from the next."""
    return int(st.session_state.get(_VISIT, 0))


@contextmanager
def guard() -> Iterator[None]:
    """Turn errors meant for people into a message: what happened, why, what to do next."""
    try:
        yield
    except KareninaError as error:
        show_error(error)
    except ValueError as error:
        show_error(KareninaError("This cannot be used as it is.", why=validation_message(error)))


def show_error(error: KareninaError) -> None:
    """Show one error."""
    log.info("shown to the user: %s", redact(str(error)))
    body = " ".join(part for part in (error.why, error.next) if part)
    st.error(plain(redact(body)) or " ", title=plain(redact(error.what)))
