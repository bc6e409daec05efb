"""The list of stored benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from karenina_core.runs import BenchmarkRow
from pages.components import feedback, services, state
from pages.components.text import plain, short
from pages.components.widgets import pick

_HERE, _DELETED = "In the workspace", "Deleted"


def choose(rows: Sequence[BenchmarkRow]) -> str | None:
    """Draw the list and return the id of the chosen benchmark."""
    deleted = services.store().benchmarks.all(deleted=True)
    if not rows and not deleted:
        st.info("No benchmarks yet. Drop a file above, add the demo, or start a new one.", icon=":material/info:")
        return None
    view = _HERE
    if deleted:
        view = st.segmented_control(
            "View", [_HERE, _DELETED], default=_HERE, required=True, key="benchmark_view", label_visibility="collapsed"
        )
    if view == _DELETED:
        _restore(deleted)
        return None
    if not rows:
        st.info(
            "Every benchmark here is deleted. Restore one from the deleted ones, or add another.",
            icon=":material/info:",
        )
        return None
    return _choose(rows)


def _choose(rows: Sequence[BenchmarkRow]) -> str | None:
    chosen = state.selected("benchmark", [row.id for row in rows])
    search = st.text_input(
        "Search",
        type="search",
        live=True,
        key="benchmark_search",
        placeholder="Name or description",
        label_visibility="collapsed",
    )
    shown = [row for row in rows if search.casefold() in f"{row.name}\n{row.description}".casefold()]
    st.caption(f"{len(shown)} of {len(rows)} shown, the last modified first")
    if not shown:
        st.info("No benchmark matches. Clear the search to see all.", icon=":material/search_off:")
        return chosen
    ids = [row.id for row in shown]
    names = Counter(row.name for row in rows)
    rows_shown = [
        {
            "Name": short(row.name if names[row.name] == 1 else f"{row.name} · {row.version}", 80),
            "Questions": row.question_count,
            "Finished": row.finished_count,
        }
        for row in shown
    ]
    # In pixels, and together no more than a telephone has beside the boxes to tick; a wide screen gives more to each.
    columns = {
        "Name": st.column_config.TextColumn(width=158),
        "Questions": st.column_config.NumberColumn(width=70),
        "Finished": st.column_config.NumberColumn(width=65),
    }
    picked = pick("benchmark_table", ids, rows_shown, chosen, alt="Benchmarks", columns=columns)
    if picked != chosen:
        state.choose("benchmark", picked)
    return picked


def _restore(deleted: Sequence[BenchmarkRow]) -> None:
    for row in deleted:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(row.name, 80)}** · {row.question_count} questions", width="stretch")
            if st.button("Restore", icon=":material/restore_from_trash:", key=f"restore_{row.id}"):
                services.store().benchmarks.restore(row.id)
                state.choose("benchmark", row.id)
                feedback.say(f"Restored **{plain(row.name, 60)}**.")
                st.rerun()
