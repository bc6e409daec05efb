"""Download buttons of the Explore pages."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.schemas import VerificationResultSet
from karenina_core.workbook import MIME
from pages.components import services
from pages.components.results import data as results_data


def buttons(run_id: str, rows: int, result_ids: Sequence[str] | None = None) -> None:
    """Offer results as CSV, Excel and JSON; files are made when asked for.

    Args:
        run_id: The run.
        rows: How many they are.
        result_ids: Only these; all of the run when not given.
    """
    which = f"all {rows:,}" if result_ids is None else f"these {rows:,}"

    def stored() -> VerificationResultSet:
        return VerificationResultSet(results_data.stored(run_id, result_ids), run_id)

    def csv() -> bytes:
        from karenina_core.analysis import to_csv

        return to_csv(stored(), services.store().annotations.all(run_id))

    def xlsx() -> bytes:
        from karenina_core.analysis import to_xlsx

        return to_xlsx(stored(), services.store().annotations.all(run_id))

    def json() -> bytes:
        from karenina_core.analysis import to_json

        store = services.store()
        reviews = store.annotations.all(run_id, undone=None)
        return to_json(stored(), store.runs.get(run_id).config, reviews)

    st.download_button(
        f"CSV, {which}",
        csv,
        file_name=f"results-{run_id}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    st.download_button(
        f"Excel, {which}",
        xlsx,
        file_name=f"results-{run_id}.xlsx",
        mime=MIME,
        icon=":material/download:",
        on_click="ignore",
    )
    st.download_button(
        f"JSON, {which}",
        json,
        file_name=f"results-{run_id}.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )
