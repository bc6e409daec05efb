"""The buttons of a run: pause, pace, cancel, resume."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from karenina_core.errors import KareninaError
from karenina_core.runs import Progress, with_answers
from karenina_core.schemas import VerificationConfig
from pages.components import frame, services, session_keys
from pages.components.runs import spending
from pages.components.runs import traffic as monitor_traffic
from pages.components.text import input_label

_TROUBLE = "_monitor_trouble"
_LIMIT_OF = "_new_limit_of"


def draw(progress: Progress) -> None:
    """Draw the buttons that make sense now."""
    runner, run_id = services.runner(), progress.run_id
    here = progress.ceiling is not None
    _trouble(run_id)
    high = _expected(progress) if _resumable(progress) else 0.0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if progress.active and not here:
            st.caption(
                "Another running copy of this app carries the run out. Pause, continue or cancel it there; here you "
                "can watch it."
            )
        if progress.status == "running" and here and st.button("Pause", key="pause", icon=":material/pause:"):
            with _acting(run_id):
                runner.pause(run_id)
        if (
            progress.status == "paused"
            and here
            and st.button("Continue", key="continue", type="primary", icon=":material/play_arrow:")
        ):
            with _acting(run_id):
                runner.resume(run_id, keys=session_keys.source())
        monitor_traffic.pace(progress)
        if (
            progress.active
            and here
            and st.button(
                "Cancel", key="cancel", icon=":material/stop:", help="Stops spending at once; what is done stays."
            )
        ):
            with _acting(run_id):
                runner.cancel(run_id)
        if _resumable(progress):
            _resume(progress, high)
        if progress.done and st.button(
            "See results",
            key="see_results",
            type="secondary" if progress.active or _unfinished(progress) else "primary",
            icon=":material/bar_chart:",
        ):
            st.switch_page(frame.RESULTS, query_params={"run": run_id})


@contextmanager
def _acting(run_id: str) -> Iterator[None]:
    """Do what a button says and draw the run anew; an error stays until the next button, also while the page polls."""
    st.session_state.pop(_TROUBLE, None)
    try:
        yield
    except KareninaError as error:
        st.session_state[_TROUBLE] = (run_id, error)
    st.rerun()


def _trouble(run_id: str) -> None:
    whose, error = st.session_state.get(_TROUBLE, (None, None))
    if error is not None and whose == run_id:
        frame.show_error(error)


def _resumable(progress: Progress) -> bool:
    return not progress.active and (progress.done < progress.total or bool(progress.errors))


def _resume(progress: Progress, high: float) -> None:
    run_id = progress.run_id
    label, limit = resuming(progress), _limit_reached(progress)
    config = _answers(run_id)
    if limit is not None:
        limit = _new_limit(run_id, max(2 * limit, (progress.cost or 0.0) + high))
    if st.button(
        label,
        key="resume",
        type="primary" if _unfinished(progress) else "secondary",
        icon=":material/replay:",
        help="Finishes what is missing and tries again what failed because of errors. Wrong answers stay as they are, "
        "and nothing that was answered is asked twice.",
    ):
        with _acting(run_id):
            if limit is not None:
                services.store().runs.limit_cost(run_id, limit)
            services.runner().resume(run_id, config, session_keys.source())


def _unfinished(progress: Progress) -> bool:
    return not progress.active and progress.done < progress.total


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


def _new_limit(run_id: str, needed: float) -> float:
    if st.session_state.get(_LIMIT_OF) != run_id:  # what was typed for another run is no proposal for this one
        st.session_state[_LIMIT_OF] = run_id
        st.session_state.pop("new_limit", None)
    enough = max(0.01, math.ceil(needed * 100) / 100)
    return float(
        st.number_input("Spend at most, in all (US dollars)", min_value=0.01, value=enough, key="new_limit", width=220)
    )


def _expected(progress: Progress) -> float:
    """Say what is left to spend, which was agreed to when the run was started, and return the most it costs."""
    found = spending.expected(services.store().runs.plan(progress.run_id), progress.run_id)
    if found is None:
        return 0.0
    if found.calls:
        left = "Left" if progress.done < progress.total else "To try again"
        st.markdown(f"{left}: {spending.sentence(found)}")
    return found.high


def _answers(run_id: str) -> VerificationConfig | None:
    """Ask for the prepared answers of the run where this process has not seen them."""
    missing = services.runner().needs_answers(run_id)
    if not missing:
        return None
    from karenina_core.models import parse_answers

    given = st.file_uploader(
        f"Prepared answers of {input_label(', '.join(missing), 120)}",
        type=["json", "csv"],
        key=f"resume_answers_{run_id}",
        help="They are not stored with a run, so give the file once more.",
    )
    if given is None:
        return None
    config = None
    with frame.guard():
        config = with_answers(services.store().runs.get(run_id).config, parse_answers(given.getvalue(), given.name))
    return config
