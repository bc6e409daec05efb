"""Drawing what a run has in flight: its pace, its models, and the calls that are tried again."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from karenina_core.models.pace.traffic import ModelTraffic
from karenina_core.runs import Progress
from karenina_core.schemas import causes
from pages.components import services
from pages.components.text import plain, short

_STATES = {
    "open": "answering",
    "trying": "first call is out",
    "waiting": "asked to slow down",
    "suspended": "not answering",
    "stopped": "stopped",
}
_HOLDING = {"waiting", "suspended"}


def pace(progress: Progress) -> None:
    """Draw the buttons that change the pace, where the run is under way here."""
    if progress.status != "running" or progress.ceiling is None:
        return
    for label, key, icon, ceiling, does in (
        ("Slow down", "slow_down", ":material/keyboard_double_arrow_down:", progress.slower, "Halves"),
        ("Speed up", "speed_up", ":material/keyboard_double_arrow_up:", progress.faster, "Doubles"),
    ):
        about = f"Calls in flight now: at most {progress.ceiling}. {does} that for the rest of the run."
        if st.button(label, key=key, icon=icon, disabled=ceiling is None, help=about) and ceiling is not None:
            services.runner().pace(progress.run_id, ceiling)
            st.rerun()


def is_held_up(progress: Progress) -> bool:
    """Return whether nothing is being answered, because a provider asks for patience or a call waits for its retry."""
    if any(model.in_flight for model in progress.traffic):
        return False
    return bool(progress.retries) or any(model.state in _HOLDING for model in progress.traffic)


def draw(progress: Progress) -> None:
    """Draw the models that the run calls, and what is the matter with them."""
    if not progress.traffic:
        return
    st.markdown("**Models**")
    st.dataframe(
        [_row(model) for model in progress.traffic],
        hide_index=True,
        alt="Models of the run and their calls",
        column_config={"State": st.column_config.TextColumn(width="medium")},
    )
    if progress.ceiling is not None:
        st.caption(f"Calls in flight at once, over all models: at most {progress.ceiling}.")
    for model in progress.traffic:
        if model.reason:
            st.warning(
                plain(f"{model.reason} Resume asks it again.", 500), title=f"{plain(model.model, 60)} was stopped"
            )
    if progress.retries:
        st.caption(plain(_retries(progress), 300))


def _row(model: ModelTraffic) -> dict[str, object]:
    state = _STATES[model.state]
    if model.state in ("waiting", "suspended") and model.seconds >= 1:
        state += f", next call in {model.seconds:.0f} s"
    return {
        "Model": short(model.model, 60),
        "State": state,
        "Limit": model.limit,
        "In flight": model.in_flight,
        "Waiting": model.waiting,
        "Slow-downs": model.throttled,
        "Requests": model.requests,
        "Per minute": None if model.per_minute is None else round(model.per_minute),
        "Spend": "unknown" if model.cost is None else f"${model.cost:.4f}",
    }


def _retries(progress: Progress) -> str:
    number = len(progress.retries)
    reasons = causes.listed(Counter(retry.category for retry in progress.retries))
    soonest = min(retry.seconds for retry in progress.retries)
    calls = "1 call waits" if number == 1 else f"{number} calls wait"
    return f"{calls} for another attempt, the next in {soonest:.0f} s: {reasons}."
