"""Answer: one evaluation as a column of cells, from the prompt to the verdict and what people say about it."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from karenina_core.schemas import VerificationResult
from pages.components import feedback, forms, frame, run_choice, services
from pages.components.answer import cells as answer_cells
from pages.components.answer import list as answer_list
from pages.components.answer import reverify as answer_reverify
from pages.components.answer import scratch as answer_scratch
from pages.components.answer import tools as answer_tools
from pages.components.answer import triage as answer_triage
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import plain
from pages.components.widgets import download

frame.begin(frame.ANSWER)

LOOKS = {"answer": "One answer", "triage": "Triage", "rules": "Relaxed rules"}


def one_answer(run_id: str, above: DeltaGenerator) -> None:
    """Draw one evaluation with everything that can be done about it, and above all what the last act left to say."""
    result_id = answer_list.choose(run_id, answer_list.rows(run_id))
    with above:
        feedback.show(run_id, "answer", result_id)
    if result_id is None:
        return
    stored = services.store().results.get(run_id, result_id)
    scratch = answer_scratch.of(run_id, stored)
    st.subheader(plain(stored.question.question, 400))
    answer_scratch.banner(scratch)
    shown = stored
    with frame.guard():
        shown = answer_scratch.current(scratch)
    answer_cells.verdict_line(shown)
    if not scratch.edits:
        answer_cells.fault_line(run_id, stored)
    with st.container(horizontal=True):
        offer_question(run_id, stored.question.id)
        offer_notebook(run_id, shown)
    by_hand = scratch.values is not None and shown is not stored
    answer_cells.show(run_id, shown, "page", answer_tools.tools(scratch), by_hand=by_hand)


def offer_question(run_id: str, question_id: str) -> None:
    """Lead to the question, when the benchmark of the run still has it."""
    row = answer_scratch.stored_benchmark(run_id)
    if row is not None and question_id in benchmark_choice.reading(row.id, row.revision):
        link = {"benchmark": row.id, "q": question_id}
        frame.link_button("Open this question", frame.QUESTIONS, "open_question", kind="tertiary", **link)


def offer_notebook(run_id: str, result: VerificationResult) -> None:
    """Offer the evaluation, as it is shown, as a Jupyter notebook that runs."""

    def notebook() -> bytes:
        from karenina_core.analysis import to_notebook

        source = answer_scratch.edited_source()
        copy = answer_scratch.copy_of(run_id)
        if source is None and result.question.id in copy:
            source = copy.get_template(result.question.id)
        return to_notebook(result, source, services.store().annotations.all(run_id, result.result_id))

    name, mime = f"answer-{result.result_id}.ipynb", "application/x-ipynb+json"
    download("Export as notebook", notebook, name, mime, type="tertiary", key="export_notebook")


with frame.guard():
    chosen_run = run_choice.choose_run("answer", with_results=True)
    above = st.container()
    answer_reverify.draw(chosen_run)
    look = forms.linked("look", "Look at", LOOKS, few=True, label_visibility="collapsed") or "answer"
    if look == "answer":
        one_answer(chosen_run, above)
    else:
        with above:
            feedback.show(chosen_run, look)
        {"triage": answer_triage.board, "rules": answer_triage.relaxed_rules}[look](chosen_run)
