"""What comes next with a benchmark: draft templates, finish questions, or run."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import streamlit as st

from karenina_core.benchmark import UNFINISHED, Benchmark, QuestionState
from karenina_core.runs import BenchmarkRow, DraftBatch
from karenina_core.text import counted
from pages.components import frame, services
from pages.components.benchmarks import choice as benchmark_choice


class NextStep(NamedTuple):
    """The next step.

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


def draw(row: BenchmarkRow, benchmark: Benchmark, *, primary: bool) -> NextStep:
    """Draw where a benchmark stands, and the button to what comes next; return that."""
    states = benchmark_choice.checked(row.id, row.revision).states
    step = next_step(benchmark, states, services.drafter().batch(row.id))
    st.caption(in_numbers(states))
    st.markdown(f"**Next:** {step.standing}")
    if st.button(
        step.label,
        type="primary" if primary else "secondary",
        icon=f":material/{step.icon}:",
        key="next_step",
        width="stretch",
    ):
        st.switch_page(step.page, query_params={"benchmark": row.id} | ({"do": step.task} if step.task else {}))
    return step


def in_numbers(states: dict[str, QuestionState]) -> str:
    """Return how many questions stand where."""
    count = Counter(found.state for found in states.values())
    return f"✓ {count['ready']} ready · ○ {count['draft']} draft · ! {count['issue']} with an issue"


def next_step(benchmark: Benchmark, states: dict[str, QuestionState], batch: DraftBatch | None) -> NextStep:
    """Return what comes next.

    Args:
        benchmark: The benchmark.
        states: Where its questions stand.
        batch: The last batch of drafts, None where there was none.
    """
    missing = benchmark.get_missing_templates()
    tried = {outcome.question_id for outcome in batch.outcomes} if batch else set()
    to_finish = sum(found.obstacles == (UNFINISHED,) for found in states.values())
    ready = sum(found.state == "ready" for found in states.values())
    if not states:
        return NextStep("Add questions", "add", "it has no questions yet.", frame.QUESTIONS)
    if batch is not None and batch.active:
        why = f"templates are being drafted, {batch.done} of {batch.total} are done."
        return NextStep("See the drafts", "edit_note", why, frame.BENCHMARKS, "draft")
    untried = [name for name in missing if name not in tried]
    if untried and len(untried) > ready:
        why = f"{_of(len(missing), benchmark)} no template, which decides whether an answer is right."
        label = f"Draft {counted(len(missing), 'missing template')}"
        return NextStep(label, "edit_note", why, frame.BENCHMARKS, "draft")
    if to_finish > ready:
        why = f"{counted(to_finish, 'question')} can run as soon as you mark them finished."
        return NextStep("Check and finish them", "done_all", why, frame.BENCHMARKS, "check")
    if ready:
        why = f"{counted(ready, 'question')} of {len(benchmark)} will take part in a run."
        return NextStep("Configure a run", "tune", why, frame.CONFIGURE)
    if any(found.state == "issue" for found in states.values()):
        return NextStep("See what is wrong", "fact_check", "nothing can run yet.", frame.BENCHMARKS, "check")
    why = f"{_of(len(missing), benchmark)} no template that a rule could draft; write it, or let a model draft it."
    return NextStep("Open questions", "quiz", why, frame.QUESTIONS)


def _of(number: int, benchmark: Benchmark) -> str:
    return f"{counted(number, 'question')} of {len(benchmark)} {'has' if number == 1 else 'have'}"
