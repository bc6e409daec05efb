"""Starting a batch of drafts from a page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.runs import BenchmarkRow
from karenina_core.schemas import ModelConfig
from pages.components import frame, services, session_keys, sign_in

_PATIENCE = 1.0  # seconds; few questions are drafted within it, and need no progress bar


def begin(
    row: BenchmarkRow,
    question_ids: Sequence[str],
    model: ModelConfig | None,
    *,
    replace_existing: bool = False,
    continues: bool = False,
    alone: bool = False,
    max_cost: float | None = None,
) -> None:
    """Start a batch with the keys of this session, give it a moment, and draw the page anew."""
    with frame.guard():
        drafter = services.drafter()
        drafter.start(
            row.id,
            model,
            question_ids=question_ids,
            replace_existing=replace_existing,
            continues=continues,
            alone=alone,
            max_cost=max_cost,
            keys=session_keys.source(),
            author=sign_in.person(),
        )
        with st.spinner("Drafting …"):
            drafter.wait(row.id, question_ids[0] if alone else None, timeout=_PATIENCE)
        st.rerun()
