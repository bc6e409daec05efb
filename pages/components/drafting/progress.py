"""A batch of drafts under way: how far it is, what it has spent, and the way to stop it."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import DraftBatch
from pages.components import services
from pages.components.text import plain


def draw(benchmark_id: str, question_id: str | None = None) -> None:
    """Draw the batch, and the page anew once it has ended. It goes on when the page is left.

    Args:
        benchmark_id: The benchmark.
        question_id: The question, for a draft made alone.
    """
    drafter = services.drafter()

    @st.fragment(run_every=1)
    def live() -> None:
        batch = drafter.batch(benchmark_id, question_id)
        if batch is None or not batch.active:
            st.rerun()
        who = plain(batch.model.id, 60) if batch.model else "the rules"
        st.progress(
            min(batch.done / batch.total, 1.0) if batch.total else 1.0,
            text=f"{batch.done} of {batch.total} drafted by {who}",
        )
        st.caption(in_numbers(batch))
        if st.button("Cancel", icon=":material/stop:", key="draft_cancel", help="What is drafted so far stays."):
            drafter.cancel(benchmark_id, question_id)
            st.rerun()

    live()
    st.caption("You can leave this page; drafting goes on.")


def in_numbers(batch: DraftBatch) -> str:
    """Return the counts, the pace and the account of a batch in one line."""
    parts = [
        f"✓ {len(batch.of('checked'))} checked",
        f"! {len(batch.of('needs_review'))} to review",
        f"– {len(batch.of('none'))} without a draft",
    ]
    if batch.waiting:
        parts.append(f"{batch.waiting} being saved")
    if batch.per_minute is not None:
        parts.append(f"{batch.per_minute:.0f} per minute")
    left = batch.seconds_left
    if left is not None:
        parts.append(f"about {_duration(left)} left")
    if batch.model is not None:
        parts.append(f"{batch.calls} calls")
        if batch.model.is_provider:
            parts.append("spend unknown" if batch.cost is None and batch.calls else f"${batch.cost or 0:.4f} spent")
    return plain(" · ".join(parts))


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
