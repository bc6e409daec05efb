"""The traits of one answer: values, reasons, and what a metric trait counted."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from karenina_core.schemas import CallRecord, ConfusionPart, VerificationResult
from pages.components.text import plain, short, visible


def show(result: VerificationResult, key: str, messages: Callable[[CallRecord], None]) -> None:
    """Show all traits with their reasons.

    Args:
        result: The evaluation.
        key: Goes before the keys of widgets.
        messages: Draws what a call sent.
    """
    part = result.rubric
    if not part.performed:
        st.caption("No rubric was evaluated.")
        return
    rows = _rows(result)
    if rows:
        st.dataframe(rows, hide_index=True, alt="Traits of this answer", width="stretch")
    for name, metrics in part.metrics.items():
        values = " · ".join(
            f"{metric} {value:.2f}" + (" (undefined)" if metric in part.confusion[name].undefined else "")
            for metric, value in metrics.items()
        )
        st.markdown(f"**{plain(name)}**: {values}")
        _confusion(part.confusion[name])
    if part.calls:
        with st.expander("What the judge saw, and what it replied", on_change="rerun", key=f"{key}_rubric") as view:
            if view.open:
                for call in part.calls:
                    messages(call)
                    st.caption("reply")
                    st.code(visible(call.reply or ""), language=None, wrap_lines=True)


def _rows(result: VerificationResult) -> list[dict[str, str]]:
    part = result.rubric
    rows = [(name, _score(result, name), part.reasons.get(name, "")) for name in part.scores]
    rows += [(name, "✓ yes" if value else "✗ no", "pattern") for name, value in part.regex.items()]
    rows += [(name, "not evaluated", why) for name, why in part.errors.items()]
    return [{"Trait": short(name, 60), "Value": short(value, 60), "Why": short(why, 300)} for name, value, why in rows]


def _score(result: VerificationResult, name: str) -> str:
    value = result.rubric.scores[name]
    if name in result.rubric.labels:
        return result.rubric.labels[name]
    if isinstance(value, bool):
        return "✓ yes" if value else "✗ no"
    return str(value)


def _confusion(part: ConfusionPart) -> None:
    for sign, title, items, color in (
        ("✓", "found (TP)", part.tp, "green"),
        ("✗", "wrongly named (FP)", part.fp, "red"),
        ("!", "missed (FN)", part.fn, "orange"),
        ("✓", "rightly excluded (TN)", part.tn, "blue"),
        ("–", "not mentioned, not counted", part.not_mentioned, "gray"),
    ):
        if items:
            chips = " ".join(f":{color}-badge[{sign} {plain(item, 60)}]" for item in items)
            st.markdown(f"{title}: {chips}")
