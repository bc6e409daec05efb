"""The frame around every page: the table of pages, navigation, the sidebar, and a guard for errors.

Streamlit runs a file in `pages/` by itself when its address is the first one opened on a fresh server. Every page
therefore begins with `frame.begin(...)`, which builds the navigation first when `app.py` has not run yet.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, ParamSpec

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from karenina_core.errors import InputError, KareninaError, validation_message
from karenina_core.redact import redact
from karenina_core.runs import DraftBatch, Progress
from pages.components import drafts, live, services, sign_in, state, whole_input
from pages.components.text import plain

log = logging.getLogger(__name__)
P = ParamSpec("P")


class Page(NamedTuple):
    """One screen.

    Attributes:
        title: In the navigation and above the page.
        icon: Of the page and of the buttons that lead to it.
        section: Of the navigation.
        about: One sentence below the title.
        heading: Instead of the title above the page.
    """

    title: str
    icon: str
    section: str
    about: str
    heading: str = ""


PAGES: dict[str, Page] = {}
"""Every page by its file, in the order of the navigation."""


def _page(name: str, title: str, icon: str, section: str, about: str, heading: str = "") -> str:
    path = f"pages/{name}.py"
    PAGES[path] = Page(title, f":material/{icon}:", section, about, heading)
    return path


# fmt: off
HOME = _page("home", "Home", "home", "",
    "Ask models questions, let a judge read the answers, let code decide.", "Karenina Workbench")
BENCHMARKS = _page("benchmarks", "Benchmarks", "folder_open", "Build",
    "A benchmark is a package of questions with their templates and rubrics. Bring one in, or start a new one.")
QUESTIONS = _page("questions", "Questions", "quiz", "Build",
    "Write what is asked and what is true. Only finished questions take part in runs.")
RUBRICS = _page("rubrics", "Rubrics", "checklist", "Build",
    "Traits describe the quality of an answer. They never change whether it is right or wrong.")
CONFIGURE = _page("configure", "Configure", "tune", "Run",
    "What is asked, who answers, who judges. Nothing is spent before you press run.")
MONITOR = _page("monitor", "Monitor", "monitoring", "Run",
    "How a run is doing. Errors are never counted as wrong answers.")
RESULTS = _page("results", "Results", "bar_chart", "Explore",
    "Rates are over evaluated answers; what was left out is always shown beside them.")
COMPARE = _page("compare", "Compare", "compare_arrows", "Explore",
    "Question by question: is one model really better, and do the judges agree?")
ANSWER = _page("answer", "Answer", "article", "Explore",
    "One question, one model, one judge: what went in, what came out, and why the verdict is what it is.")
REPORT = _page("report", "Report", "summarize", "Explore",
    "One file for a colleague: it opens without a network and says how to run it again.")
SETTINGS = _page("settings", "Settings", "settings", " ",
    "Where your work is stored, and what this installation can do.")
# fmt: on

_FRAMED = "_framed"
_PAGE = "_page"
_VISIT = "_visit"


def navigation() -> StreamlitPage:
    """Build the navigation and return the page to run; whoever may not use the app gets no further."""
    whole_input.keep_whole()
    sign_in.require()
    st.session_state[_FRAMED] = True
    sections: dict[str, list[StreamlitPage]] = {}
    for path, page in PAGES.items():
        address = None if path == HOME else path.removeprefix("pages/").removesuffix(".py")
        entry = st.Page(path, title=page.title, icon=page.icon, default=path == HOME, url_path=address)
        sections.setdefault(page.section, []).append(entry)
    return st.navigation(sections)


def begin(path: str) -> None:
    """Start a page: frame, title and one sentence; must be the page's first statement.

    Args:
        path: The page's file, such as `frame.HOME`.
    """
    sign_in.require()
    if not st.session_state.get(_FRAMED):
        navigation()
        st.rerun()
    services.note_click()
    if st.session_state.get(_PAGE) != path:
        st.session_state[_PAGE], st.session_state[_VISIT] = path, visit() + 1
    drafts.collect()
    with st.sidebar:
        _job_card()
        sign_in.account()
    with st.container(gap=None):
        st.title(PAGES[path].heading or PAGES[path].title)
        _scrolling(key="page_top", data=str(visit()), height="content")
    st.caption(PAGES[path].about)


def visit() -> int:
    """Return how often this session has come to another page, which tells one stay on a page from the next."""
    return int(st.session_state.get(_VISIT, 0))


# Streamlit leaves the next page where the last one was scrolled to. And an open list closes with any scrolling, also
# with that by which the browser keeps things in place when something appears above: only a person's counts.
_scrolling = st.components.v2.component(
    "karenina_scrolling",
    js="""
export default function ({ data }) {
  const main = document.querySelector('[data-testid="stMain"]')
  if (main !== null && main.dataset.visit !== data) {
    // A link to a heading may have scrolled the first page already.
    if (main.dataset.visit !== undefined) {
      main.scrollTo({ top: 0, behavior: "instant" })
    }
    main.dataset.visit = data
  }
  let moved = 0
  const note = () => { moved = performance.now() }
  const keepOpen = (event) => {
    if (performance.now() - moved > 1000 && document.querySelector('[role="combobox"][aria-expanded="true"]')) {
      event.stopImmediatePropagation()
    }
  }
  const listeners = { wheel: note, touchmove: note, scroll: keepOpen }
  const each = (act) => Object.entries(listeners).forEach(([name, listener]) => act(name, listener))
  each((name, listener) => window.addEventListener(name, listener, { capture: true, passive: true }))
  return () => each((name, listener) => window.removeEventListener(name, listener, { capture: true }))
}
""",
)


def go(path: str, **link: str) -> None:
    """Go to a page; what the link names is also remembered by this session."""
    for name, value in link.items():
        state.remember(name, value)
    st.switch_page(path, query_params=link)


def link_button(
    label: str, path: str, key: str | None = None, *, icon: str = "", kind: Any = "secondary", **link: str
) -> None:
    """Draw a button that leads to a page.

    Args:
        label: Of the button.
        path: The page's file, such as `frame.HOME`.
        key: Of the button.
        icon: Name of a Material icon, instead of that of the page.
        kind: `primary`, `secondary` or `tertiary`.
        link: Parameters of the link.
    """
    if st.button(label, key=key, icon=f":material/{icon}:" if icon else PAGES[path].icon, type=kind):
        go(path, **link)


def nothing(words: str, label: str, path: str, key: str, **link: str) -> None:
    """Say that there is nothing to show yet, and offer the next click."""
    st.info(words, icon=":material/info:")
    link_button(label, path, key, kind="primary", **link)


@contextmanager
def guard() -> Iterator[None]:
    """Turn errors meant for people into a message: what happened, why, what to do next."""
    try:
        yield
    except KareninaError as error:
        show_error(error)
    except ValueError as error:
        show_error(KareninaError("This cannot be used as it is.", why=validation_message(error)))


def part(draw: Callable[P, None], run_every: float | None = None) -> Callable[P, None]:
    """Return a function that draws a part of a page; what is done there leaves the rest of the page alone.

    Args:
        draw: Draws it.
        run_every: Seconds between two drawings.
    """
    return st.fragment(guard()(draw), run_every=run_every)


def show_error(error: KareninaError) -> None:
    """Show one error."""
    log.info("shown to the user: %s", redact(str(error)))
    body = " ".join(part for part in (error.why, error.next) if part)
    st.error(plain(redact(body)) or " ", title=plain(redact(error.what)))


def _job_card() -> None:
    """Show what is under way in this process, on every page; polls only while something is."""

    def cards() -> None:
        for progress in services.active_runs():
            _run_card(progress)
        _draft_card(services.drafter().active())

    live.follow("job_card", cards, lambda: bool(services.active_runs() or services.drafter().active()))


def _run_card(progress: Progress) -> None:
    run_id = progress.run_id
    st.progress(progress.percent / 100, text=plain(progress.name, 40))
    spent = f" · ${progress.cost:.4f}" if progress.cost else ""
    st.caption(f"{progress.status} · {progress.done:,} of {progress.total:,}{spent}")
    pausable = progress.status == "running" and progress.ceiling is not None
    with st.container(horizontal=True):
        link_button("Open monitor", MONITOR, f"job_card_open_{run_id}", run=run_id)
        if pausable and st.button("Pause", key=f"job_card_pause_{run_id}", icon=":material/pause:"):
            with suppress(InputError):  # it may have ended meanwhile
                services.runner().pause(run_id)
            st.rerun()


def _draft_card(batches: Sequence[DraftBatch]) -> None:
    for batch in batches:
        st.progress(min(batch.done / max(batch.total, 1), 1.0), text="Drafting templates")
        st.caption(f"{batch.done} of {batch.total}")
    if batches and st.button("Open drafts", key="job_card_drafts", icon=":material/edit_note:", width="stretch"):
        go(BENCHMARKS, benchmark=batches[0].benchmark_id, do="draft")
