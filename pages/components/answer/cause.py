"""Whose fault a failure is, in one line: what a person said, or what the evidence suggests."""

from __future__ import annotations

import streamlit as st

from karenina_core.analysis import whose_fault
from karenina_core.schemas import VerificationResult
from pages.components import frame, services
from pages.components.answer import scratch as answer_scratch
from pages.components.text import plain


def line(run_id: str, result: VerificationResult) -> None:
    """Say whose fault a stored result without a pass is; nothing for one that passed."""
    with frame.guard():
        reviews = services.store().annotations.all(run_id, result.result_id)
        fault = whose_fault(result, reviews, lambda: answer_scratch.benchmark_of_today(run_id))
        if fault is None:
            return
        words = plain(fault.words, 400)
        if fault.who is None:
            st.markdown(f":orange-badge[:material/help: whose fault] {words}")
        else:
            st.markdown(f":green-badge[:material/person_check: reviewed] {plain(fault.who, 80)} says: {words}.")
