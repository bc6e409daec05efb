"""The answer as a notebook that runs."""

from __future__ import annotations

import streamlit as st

from karenina_core.schemas import VerificationResult
from pages.components import services
from pages.components.answer import scratch as answer_scratch


def button(run_id: str, result: VerificationResult) -> None:
    """Offer the evaluation, as it is shown, as a Jupyter notebook."""

    def notebook() -> bytes:
        from karenina_core.analysis import to_notebook

        reviews = services.store().annotations.all(run_id, result.result_id)
        return to_notebook(result, _source(run_id, result), reviews)

    st.download_button(
        "Export as notebook",
        notebook,
        file_name=f"answer-{result.result_id}.ipynb",
        mime="application/x-ipynb+json",
        icon=":material/download:",
        on_click="ignore",
        type="tertiary",
        key="export_notebook",
    )


def _source(run_id: str, result: VerificationResult) -> str | None:
    """Return the template that decided the result as it is shown: the edited one, or that of the run."""
    edited = answer_scratch.edited_source()
    if edited is not None:
        return edited
    copy = answer_scratch.copy_of(run_id)
    return copy.get_template(result.question.id) if result.question.id in copy else None
