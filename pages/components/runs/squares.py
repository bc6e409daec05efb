"""The evaluations of a run as squares, question by model, which fill up while it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from karenina_core.analysis import FIGURES, questions, rows_behind
from karenina_core.runs import Progress
from pages.components import services
from pages.components.answer import drawer as answer_drawer
from pages.components.results import chart_width

if TYPE_CHECKING:
    import pandas as pd

MOST = 500
"""A run with more evaluations is not read again every second; the page Results shows it."""
_CLICKED = "_square_clicked"
_TURN = "_square_turn"
_TALL = 420
_NARROW = 320  # pixels that a figure has on the screen of a telephone


def results(progress: Progress) -> pd.DataFrame | None:
    """Return what is evaluated so far, one row each; None where there is nothing yet, or too much for every second."""
    if not 0 < progress.done <= MOST:
        return None
    counts = (progress.done, progress.passed, progress.failed, progress.to_retry, progress.calls)
    return _read(progress.run_id, f"{progress.status} {counts}")


def draw(run_id: str, table: pd.DataFrame) -> None:
    """Draw the squares; `open_clicked` opens the answer behind one.

    Args:
        run_id: The run.
        table: As `results` returns it.
    """
    spec = FIGURES["questions"]
    # One column per model from the first answer on: columns for every repeat would come and go.
    figure = questions(table, replicates=False)
    least = int(figure.layout.width or figure.layout.meta["least_width"])
    boxed = figure.layout.height > _TALL or least > _NARROW
    key = _key(run_id)
    st.markdown(f"**{spec.question}**")
    if boxed:
        chart_width.legend(figure)
        figure.update_layout(showlegend=False)
    with st.container(height=min(figure.layout.height + 40, _TALL) if boxed else "content", border=boxed):
        if least > _NARROW:
            chart_width.keep(key, least)
        st.plotly_chart(
            figure,
            width=int(figure.layout.width) if figure.layout.width else "stretch",
            key=key,
            on_select=lambda: _note(run_id, key),
            selection_mode="points",
            config={"displayModeBar": False},
            alt=spec.question,
        )
    st.caption(spec.reading)


def clicked() -> bool:
    """Return whether a square was clicked whose answer is not open yet."""
    return _CLICKED in st.session_state


def open_clicked(run_id: str) -> None:
    """Open the answer behind the square that was clicked just now; the first where it stands for several.

    Call it outside the part of the page that is drawn every second, which would close the answer again.

    Args:
        run_id: The run that is shown.
    """
    whose, place = st.session_state.pop(_CLICKED, (None, None))
    if whose != run_id:
        return
    table = results(services.runner().progress(run_id))
    behind = [] if table is None else list(rows_behind(table, place)["result_id"])
    if behind:
        answer_drawer.open_drawer(run_id, str(behind[0]), [str(name) for name in behind])


def _key(run_id: str) -> str:
    return f"squares_{run_id}_{st.session_state.get(_TURN, 0)}"


def _note(run_id: str, key: str) -> None:
    selection: Any = st.session_state[key]
    points = selection["selection"]["points"]
    if points and points[0].get("customdata"):
        st.session_state[_CLICKED] = (run_id, points[0]["customdata"])
        # A chart of another name has nothing chosen, so that the same square can be clicked again.
        st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1


@st.cache_resource(show_spinner=False, max_entries=8)
def _read(run_id: str, revision: str) -> pd.DataFrame:
    from karenina_core.analysis import stored_results

    return stored_results(services.store(), run_id)
