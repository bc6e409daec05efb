"""What a run will cost, said and agreed to before anything is spent."""

from __future__ import annotations

import hashlib

import streamlit as st

from karenina_core.runs import Estimate
from karenina_core.runs.budget import daily_budget, dollars
from karenina_core.runs.estimate import ASSUMPTION
from karenina_core.schemas.config import VerificationConfig
from pages.components import services
from pages.components.text import plain


def ask_limit() -> float | None:
    """Draw the field for the run's limit and return it; None without a limit."""
    limit: float | None = st.number_input(
        "Spend at most (US dollars; empty for no limit)",
        min_value=0.01,
        value=5.0,
        key="cfg_max_cost",
        persist_state="session",
        help="The run stops when this is spent; calls in flight at that moment are finished. "
        "Models without a known price do not count.",
        width=320,
    )
    return limit


def confirm(expected: Estimate | None, config: VerificationConfig) -> bool:
    """Draw what a run is expected to take from providers, and return whether it may start.

    What was agreed to counts for this very configuration; a change asks again.
    """
    if expected is None:
        return True
    st.markdown(f"**About {expected.calls} calls of providers, {plain(expected.cost)}.**")
    st.caption(plain(ASSUMPTION))
    bound = daily_budget()
    if bound is not None:
        today = services.store().spent_today()
        st.caption(f"Spent today, by all runs: {plain(dollars(today))} of at most {plain(dollars(bound))}.")
    return st.checkbox(
        "I have read this; the run may spend money and send the questions to these providers.",
        key=f"cfg_confirm_{_digest(expected, config)}",
    )


def _digest(expected: Estimate, config: VerificationConfig) -> str:
    return hashlib.sha256(f"{expected}{config.model_dump_json()}".encode()).hexdigest()[:16]
