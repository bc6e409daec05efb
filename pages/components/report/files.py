"""What a report will say, and the files it is made into."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from karenina_core.analysis import FORMATS
from karenina_core.analysis.formats import Options
from pages.components import services
from pages.components.report.options import Wanted
from pages.components.results import data as results_data
from pages.components.text import plain, short, unbroken, visible

_REPORTS = ("html", "markdown", "latex")
_DEFAULTS = Options()


def preview(run_ids: Sequence[str]) -> None:
    """Show the sentences the report begins with, ready to be copied."""
    with st.container(border=True):
        st.markdown("**What it says of the models**")
        lines = [line for run_id in run_ids for line in results_data.frames(run_id).headlines]
        for line in lines:
            st.markdown(unbroken(f"- {plain(line)}"))
        with st.expander("Copy as text", icon=":material/content_copy:"):
            st.code(visible("\n".join(lines)), language=None, wrap_lines=True)
        st.caption(
            "Then figures, tables, the answers you choose, and a box with the benchmark's hash, the configuration "
            "without keys, template sources and versions."
        )


def reports(run_ids: Sequence[str], wanted: Wanted) -> None:
    """Offer the report in every format."""
    st.subheader("The report")
    with st.container(horizontal=True):
        for name in _REPORTS:
            kind = FORMATS[name]
            st.download_button(
                f"{kind.label}: {kind.purpose}",
                _written(name, run_ids, wanted),
                file_name=f"report-{run_ids[0]}.{kind.ending}",
                mime=kind.mime,
                type="primary" if name == "html" else "secondary",
                icon=":material/download:",
                on_click="ignore",
                key=f"report_{name}",
            )


def _written(name: str, run_ids: Sequence[str], wanted: Wanted) -> Callable[[], bytes]:
    def write() -> bytes:
        from karenina_core.analysis import report

        whole = report.report_of_runs(
            services.store(), run_ids, wanted.options, title=wanted.title, author=wanted.author
        )
        if name == "html":
            return report.as_html(whole)
        return (report.as_markdown(whole) if name == "markdown" else report.as_latex(whole)).encode()

    return write


def data(run_ids: Sequence[str]) -> None:
    """Offer the data of every run."""
    st.subheader("The data")
    st.caption(
        "Every evaluation of a run, whatever the report shows. Nothing in these files runs when they are opened."
    )
    st.caption(" · ".join(f"{kind.label}: {kind.purpose}" for name, kind in FORMATS.items() if name not in _REPORTS))
    for run_id in run_ids:
        if len(run_ids) > 1:
            st.markdown(f"**{plain(short(services.store().runs.get(run_id).name))}**")
        with st.container(horizontal=True):
            for name in FORMATS:
                if name not in _REPORTS:
                    _download(run_id, name)


def _download(run_id: str, name: str) -> None:
    kind = FORMATS[name]
    st.download_button(
        kind.label,
        lambda: kind.content(services.store(), run_id, _DEFAULTS),
        file_name=f"results-{run_id}.{kind.ending}",
        mime=kind.mime,
        icon=":material/table_view:",
        on_click="ignore",
        help=kind.purpose[0].upper() + kind.purpose[1:],
        key=f"data_{name}_{run_id}",
    )
