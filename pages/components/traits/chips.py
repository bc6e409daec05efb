"""The items behind the metrics of a trait, as chips, and the arithmetic in words."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.pipeline import arithmetic
from karenina_core.schemas import ConfusionPart
from pages.components.text import plain

_BUCKETS = (
    ("tp", "TP", "named, and right", "green", ":material/check:"),
    ("fp", "FP", "named, and wrong", "red", ":material/close:"),
    ("tn", "TN", "left to the negative class, and right", "blue", ":material/check:"),
    ("fn", "FN", "should have been named", "orange", ":material/priority_high:"),
    ("not_mentioned", "–", "not mentioned, so not counted", "gray", ":material/remove:"),
)
_MOST = 60


def draw(part: ConfusionPart, metrics: Sequence[str]) -> None:
    """Draw chips by bucket, with what each bucket means, then one line of arithmetic for every metric."""
    for name, sign, meaning, color, icon in _BUCKETS:
        items = getattr(part, name)
        if not items and name in ("tn", "not_mentioned"):
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{sign} {len(items)}** {meaning}:" if items else f"**{sign} 0** {meaning}", width="content")
            for item in items[:_MOST]:
                st.markdown(f":{color}-badge[{icon} {sign} {plain(item, 60)}]", width="content")
            if len(items) > _MOST:
                st.caption(f"and {len(items) - _MOST} more")
    counts = (len(part.tp), len(part.fp), len(part.tn), len(part.fn))
    st.markdown("\n".join(f"- {plain(line)}" for line in arithmetic(metrics, *counts)))
