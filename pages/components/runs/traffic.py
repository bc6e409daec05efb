"""Drawing what a run has in flight: its pace, its models, and the calls that are tried again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from karenina_core.models import ModelTraffic
from karenina_core.runs import Progress, quote
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
_NUMBER, _TEXT = st.column_config.NumberColumn, st.column_config.TextColumn
_COLUMNS = {
    "Model": _TEXT(width=140),
    "State": _TEXT(width=170, help="With the seconds until its next call, where it waits."),
    "Limit": _NUMBER(
        help="Calls that may be in flight at the same time. Found out as the run goes on: fewer when the provider asks "
        "for a slower pace, then more again."
    ),
    "In flight": _NUMBER(help="Calls that are being answered."),
    "Waiting": _NUMBER(help="Calls that wait for a free place."),
    "Slow-downs": _NUMBER(help="How often the provider asked for a slower pace."),
    "Requests": _NUMBER(help="Requests that were answered or failed. One that is tried again counts again."),
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
            services.runner().set_concurrency(progress.run_id, ceiling)
            st.rerun()


def is_held_up(progress: Progress) -> bool:
    """Return whether nothing is being answered, because a provider asks for patience or a call waits for its retry."""
    if any(model.in_flight for model in progress.traffic):
        return False
    return bool(progress.retries) or any(model.state in _HOLDING for model in progress.traffic)


def draw(progress: Progress) -> None:
    """Draw the models that the run calls, and what is the matter with them."""
    if progress.active and progress.traffic:
        _table(progress)
    for model in progress.traffic:
        if model.reason:
            st.warning(
                plain(f"{model.reason} It is asked again when the run is resumed.", 500),
                title=f"{plain(model.model, 60)} was stopped",
            )
    if progress.retries:
        st.caption(plain(_retries(progress), 300))


def _table(progress: Progress) -> None:
    config = services.store().runs.get(progress.run_id).config
    models = (*config.answering_models, *config.parsing_models)
    labels, own = [model.id for model in models], services.store().settings.prices()
    priced = {model.id for model in models if quote(model, own).price is not None}
    places = {label: place for place, label in enumerate(labels)}
    st.markdown("**Models**")
    st.dataframe(
        # As they were configured: the first call of a run may be anybody's.
        [
            _row(model, _state(progress, model), priced=all(name in priced for name in names))
            for names, model in sorted(
                ((_names(model, labels), model) for model in progress.traffic),
                key=lambda pair: min((places[name] for name in pair[0]), default=len(labels)),
            )
        ],
        hide_index=True,
        placeholder="–",
        alt="Models of the run and their calls",
        column_config=_COLUMNS,
    )
    since = "Requests and spend are counted since the run was started or resumed last."
    if progress.ceiling is not None:
        since = f"Calls in flight at once, over all models: at most {progress.ceiling}. {since}"
    st.caption(since)


def _names(model: ModelTraffic, labels: Sequence[str]) -> list[str]:
    """Return the labels that a line stands for; several where they are the same model."""
    return [model.model] if model.model in labels else [name for name in model.model.split(" / ") if name in labels]


def _state(progress: Progress, model: ModelTraffic) -> str:
    if model.state in _HOLDING and model.seconds >= 1:
        return f"{_STATES[model.state]}, {model.seconds:.0f} s"
    again = [retry.seconds for retry in progress.retries if retry.model == model.model]
    if model.state == "open" and not model.in_flight and again:
        return f"waits for a retry, {min(again):.0f} s"
    if model.state == "open" and progress.status == "paused" and not model.in_flight:
        return "resting"
    return _STATES[model.state]


def _row(model: ModelTraffic, state: str, *, priced: bool) -> dict[str, object]:
    spend = "nothing yet" if priced else "unknown"
    return {
        "Model": short(model.model, 60),
        "State": state,
        "Limit": model.limit,
        "In flight": model.in_flight,
        "Waiting": model.waiting,
        "Slow-downs": model.throttled,
        "Requests": model.requests,
        "Per minute": None if model.per_minute is None else round(model.per_minute),
        "Spend": spend if model.cost is None else _spent(model.cost),
    }


def _spent(cost: float) -> str:
    return "< $0.0001" if 0 < cost < 0.00005 else f"${cost:.4f}"


def _retries(progress: Progress) -> str:
    number = len(progress.retries)
    reasons = causes.listed(Counter(retry.category for retry in progress.retries))
    soonest = min(retry.seconds for retry in progress.retries)
    calls = "1 call waits" if number == 1 else f"{number} calls wait"
    return f"{calls} for another attempt, the next in {soonest:.0f} s: {reasons}."
