"""The buttons of a run (pause, pace, cancel, resume), and what it has in flight."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st

from karenina_core.errors import KareninaError
from karenina_core.models import ModelTraffic
from karenina_core.runs import Progress, quote, with_answers
from karenina_core.schemas import VerificationConfig, failures_in_words
from pages.components import forms, frame, services, session_keys
from pages.components.runs import spending
from pages.components.text import input_label, plain, short

_TROUBLE = "_monitor_trouble"
_LIMIT_OF = "_new_limit_of"


def draw(progress: Progress) -> None:
    """Draw the buttons that make sense now."""
    runner, run_id = services.runner(), progress.run_id
    here, running = progress.ceiling is not None, progress.status == "running"
    whose, error = st.session_state.get(_TROUBLE, (None, None))
    if error is not None and whose == run_id:
        frame.show_error(error)
    resumable = not progress.active and (progress.done < progress.total or bool(progress.errors))
    high = _say_left(progress) if resumable else 0.0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if progress.active and not here:
            st.caption("Another running copy of this app carries the run out. Pause, continue or cancel it there.")
        if running and here and forms.button("Pause", "pause", "pause"):
            _act(run_id, lambda: runner.pause(run_id))
        paused = progress.status == "paused" and here
        if paused and forms.button("Continue", "play_arrow", "continue", type="primary"):
            _act(run_id, lambda: runner.resume(run_id, keys=session_keys.source()))
        if running and here:
            _pace(progress)
        about = "Stops spending at once; what is done stays."
        if progress.active and here and forms.button("Cancel", "stop", "cancel", help=about):
            _act(run_id, lambda: runner.cancel(run_id))
        if resumable:
            _resume(progress, high)
        if progress.done:
            kind = "secondary" if progress.active or progress.done < progress.total else "primary"
            frame.link_button("See results", frame.RESULTS, "see_results", kind=kind, run=run_id)


def _act(run_id: str, what: Callable[[], object]) -> None:
    """Do what a button says and draw the run anew; an error stays until the next button, also while the page polls."""
    st.session_state.pop(_TROUBLE, None)
    try:
        what()
    except KareninaError as error:
        st.session_state[_TROUBLE] = (run_id, error)
    st.rerun()


def _pace(progress: Progress) -> None:
    for label, key, icon, ceiling, does in (
        ("Slow down", "slow_down", "keyboard_double_arrow_down", progress.paced(0.5), "Halves"),
        ("Speed up", "speed_up", "keyboard_double_arrow_up", progress.paced(2), "Doubles"),
    ):
        about = f"Calls in flight now: at most {progress.ceiling}. {does} that for the rest of the run."
        if forms.button(label, icon, key, disabled=ceiling is None, help=about) and ceiling is not None:
            services.runner().set_concurrency(progress.run_id, ceiling)
            st.rerun()


def resuming(progress: Progress) -> str:
    """Return what the button says that lets a run go on."""
    if _limit_reached(progress) is not None:
        return "Raise the limit and resume"
    errors = sum(progress.errors.values())
    if progress.done < progress.total or not errors:
        return "Resume"
    return "Retry the error" if errors == 1 else f"Retry the {errors:,} errors"


def _limit_reached(progress: Progress) -> float | None:
    """Return the run's limit in US dollars where it is spent."""
    limit = services.store().runs.get(progress.run_id).config.max_cost
    return limit if limit is not None and (progress.cost or 0.0) >= limit else None


def _say_left(progress: Progress) -> float:
    """Say what is left to spend, which was agreed to when the run was started, and return the most it costs."""
    expected = spending.expected(services.store().runs.plan(progress.run_id), progress.run_id)
    if expected is None:
        return 0.0
    if expected.calls:
        left = "Left" if progress.done < progress.total else "To try again"
        st.markdown(f"{left}: {spending.sentence(expected)}")
    return expected.high


def _resume(progress: Progress, high: float) -> None:
    run_id, limit = progress.run_id, _limit_reached(progress)
    config = _answers(run_id)
    if limit is not None:
        limit = _new_limit(run_id, max(2 * limit, (progress.cost or 0.0) + high))

    def resume() -> None:
        if limit is not None:
            services.store().runs.limit_cost(run_id, limit)
        services.runner().resume(run_id, config, session_keys.source())

    kind = "primary" if progress.done < progress.total else "secondary"
    about = "Finishes what is missing and tries errors again. Wrong answers stay, and nothing is asked twice."
    if forms.button(resuming(progress), "replay", "resume", type=kind, help=about):
        _act(run_id, resume)


def _new_limit(run_id: str, needed: float) -> float:
    enough, label = max(0.01, math.ceil(needed * 100) / 100), "Spend at most, in all (US dollars)"
    if st.session_state.get(_LIMIT_OF) != run_id:  # what was typed for another run is no proposal for this one
        st.session_state[_LIMIT_OF] = run_id
        st.session_state.pop("new_limit", None)
    return float(st.number_input(label, min_value=0.01, value=enough, key="new_limit", width=220))


def _answers(run_id: str) -> VerificationConfig | None:
    """Ask for the prepared answers of the run where this process has not seen them."""
    missing = services.runner().needs_answers(run_id)
    if not missing:
        return None
    from karenina_core.models import parse_answers

    label, about = input_label(", ".join(missing), 120), "They are not stored with a run, so give the file once more."
    key = f"resume_answers_{run_id}"
    given = st.file_uploader(f"Prepared answers of {label}", type=["json", "csv"], key=key, help=about)
    config = None
    if given is not None:
        with frame.guard():
            config = with_answers(services.store().runs.get(run_id).config, parse_answers(given.getvalue(), given.name))
    return config


# What is in flight

_STATES = {
    "open": "answering",
    "trying": "first call is out",
    "waiting": "asked to slow down",
    "suspended": "not answering",
    "stopped": "stopped",
}
_LIMIT = "Calls that may be in flight at once, found out as the run goes on: fewer when the provider asks to slow down."
_COLUMNS = {
    "Model": st.column_config.TextColumn(width=140),
    "State": st.column_config.TextColumn(width=170, help="With the seconds until its next call, where it waits."),
    "Limit": st.column_config.NumberColumn(help=_LIMIT),
    "Waiting": st.column_config.NumberColumn(help="Calls that wait for a free place."),
    "Slow-downs": st.column_config.NumberColumn(help="How often the provider asked for a slower pace."),
    "Requests": st.column_config.NumberColumn(help="Answered or failed; one that is tried again counts again."),
}
_HOLDING = {"waiting", "suspended"}


def is_held_up(progress: Progress) -> bool:
    """Return whether nothing is being answered, because a provider asks to wait or a call waits for its retry."""
    if any(model.in_flight for model in progress.traffic):
        return False
    return bool(progress.retries) or any(model.state in _HOLDING for model in progress.traffic)


def traffic(progress: Progress) -> None:
    """Draw the models that the run calls, and what is the matter with them."""
    if progress.active and progress.traffic:
        _table(progress)
    for model in progress.traffic:
        if model.reason:
            words = plain(f"{model.reason} It is asked again when the run is resumed.", 500)
            st.warning(words, title=f"{plain(model.model, 60)} was stopped")
    if progress.retries:
        reasons = failures_in_words(Counter(retry.category for retry in progress.retries))
        soonest = min(retry.seconds for retry in progress.retries)
        number = len(progress.retries)
        calls = "1 call waits" if number == 1 else f"{number} calls wait"
        st.caption(plain(f"{calls} for another attempt, the next in {soonest:.0f} s: {reasons}.", 300))


def _table(progress: Progress) -> None:
    config = services.store().runs.get(progress.run_id).config
    models = (*config.answering_models, *config.parsing_models)
    labels, own = [model.id for model in models], services.store().settings.prices()
    priced = {model.id for model in models if quote(model, own).price is not None}
    # As they were configured: the first call of a run may be anybody's.
    ordered = sorted(
        ((_names(model, labels), model) for model in progress.traffic),
        key=lambda pair: min(map(labels.index, pair[0]), default=len(labels)),
    )
    st.markdown("**Models**")
    st.dataframe(
        [_row(model, _state(progress, model), priced=priced.issuperset(names)) for names, model in ordered],
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
    waits = [retry.seconds for retry in progress.retries if retry.model == model.model]
    if model.state == "open" and not model.in_flight and waits:
        return f"waits for a retry, {min(waits):.0f} s"
    if model.state == "open" and progress.status == "paused" and not model.in_flight:
        return "resting"
    return _STATES[model.state]


def _row(model: ModelTraffic, state: str, *, priced: bool) -> dict[str, object]:
    spend = "nothing yet" if priced else "unknown"
    if model.cost is not None:
        spend = "< $0.0001" if 0 < model.cost < 0.00005 else f"${model.cost:.4f}"
    return {
        "Model": short(model.model, 60),
        "State": state,
        "Limit": model.limit,
        "In flight": model.in_flight,
        "Waiting": model.waiting,
        "Slow-downs": model.throttled,
        "Requests": model.requests,
        "Per minute": None if model.per_minute is None else round(model.per_minute),
        "Spend": spend,
    }
