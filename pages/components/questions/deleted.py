"""Questions that were deleted, and the way back for them."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow, QuestionVersion, restore_version
from pages.components import feedback, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import plain

_MOST = 20


def draw(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw the deleted questions of a benchmark, the latest first; nothing where there are none."""
    deleted = _deleted(row.id, row.revision, tuple(benchmark.get_question_ids()))
    if not deleted:
        return
    with st.popover(f"Deleted ({len(deleted)})", icon=":material/delete_sweep:", key="deleted_questions"):
        for version in deleted[:_MOST]:
            with st.container(horizontal=True, vertical_alignment="center"):
                text = plain(version.content["question"], 80)
                st.markdown(f"{text} :gray[· {plain(version.saved[:16].replace('T', ' '))}]", width="stretch")
                if st.button("Bring back", key=f"bring_back_{version.question_id}", icon=":material/undo:"):
                    _bring_back(row, version)
        if len(deleted) > _MOST:
            st.caption(f"The last {_MOST} are shown.")


@st.cache_data(max_entries=8, show_spinner=False)
def _deleted(benchmark_id: str, revision: int, _present: tuple[str, ...]) -> list[QuestionVersion]:
    return services.store().benchmarks.deleted_questions(benchmark_id, _present)


def _bring_back(row: BenchmarkRow, version: QuestionVersion) -> None:
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            name = restore_version(benchmark, version.question_id, version.content)
        state.choose("q", name)
        feedback.say(f"**{plain(version.content['question'], 50)}** is back, at the end of the list.")
        st.rerun()
