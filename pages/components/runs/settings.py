"""How a run goes: its settings, and what they add up to."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import Plan
from karenina_core.text import counted
from pages.components import frame
from pages.components.runs import configuration
from pages.components.text import plain

_MODES = {"auto": "when there are any", "template_only": "off", "rubric_only": "only rubrics"}
_SHOWN = 50


def draw() -> None:
    """Draw the settings; `configuration.build` reads them."""
    st.subheader("Settings")
    first, second, third = st.columns(3)
    with first:
        help_text = "How often every question is asked."
        st.number_input("Repeats", 1, 100, help=help_text, **configuration.field("repeats", 1))
    with second:
        at_once = "Calls in flight at the same time, over all models. It can be changed while the run is under way."
        st.number_input("Calls at once", 1, 200, help=at_once, **configuration.field("calls", 8))
    with third:
        st.selectbox(
            "Rubrics", list(_MODES), format_func=_MODES.__getitem__, **configuration.field("mode", "auto", _MODES)
        )
    with st.container(horizontal=True):
        one_more = "One more judge call per answer."
        st.toggle("Notice declined answers", help=one_more, **configuration.field("abstention", False))
        st.toggle("Notice insufficient answers", help=one_more, **configuration.field("sufficiency", False))
        examples = "The examples of each question, written on Questions under “Few-shot”, are sent before it."
        st.toggle("Few-shot examples", help=examples, **configuration.few_shot())
        needed = "For fields whose rule is “Similar meaning”. Needs the embeddings extra; see Settings."
        st.toggle("Embedding check", help=needed, **configuration.field("embeddings", False))


def ask_time() -> None:
    """Draw the field for the longest time a run may work; `configuration.build` reads it."""
    st.number_input(
        "Work at most (minutes; empty for no limit)",
        min_value=0.1,
        value=None,
        step=1.0,
        help="Then the run stops, calls in flight are finished, and it can be resumed for as long again. Pauses do not "
        "count.",
        width=320,
        **configuration.field("max_minutes", None),
    )


def describe(plan: Plan, benchmark_id: str) -> None:
    """Draw what a plan adds up to, what it leaves out, and what is wrong with the benchmark.

    Args:
        plan: What would run.
        benchmark_id: Of the stored benchmark.
    """
    calls, judges = plan.calls(), len(plan.config.parsing_models)
    judged = f" × {counted(judges, 'judge')} = {counted(plan.rows, 'evaluation')}" if judges > 1 else ""
    st.markdown(
        f"**{counted(len(plan.question_ids), 'question')} × {counted(len(plan.config.answering_models), 'model')} × "
        f"{counted(plan.config.replicate_count, 'repeat')} = {counted(plan.answers, 'answer')}{judged}**, "
        f"and at most {counted(sum(calls.values()) - calls.get('answer', 0), 'judge call')}."
    )
    if plan.skipped:
        with st.expander(f"{counted(len(plan.skipped), 'question')} will not run"):
            for skipped in plan.skipped[:_SHOWN]:
                known = skipped.question_id in plan.benchmark
                text = plan.benchmark.get_question(skipped.question_id).question if known else skipped.question_id
                st.caption(f"{plain(text, 80)}: {plain(skipped.reason)}")
            if plan.question_ids and st.button("Open them in Questions", icon=":material/quiz:", key="open_skipped"):
                _open(plan, benchmark_id)
    problems = [problem for problem in plan.benchmark.check() if problem.severity == "error"]
    if problems:
        with st.expander(f"{counted(len(problems), 'problem')} in the benchmark", icon=":material/warning:"):
            for problem in problems[:_SHOWN]:
                st.caption(f"{plain(problem.where, 80)}: {plain(problem.what)} {plain(problem.next)}")


def _open(plan: Plan, benchmark_id: str) -> None:
    left_out = [skipped.question_id for skipped in plan.skipped]
    drafts = all(name in plan.benchmark and not plan.benchmark.get_question(name).finished for name in left_out)
    link = {"benchmark": benchmark_id, "q": left_out[0]} | ({"only": "Draft"} if drafts else {})
    st.switch_page(frame.QUESTIONS, query_params=link)


def offer_questions(benchmark_id: str, *, everything: bool) -> None:
    """Say that nothing would run, and what to do about it."""
    if not everything:
        st.warning("No question is left. Choose others above, or all of them.", title="Nothing to run")
        return
    st.warning("No question would run. Mark questions as finished first.", title="Nothing to run")
    if st.button("Go to questions", type="primary"):
        st.switch_page(frame.QUESTIONS, query_params={"benchmark": benchmark_id})
