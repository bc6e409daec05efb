"""Download buttons of the Explore pages."""

from __future__ import annotations

import streamlit as st

from karenina_core.workbook import MIME
from pages.components import results_data, services


def buttons(run_id: str, rows: int) -> None:
    """Offer the run's results as CSV, Excel and JSON; files are made when asked for."""

    def csv() -> bytes:
        from karenina_core.analysis.spreadsheet import to_csv

        return to_csv(results_data.stored(run_id))

    def xlsx() -> bytes:
        from karenina_core.analysis.spreadsheet import to_xlsx

        return to_xlsx(results_data.stored(run_id))

    def json() -> bytes:
        from karenina_core.analysis.export import to_json

        return to_json(results_data.stored(run_id), services.store().run(run_id).config)

    st.download_button(
        f"CSV, all {rows}",
        csv,
        file_name=f"results-{run_id}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    st.download_button(
        f"Excel, all {rows}",
        xlsx,
        file_name=f"results-{run_id}.xlsx",
        mime=MIME,
        icon=":material/download:",
        on_click="ignore",
    )
    st.download_button(
        f"JSON, all {rows}",
        json,
        file_name=f"results-{run_id}.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )
