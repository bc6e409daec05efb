"""The form of one rubric trait."""

from __future__ import annotations

import streamlit as st

from karenina_core.schemas import METRICS_BY_MODE, StoredTrait
from pages.components.drafts import Draft
from pages.components.text import plain
from pages.components.traits.values import metric_mode, unavailable_metrics

_ANSWERS = {"score": "A score", "binary": "Yes or no", "literal": "One of several classes"}
_DIRECTIONS = {"higher": "Higher is better", "lower": "Lower is better", "none": "Neither"}


def draw(kind: str, draft: Draft) -> None:
    """Draw the widgets of a trait of type `llm`, `regex` or `metric`."""
    st.text_input("Name", **draft.text("name"), max_chars=255, placeholder="Unique in this rubric")
    {"llm": _llm, "regex": _regex, "metric": _metric}[kind](draft)


def _llm(draft: Draft) -> None:
    st.text_area(
        "What the judge assesses",
        **draft.text("description"),
        height=110,
        placeholder="Rate how clear the answer is, from 1 (confusing) to 5 (crystal clear).",
    )
    kind = st.segmented_control(
        "The judge answers with",
        list(_ANSWERS),
        format_func=_ANSWERS.__getitem__,
        required=True,
        **draft.choice("kind"),
    )
    if kind == "score":
        low, high = st.columns(2)
        low.number_input("Lowest score", step=1, **draft.text("min_score"))
        high.number_input("Highest score", step=1, **draft.text("max_score"))
    if kind == "literal":
        st.text_area(
            "Classes, one per line",
            **draft.text("classes"),
            height=120,
            placeholder="formal: written as for a journal\ncasual: written as in a chat",
            help="2 to 20 lines: the name of the class, a colon, and what it means.",
        )
    _direction(draft)


def _regex(draft: Draft) -> None:
    st.text_area("What it is for (optional)", **draft.text("description"), height=80)
    st.text_input(
        "Regular expression",
        **draft.text("pattern"),
        placeholder=r"\bBH3\b",
        help="Searched anywhere in the answer, within a time limit.",
    )
    with st.container(horizontal=True):
        st.toggle("Letters must match in case", **draft.text("case_sensitive"))
        st.toggle("Fail when it is found", **draft.text("invert"))
    _direction(draft)


def _metric(draft: Draft) -> None:
    st.text_area("What is classified (optional)", **draft.text("description"), height=80)
    left, right = st.columns(2)
    left.text_area(
        "Positive class, one per line",
        **draft.text("tp_instructions"),
        height=150,
        placeholder="asthma\nbronchitis",
        help="What should be identified. Named in the answer: a true positive. Missing: a false negative.",
    )
    right.text_area(
        "Negative class, one per line",
        **draft.text("tn_instructions"),
        height=150,
        help="Only where the question asks to sort items into two classes. Turns the full confusion matrix on.",
    )
    mode = metric_mode(draft.values)
    st.caption(
        ":material/grid_view: Mode: **full matrix**. Both classes are given, so true negatives count."
        if mode == "full_matrix"
        else ":material/grid_view: Mode: **true positives only**. Any other item the answer names is a false positive."
    )
    st.pills(
        "Metrics", list(METRICS_BY_MODE["full_matrix"]), selection_mode="multi", wrap=True, **draft.choice("metrics")
    )
    unavailable = unavailable_metrics(draft.values)
    if unavailable:
        st.warning(
            "Without a negative class there are no true negatives. "
            "List the items of the negative class, or leave the metric out.",
            title=f"Not available in this mode: {', '.join(unavailable)}",
        )
    elif mode == "tp_only":
        st.caption("Accuracy and specificity become available with a negative class.")
    with st.expander("Expected mistakes", icon=":material/lightbulb:"):
        st.text_area("Expected false positives, one per line", **draft.text("fp_instructions"), height=90)
        st.text_area("Expected misses, one per line", **draft.text("fn_instructions"), height=90)
        st.caption("They only help to highlight; they change no number.")
    st.toggle("Count an item once, however often it is mentioned", **draft.text("repeated_extraction"))


def _direction(draft: Draft) -> None:
    st.segmented_control(
        "Direction",
        list(_DIRECTIONS),
        format_func=_DIRECTIONS.__getitem__,
        required=True,
        **draft.choice("direction"),
        help="Used by charts and comparisons.",
    )


def stored(trait: StoredTrait) -> None:
    """Show a trait that is kept but not evaluated."""
    st.markdown(f"**{plain(trait.name)}**")
    st.info(
        f"A trait of kind {plain(trait.kind)}: {plain(trait.reason)}. It is written back to files unchanged.",
        title="Kept, not evaluated",
        icon=":material/inventory_2:",
    )
    if trait.description:
        st.caption(plain(trait.description))
    with st.expander("What the file holds"):
        st.json(trait.rating)
