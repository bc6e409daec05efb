"""Which questions are shown, the table to choose one from, adding one, and the deleted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import Benchmark, BenchmarkQuestion, QuestionState
from karenina_core.runs import BenchmarkRow, QuestionVersion, restore_version
from karenina_core.schemas.entities.question import question_id as id_of
from karenina_core.text import counted
from pages.components import drafts, feedback, forms, frame, run_choice, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import plain, short
from pages.components.widgets import pick

PAGE = 100
"""Rows of the table at once; more would be sent anew with every change of the list."""
SIGNS = {"ready": "✓ ready", "draft": "○ draft", "issue": "! issue"}
FAILING = "Failing in run"
_MOST_DELETED = 20

Failures = Mapping[str, Mapping[str, tuple[int, int]]]
"""How many verdicts failed, and how many there are, by question and answering model; of questions that failed."""


@dataclass(frozen=True)
class Listed:
    """A question in the list.

    Attributes:
        text: One line of its text.
        searched: What a search looks into, in lower case.
        state: Where it stands.
        review: Why a person has to look at its template, one sentence a line; empty where nobody has to.
    """

    id: str
    text: str
    searched: str
    state: QuestionState
    review: str


@dataclass(frozen=True)
class Shown:
    """The questions of the chosen view that match the search.

    Attributes:
        questions: All questions, in the order of the benchmark.
        ids: Those that are shown, in that order.
        view: The chosen view.
        failures: What failed in the chosen run; empty in other views.
    """

    questions: Mapping[str, Listed]
    ids: Sequence[str]
    view: str
    failures: Failures


VIEWS: dict[str, Callable[[Listed], bool]] = {
    "All": lambda item: True,
    "Ready": lambda item: item.state.state == "ready",
    "Draft": lambda item: item.state.state == "draft",
    "Issues": lambda item: item.state.state == "issue",
    "Needs review": lambda item: bool(item.review),
    FAILING: lambda item: True,  # those of a run
}


@st.cache_resource(max_entries=4, show_spinner="Reading the questions and checking their templates…")
def index(benchmark_id: str, revision: int) -> Mapping[str, Listed]:
    """Return the questions of a stored benchmark as the list needs them, by id."""
    benchmark = benchmark_choice.reading(benchmark_id, revision)
    states = benchmark_choice.checked(benchmark_id, revision).states
    return {question.id: _listed(question, states[question.id]) for question in benchmark}


def _listed(question: BenchmarkQuestion, where: QuestionState) -> Listed:
    searched = "\n".join([question.question, question.raw_answer, *question.keywords, question.id]).casefold()
    review = str((question.custom_metadata or {}).get(REVIEW_PROPERTY) or "")
    return Listed(question.id, short(question.question, 120), searched, where, review)


def draft_name(benchmark_id: str, question_id: str) -> str:
    """Return the name of the draft of a question."""
    return f"{benchmark_id}/question/{question_id}"


def many_at_once() -> bool:
    """Draw the choice of how to edit, and return whether it is the table of many questions."""
    ways = {"list": "One by one", "grid": "Many at once"}
    return forms.linked("edit", "Edit", ways, few=True, label_visibility="collapsed") == "grid"


def filtered(row: BenchmarkRow) -> Shown:
    """Draw search and views, and return the questions they leave."""
    questions = index(row.id, row.revision)
    with st.container(horizontal=True, vertical_alignment="center"):
        # Set only while the browser does not know the field: later, it would write over what is being typed.
        if "question_search" not in st.session_state:
            st.session_state["question_search"] = state.recalled("find") or ""
        search = forms.search("question_search", "Text, answer, keyword or id", width=320)
        state.choose("find", search or None)
        with st.container():  # directly in a row it would be cut off on a narrow screen instead of wrapped
            names = {name: name for name in VIEWS}
            view = str(forms.linked("only", "View", names, few=True, label_visibility="collapsed"))
    failures = _failures(row, questions) if view == FAILING else {}
    wanted = search.strip().casefold()
    ids = [
        name
        for name, item in questions.items()
        if wanted in item.searched and (name in failures if view == FAILING else VIEWS[view](item))
    ]
    count = {name: sum(map(fits, questions.values())) for name, fits in VIEWS.items()}
    review = f" · {count['Needs review']} to review" if count["Needs review"] else ""
    st.caption(
        f"{len(ids)} of {len(questions)} shown · {count['Ready']} ready · {count['Draft']} draft · "
        f"{count['Issues']} with an issue{review}"
    )
    return Shown(questions, ids, view, failures)


def _failures(row: BenchmarkRow, questions: Mapping[str, Listed]) -> Failures:
    runs = {run.id: run for run in services.store().runs.all(benchmark_id=row.id) if run.done}
    chosen = forms.linked("failing", "Failing in", run_choice.labels(runs), what="run", width=420)
    if chosen is None:
        words = "This benchmark has no run with results yet. Configure one first."
        frame.nothing(words, "Go to Configure", frame.CONFIGURE, "go_to_configure", benchmark=row.id)
        return {}
    run = runs[chosen]
    failures = _failed(run.id, (run.done, run.passed, run.failed, run.not_evaluated))
    gone = sum(name not in questions for name in failures)
    if gone:
        has = "that this benchmark no longer has, or has with another text."
        st.caption(f"{counted(gone, 'more question')} failed in this run {has}")
    return failures


@st.cache_data(max_entries=8, ttl=60, show_spinner=False)
def _failed(run_id: str, counters: tuple[int, ...]) -> Failures:
    """Return what failed in a run; cached for a while, as long as its counters stay the same."""
    return services.store().results.failures(run_id)


def choose(row: BenchmarkRow, shown: Shown) -> str | None:
    """Draw the table and return the id of the chosen question."""
    forms.refuse_lost("q", shown.questions, "question")
    chosen = state.selected("q", shown.questions)
    if not shown.ids:
        nothing_shown()
        return chosen
    # The chosen one is part of the key: another question, chosen by a link or an undo, is looked up where it is.
    ids = forms.paged(shown.ids, PAGE, "question_page", chosen=chosen)
    edited = set(drafts.unsaved(f"{row.id}/question/"))
    rows = [_row(shown.questions[name], shown, draft_name(row.id, name) in edited) for name in ids]
    # The whole text stands beside the list; where more follows, the list scrolls.
    columns = forms.widths(State=90, Failed=70, Question="large" if len(rows[0]) > 2 else 180)
    picked = pick("question_table", ids, rows, chosen, alt="Questions", most=16, columns=columns)
    if picked != chosen:
        state.choose("q", picked)
    return picked


def nothing_shown() -> None:
    """Say that the view is empty, and what to do."""
    st.info("No question is in this view. Choose All, or clear the search.", icon=":material/search_off:")


def _row(item: Listed, shown: Shown, edited: bool) -> Mapping[str, str]:
    row = {"State": SIGNS[item.state.state] + (" ⚑" if item.review else "") + (" ✎" if edited else "")}
    failed = shown.failures.get(item.id)
    if failed:
        wrong, verdicts = (sum(numbers[place] for numbers in failed.values()) for place in (0, 1))
        row["Failed"] = f"{wrong} of {verdicts}"
    row["Question"] = item.text
    if failed:
        row["For"] = failed_for(failed)
    if shown.view in ("Draft", "Issues", "Needs review"):
        row["Why"] = short(item.review if shown.view == "Needs review" else " ".join(item.state.obstacles), 300)
    return row


def failed_for(failed: Mapping[str, tuple[int, int]]) -> str:
    """Return for which models a question failed, and how often."""
    return ", ".join(
        short(model, 60) + (f" ({wrong} of {verdicts})" if verdicts > 1 else "")
        for model, (wrong, verdicts) in sorted(failed.items())
        if wrong
    )


def add(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw the way to one more question."""
    number = len(benchmark)  # part of the keys: the form is empty again once a question is added
    with (
        st.popover("Add question", icon=":material/add:", key=f"new_question_{number}"),
        st.form(f"new_question_form_{number}", border=False),
        frame.guard(),
    ):
        text = st.text_area("New question", height=110, placeholder="Exactly what the model is asked")
        answer = st.text_area("Its reference answer", height=80, placeholder="For people; no model ever sees it")
        if not st.form_submit_button("Add as draft"):
            return
        if id_of(text) in benchmark:
            state.choose("q", benchmark.get_question(id_of(text)).id)
            feedback.say("This question is in the benchmark already; here it is.")
            st.rerun()
        with benchmark_choice.changing(row.id) as changed:
            added = changed.add_question(text, raw_answer=answer, finished=False)
        state.choose("q", added)
        feedback.say(f"Added **{plain(text, 50)}** as a draft.")
        st.rerun()


def deleted(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw the deleted questions of a benchmark, the latest first; nothing where there are none."""
    versions = _deleted(row.id, row.revision, tuple(benchmark.get_question_ids()))
    if not versions:
        return
    with st.popover(f"Deleted ({len(versions)})", icon=":material/delete_sweep:", key="deleted_questions"):
        for version in versions[:_MOST_DELETED]:
            text, when = version.content["question"], version.saved[:16].replace("T", " ")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"{plain(text, 80)} :gray[· {plain(when)}]", width="stretch")
                if forms.button("Restore", "undo", f"bring_back_{version.question_id}"):
                    with frame.guard():
                        with benchmark_choice.changing(row.id) as changed:
                            name = restore_version(changed, version.question_id, version.content)
                        state.choose("q", name)
                        feedback.say(f"**{plain(text, 50)}** is back, at the end of the list.")
                        st.rerun()
        if len(versions) > _MOST_DELETED:
            st.caption(f"The last {_MOST_DELETED} are shown.")


@st.cache_data(max_entries=8, show_spinner=False)
def _deleted(benchmark_id: str, revision: int, _present: tuple[str, ...]) -> list[QuestionVersion]:
    return services.store().benchmarks.deleted_questions(benchmark_id, _present)
