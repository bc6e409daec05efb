"""The benchmark a Build page works on: how it is chosen, read and changed, and what comes next with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from karenina_core.benchmark import UNFINISHED, Benchmark, Problem, QuestionState, question_states
from karenina_core.runs import BenchmarkRow, DraftBatch
from karenina_core.text import counted
from pages.components import drafts, feedback, forms, frame, services, sign_in, state
from pages.components.text import distinct, short


def choose() -> BenchmarkRow:
    """Draw the benchmark selector; where there is none, draw the way to one and stop."""
    rows = {row.id: row for row in services.store().benchmarks.all()}
    labels = distinct(rows, lambda name: label(rows[name]))
    chosen = forms.linked("benchmark", "Benchmark", labels, what="benchmark", width=420)
    if chosen is None:
        words = "There is no benchmark in this workspace yet. Upload one, or add the demo."
        frame.nothing(words, "Go to benchmarks", frame.BENCHMARKS, "go_to_benchmarks")
        st.stop()
    return rows[chosen]


def label(row: BenchmarkRow) -> str:
    """Return name and version of a benchmark for a list."""
    return f"{short(row.name, 60)} · {short(row.version, 20)}"


def no_questions(row: BenchmarkRow) -> None:
    """Say that a benchmark has no questions, and lead to where they are added."""
    words = "This benchmark has no questions yet."
    frame.nothing(words, "Go to questions", frame.QUESTIONS, "go_to_questions", benchmark=row.id)


@st.cache_resource(max_entries=8, show_spinner=False)
def reading(benchmark_id: str, revision: int) -> Benchmark:
    """Return a stored benchmark to read from. It is shared: change it through `changing` only."""
    return services.store().benchmarks.load(benchmark_id)


@dataclass(frozen=True)
class Checked:
    """What is known of the state of a benchmark: its problems, and where every question stands."""

    problems: list[Problem]
    states: dict[str, QuestionState]


@st.cache_resource(max_entries=8, show_spinner=False)
def checked(benchmark_id: str, revision: int) -> Checked:
    """Return the problems of a stored benchmark."""
    benchmark = reading(benchmark_id, revision)
    problems = benchmark.check()
    return Checked(problems, question_states(benchmark, problems))


@contextmanager
def changing(benchmark_id: str, revision: int | None = None) -> Iterator[Benchmark]:
    """Give a fresh copy of a stored benchmark and save it at the end; an error saves nothing.

    The history of its questions notes who saves. Where a question gets another id, its drafts go along.

    Args:
        benchmark_id: The benchmark.
        revision: The revision that a person looked at; another one that was saved since is not written over.
    """
    store = services.store()
    revision = store.benchmarks.row(benchmark_id).revision if revision is None else revision
    benchmark = store.benchmarks.load(benchmark_id)
    yield benchmark
    renamed = list(benchmark.renamed)
    store.benchmarks.save(benchmark, benchmark_id, expected_revision=revision, author=sign_in.person())
    for old, new in renamed:
        for kind in ("question", "trait"):
            drafts.move(f"{benchmark_id}/{kind}/{old}", f"{benchmark_id}/{kind}/{new}")
        drafts.rekey(f"{benchmark_id}/grid", old, new)


def offer_undo(row: BenchmarkRow, message: str, before: Benchmark) -> None:
    """Offer to store a benchmark as it was before a change that has just been saved."""
    revision = services.store().benchmarks.row(row.id).revision

    def undo() -> None:
        # Whatever was changed since would be lost; then the store refuses.
        services.store().benchmarks.save(before, row.id, expected_revision=revision, author=sign_in.person())

    feedback.offer_undo(message, undo)


def apply(
    row: BenchmarkRow,
    change: Callable[[Benchmark], str],
    undo: Callable[[Benchmark], object],
    *,
    then: Callable[[], object] = lambda: None,
    **chosen: str,
) -> None:
    """Change a stored benchmark, offer to undo it, and draw the page anew.

    Args:
        row: The benchmark.
        change: Changes it, and returns what was done, as Markdown.
        undo: Takes the change back.
        then: Is done once the change is saved.
        **chosen: What is chosen after the undoing, by its name in the link.
    """

    def take_back() -> None:
        with changing(row.id) as benchmark:
            undo(benchmark)
        for name, value in chosen.items():
            state.choose(name, value)

    with frame.guard():
        with changing(row.id) as benchmark:
            message = change(benchmark)
        then()
        feedback.offer_undo(message, take_back)
        st.rerun()


def finish(row: BenchmarkRow, question_ids: Sequence[str]) -> None:
    """Mark questions finished, offer to undo it, and draw the page anew."""

    def mark(benchmark: Benchmark) -> str:
        present = [name for name in question_ids if name in benchmark]
        benchmark.mark_finished_batch(present)
        return f"Marked {counted(len(present), 'question')} finished."

    apply(row, mark, lambda it: it.mark_unfinished_batch([name for name in question_ids if name in it]))


class NextStep(NamedTuple):
    """What comes next with a benchmark.

    Attributes:
        label: What the button says.
        icon: Of the button.
        standing: One sentence on where the benchmark stands.
        page: Where the button leads.
        task: The task on the page of benchmarks, blank for none.
    """

    label: str
    icon: str
    standing: str
    page: str
    task: str = ""


def next_step(benchmark: Benchmark, states: dict[str, QuestionState], batch: DraftBatch | None) -> NextStep:
    """Return what comes next.

    Args:
        benchmark: The benchmark.
        states: Where its questions stand.
        batch: The last batch of drafts, None where there was none.
    """
    total, missing = len(benchmark), benchmark.get_missing_templates()
    has = f"{counted(len(missing), 'question')} of {total} {'has' if len(missing) == 1 else 'have'}"
    tried = {outcome.question_id for outcome in batch.outcomes} if batch else set()
    untried = [name for name in missing if name not in tried]
    count = Counter(where.state for where in states.values())
    to_finish = sum(where.obstacles == (UNFINISHED,) for where in states.values())
    if not states:
        return NextStep("Add questions", "add", "it has no questions yet.", frame.QUESTIONS)
    if batch is not None and batch.active:
        why = f"templates are being drafted, {batch.done} of {batch.total} are done."
        return NextStep("See the drafts", "edit_note", why, frame.BENCHMARKS, "draft")
    if untried and len(untried) > count["ready"]:
        why = f"{has} no template, which decides whether an answer is right."
        title = f"Draft {counted(len(missing), 'missing template')}"
        return NextStep(title, "edit_note", why, frame.BENCHMARKS, "draft")
    if to_finish > count["ready"]:
        why = f"{counted(to_finish, 'question')} can run as soon as you mark them finished."
        return NextStep("Check and finish them", "done_all", why, frame.BENCHMARKS, "check")
    if count["ready"]:
        why = f"{counted(count['ready'], 'question')} of {total} will take part in a run."
        return NextStep("Configure a run", "tune", why, frame.CONFIGURE)
    if count["issue"]:
        return NextStep("See what is wrong", "fact_check", "nothing can run yet.", frame.BENCHMARKS, "check")
    why = f"{has} no template that a rule could draft; write it, or let a model draft it."
    return NextStep("Open questions", "quiz", why, frame.QUESTIONS)
