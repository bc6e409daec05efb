"""The stored answers to a question, and choosing one of them."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import JudgedAnswer, stored_answers
from pages.components import services
from pages.components.text import short

_SIGN = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}


def stored(question_id: str) -> list[JudgedAnswer]:
    """Return the stored answers to a question, read once per state of the runs."""
    state = " ".join(f"{run.id}:{run.status}:{run.done}" for run in services.store().runs.all())
    return _stored(question_id, state)


@st.cache_resource(max_entries=16, show_spinner=False)
def _stored(question_id: str, state: str) -> list[JudgedAnswer]:
    return stored_answers(services.store(), question_id)


def choose(question_id: str, without: str, key: str) -> JudgedAnswer | None:
    """Draw the list of stored answers and return the chosen one, or None for the entry `without` any."""
    answers = stored(question_id)
    if not answers:
        st.caption("No run has an answer to this question yet.")
        return None
    by_id = {f"{answer.run_id}/{answer.result_id}": answer for answer in answers}
    chosen = st.selectbox(
        f"Answer ({len(answers)} stored)",
        [None, *by_id],
        format_func=lambda name: without if name is None else _label(by_id[name]),
        key=f"{key}_{question_id}",
    )
    return by_id.get(chosen) if chosen else None


def _label(answer: JudgedAnswer) -> str:
    again = f" · repeat {answer.replicate}" if answer.replicate > 1 else ""
    who = f"{short(answer.answering_model, 40)} · judge {short(answer.parsing_model, 40)}{again}"
    return f"{_SIGN[answer.verdict]} {who} · {short(answer.run_name, 40)}"
