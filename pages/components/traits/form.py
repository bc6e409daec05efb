"""The form of one rubric trait: the flat values it edits, its widgets, and what the linter says while one types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from karenina_core.authoring import Fix, lint_rubric
from karenina_core.schemas import (
    METRICS_BY_MODE,
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    RubricTrait,
    StoredTrait,
)
from pages.components import forms
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain

Values = dict[str, Any]
KINDS = {"llm": "Judged by a model", "regex": "Regular expression", "metric": "Found items: precision, recall, F1"}
_ANSWERS = {"score": "A score", "binary": "Yes or no", "literal": "One of several classes"}
_DIRECTIONS = {"higher": ("Higher is better", True), "lower": ("Lower is better", False), "none": ("Neither", None)}
_LISTS = ("tp_instructions", "tn_instructions", "fp_instructions", "fn_instructions")
_SCALE = {"kind": "score", "min_score": 1, "max_score": 5, "classes": ""}
_METRICS = ["precision", "recall", "f1"]
NEW: dict[str, Values] = {
    "llm": {"name": "", "description": "", **_SCALE, "direction": "higher"},
    "regex": {
        "name": "", "description": "", "pattern": "", "case_sensitive": True, "invert": False, "direction": "higher"
    },
    "metric": {
        "name": "", "description": "", "metrics": _METRICS, **dict.fromkeys(_LISTS, ""), "repeated_extraction": True
    },
}  # fmt: skip
"""What the form of a new trait shows, by type."""


def values_of(trait: RubricTrait | ManualRubricTrait | MetricRubricTrait) -> Values:
    """Return what the form shows of a trait."""
    dumped = trait.model_dump()
    values = {name: dumped.get(name) for name in NEW[trait.type]}
    values["description"] = trait.description or ""
    if "direction" in values:
        names = {higher: name for name, (_, higher) in _DIRECTIONS.items()}
        values["direction"] = names[trait.higher_is_better]
    if isinstance(trait, RubricTrait):
        values["kind"] = "binary" if trait.is_binary else trait.kind
        values["classes"] = "\n".join(f"{name}: {text}" for name, text in (trait.classes or {}).items())
    if isinstance(trait, MetricRubricTrait):
        values |= {name: "\n".join(dumped[name]) for name in _LISTS}
    return values


def trait_of(kind: str, values: Mapping[str, Any], before: AnyTrait | None = None) -> AnyTrait:
    """Return the trait a form describes.

    Args:
        kind: `llm`, `regex` or `metric`.
        values: The values of the form.
        before: The trait that was edited; what the form does not show is copied from it.

    Raises:
        ValueError: The values do not make a trait; says why.
    """
    if not values["name"].strip():
        raise ValueError("Give the trait a name.")
    data = {**values, "name": values["name"].strip(), "description": values["description"].strip() or None}
    data["summary"] = before.summary if before else None
    if "direction" in data:
        data["higher_is_better"] = _DIRECTIONS[data.pop("direction")][1]
    if kind == "llm":
        pairs = (line.partition(":") for line in lines(data["classes"]))
        classes = {name.strip(): text.strip() for name, _, text in pairs}
        return RubricTrait.model_validate(data | {"classes": classes if data["kind"] == "literal" else None})
    if kind == "regex":
        return ManualRubricTrait.model_validate(data)
    return MetricRubricTrait.model_validate(data | {name: lines(data[name]) for name in _LISTS})


def lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def yields(trait: AnyTrait) -> str:
    """Return what a trait yields, such as `score 1–5`, or that it is not evaluated."""
    if isinstance(trait, StoredTrait):
        return f"{trait.kind}: not evaluated"
    if isinstance(trait, ManualRubricTrait):
        return "pattern, inverted" if trait.invert else "pattern"
    if isinstance(trait, MetricRubricTrait):
        return ", ".join(trait.metrics)
    if trait.kind == "score":
        return f"score {trait.min_score}–{trait.max_score}"
    return "yes / no" if trait.is_binary else f"one of {len(trait.classes or {})} classes"


def draw(kind: str, draft: Draft) -> None:
    """Draw the widgets of a trait of type `llm`, `regex` or `metric`."""
    st.text_input("Name", **draft.text("name"), max_chars=255, placeholder="Unique in this rubric")
    {"llm": _llm, "regex": _regex, "metric": _metric}[kind](draft)
    if kind != "metric":
        st.segmented_control(
            "Direction",
            list(_DIRECTIONS),
            format_func=lambda name: _DIRECTIONS[name][0],
            required=True,
            **draft.choice("direction"),
            help="Used by charts and comparisons.",
        )


def _llm(draft: Draft) -> None:
    example = "Rate how clear the answer is, from 1 (confusing) to 5 (crystal clear)."
    st.text_area("What the judge assesses", **draft.text("description"), height=110, placeholder=example)
    bound = draft.choice("kind")
    kind = st.segmented_control(
        "The judge answers with", list(_ANSWERS), format_func=_ANSWERS.__getitem__, required=True, **bound
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


def _regex(draft: Draft) -> None:
    st.text_area("What it is for (optional)", **draft.text("description"), height=80)
    help_text = "Searched anywhere in the answer, within a time limit."
    st.text_input("Regular expression", **draft.text("pattern"), placeholder=r"\bBH3\b", help=help_text)
    with st.container(horizontal=True):
        st.toggle("Match upper and lower case exactly", **draft.text("case_sensitive"))
        st.toggle("Fail when it is found", **draft.text("invert"))


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
    full = bool(lines(draft.values["tn_instructions"]))
    st.caption(
        ":material/grid_view: Mode: **full matrix**. Both classes are given, so true negatives count."
        if full
        else ":material/grid_view: Mode: **true positives only**. Any other item the answer names is a false positive."
    )
    every = list(METRICS_BY_MODE["full_matrix"])
    st.pills("Metrics", every, selection_mode="multi", wrap=True, **draft.choice("metrics"))
    available = METRICS_BY_MODE["full_matrix" if full else "tp_only"]
    unavailable = [name for name in draft.values["metrics"] if name not in available]
    if unavailable:
        st.warning(
            "Without a negative class there are no true negatives. "
            "List the items of the negative class, or leave the metric out.",
            title=f"Not available in this mode: {', '.join(unavailable)}",
        )
    elif not full:
        st.caption("Accuracy and specificity become available with a negative class.")
    with st.expander("Expected mistakes", icon=":material/lightbulb:"):
        st.text_area("Expected false positives, one per line", **draft.text("fp_instructions"), height=90)
        st.text_area("Expected misses, one per line", **draft.text("fn_instructions"), height=90)
        st.caption("They only help to highlight; they change no number.")
    st.toggle("Count an item once, however often it is mentioned", **draft.text("repeated_extraction"))


def stored(trait: StoredTrait) -> None:
    """Show a trait that is stored but not evaluated."""
    st.markdown(f"**{plain(trait.name)}**")
    st.info(
        f"A trait of kind {plain(trait.kind)}: {plain(trait.reason)}. It is written back to files unchanged.",
        title="Stored, not evaluated",
        icon=":material/inventory_2:",
    )
    if trait.description:
        st.caption(plain(trait.description))
    with st.expander("What the file holds"):
        st.json(trait.rating)


def findings(scope: Scope, before: AnyTrait | None, typed: AnyTrait, draft: Draft) -> None:
    """Draw what the linter says of a trait as it is typed.

    Args:
        scope: Its rubric.
        before: The trait as it is stored; None for a new one.
        typed: The trait as it is typed.
        draft: Its form; fixes are filled in there.
    """
    others = [trait for trait in scope.rubric.traits if before is None or trait.name != before.name]
    about = [item for item in lint_rubric([*others, typed], shared=scope.shared) if item.field == typed.name]
    for number, finding in enumerate(about):
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container():
                st.markdown(f"{forms.severity_badge(finding.severity)} {plain(finding.what)}")
                st.caption(plain(f"{finding.why} {finding.next}"))
            fix = finding.fix
            if isinstance(fix, Fix) and forms.button(plain(fix.label), "build", f"trait_fix_{number}"):
                fixed = fix.edit(typed)
                assert not isinstance(fixed, StoredTrait)
                for name, value in values_of(fixed).items():
                    if value != draft.values[name]:
                        draft.put(name, value)
                st.rerun()
