"""How the verdict came about: every field with its truth, its value, its rule and the steps between."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from karenina_core.analysis import field_sign, waits
from karenina_core.authoring import relaxations
from karenina_core.schemas import (
    FieldEvidence,
    VerificationResult,
    normalizer_of_step,
    rule_help,
    rule_title,
    step_title,
    title,
)
from karenina_core.text import counted
from pages.components.answer.evidence import in_words
from pages.components.text import plain, visible


def show(result: VerificationResult) -> None:
    """Show every field: expected, extracted, rule, steps, result."""
    part = result.template
    if part is None:
        st.caption(_why_nothing(result))
        return
    if part.verify_granular_result is not None:
        st.markdown(_share(part.fields, part.verify_granular_result))
    if part.composition_strategy and part.composition_strategy != "all_of":
        st.caption(f"Fields are combined by {plain(part.composition_strategy)}.")
    if part.style != "declarative":
        st.caption("This template decides by its own code, run in a sandbox.")
    if not part.fields:
        st.caption("No field was decided.")
    for item in part.fields:
        _field(result, item)


def _why_nothing(result: VerificationResult) -> str:
    if result.failure is not None and result.failure.category != "no_template":
        return "Nothing was decided, because the evaluation ended before; the reason stands at the top."
    if result.status == "skipped" and result.answer is not None and result.failure is None:
        return "No judge has read this answer yet: let it judge again, or type what it would extract."
    return "The question has no answer template, so nothing is right or wrong."


def _share(fields: list[FieldEvidence], share: float) -> str:
    ruled = [item for item in fields if item.rule is not None]
    if not ruled or any(item.weight != 1 for item in ruled):
        return f"Weighted share of right fields: **{share:.2f}**"
    right = sum(item.result is True for item in ruled)
    return f"**{right} of {counted(len(ruled), 'field')} right**"


def _field(result: VerificationResult, item: FieldEvidence) -> None:
    with st.container(border=True):
        sign = field_sign(result, item)
        name = str(item.rule["type"]) if item.rule else ""
        rule = plain(rule_title(name)) if name else "the template's own code"
        st.markdown(f"**{plain(item.name)}** · {sign + ' · ' if sign else ''}{rule}", help=rule_help(name))
        left, right = st.columns(2)
        left.caption("Expected")
        left.code(
            "decided by the rule" if item.expected is None else visible(_text(item.expected)),
            language=None,
            wrap_lines=True,
        )
        right.caption("Found in the response" if item.is_trace else "Extracted by the judge")
        right.code(visible(in_words(item.extracted)), language=None, wrap_lines=True)
        _steps(item)
        if item.reason and not waits(item):
            st.caption(plain(item.reason, 500))
        if item.similarity is not None:
            st.caption(f"Similarity {item.similarity:.3f}")
        relaxed = next(relaxations(item), None) if result.verdict == "fail" else None
        if relaxed is not None:
            st.markdown(
                ":orange-badge[:material/rule: near miss] The rule is probably too strict: to "
                f"{plain(relaxed.label)} would let this pass."
            )


def _steps(item: FieldEvidence) -> None:
    """Show what was done to the values, also what changed nothing."""
    lines = []
    for number, (label, before, after) in enumerate(item.steps, 1):
        done = "unchanged" if before == after else f"{plain(before, 200)} → {plain(after, 200)}"
        lines.append(f"{number}. {plain(step_title(label))}: {done}")
    if lines:
        names = dict.fromkeys(filter(None, (normalizer_of_step(label) for label, _, _ in item.steps)))
        told = "; ".join(f"{title(name)} is {name}" for name in names)
        st.caption("\n".join(lines), help=f"In the template: {told}." if told else None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
