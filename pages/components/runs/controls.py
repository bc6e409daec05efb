"""The buttons of a run: pause, pace, cancel, resume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from karenina_core.errors import KareninaError
from karenina_core.runs import Progress, with_answers
from karenina_core.schemas.config import VerificationConfig
from pages.components import frame, services, session_keys
from pages.components.runs import spending
from pages.components.runs import traffic as monitor_traffic
from pages.components.text import plain

_TROUBLE = "_monitor_trouble"


def draw(progress: Progress) -> None:
    """Draw the buttons that make sense now."""
    runner, run_id = services.runner(), progress.run_id
    here = progress.ceiling is not None
    _trouble(run_id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if progress.active and not here:
            st.caption("Another process carries this run out; pause or cancel it there.")
        if progress.status == "running" and here and st.button("Pause", key="pause", icon=":material/pause:"):
            with _acting(run_id):
                runner.pause(run_id)
        if progress.status == "paused" and st.button("Continue", key="continue", icon=":material/play_arrow:"):
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
        _resume(progress)
        if progress.done and st.button(
            "See results",
            key="see_results",
            type="secondary" if _unfinished(progress) else "primary",
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


def _resume(progress: Progress) -> None:
    if progress.active or not (progress.done < progress.total or progress.errors):
        return
    run_id = progress.run_id
    limit = services.store().run(run_id).config.max_cost
    spent_out = limit is not None and (progress.cost or 0.0) >= limit
    _expected(run_id)
    config = _answers(run_id)
    if limit is not None and spent_out:
        limit = st.number_input(
            "Spend at most, in all (US dollars)", min_value=0.01, value=max(0.01, 2 * limit), key="new_limit", width=220
        )
    if st.button(
        "Raise the limit and resume" if spent_out else "Resume",
        key="resume",
        type="primary" if _unfinished(progress) else "secondary",
        icon=":material/replay:",
        help="Finishes what is missing and tries failed evaluations again; answered calls are not asked twice.",
    ):
        with _acting(run_id):
            if spent_out:
                services.store().limit_cost(run_id, limit)
            services.runner().resume(run_id, config, session_keys.source())


def _unfinished(progress: Progress) -> bool:
    return not progress.active and progress.done < progress.total


def _expected(run_id: str) -> None:
    """Say what is left to spend; it was agreed to when the run was started."""
    found = spending.expected(services.store().run_plan(run_id), run_id)
    if found is not None and found.calls:
        st.markdown(f"Left: {spending.sentence(found)}")


def _answers(run_id: str) -> VerificationConfig | None:
    """Ask for the prepared answers of the run where this process has not seen them."""
    missing = services.runner().needs_answers(run_id)
    if not missing:
        return None
    from karenina_core.models.manual import parse_answers

    given = st.file_uploader(
        f"Prepared answers of {plain(', '.join(missing), 120)}",
        type=["json", "csv"],
        key=f"resume_answers_{run_id}",
        help="They are not stored with a run, so give the file once more.",
    )
    if given is None:
        return None
    config = None
    with frame.guard():
        config = with_answers(services.store().run(run_id).config, parse_answers(given.getvalue(), given.name))
    return config
