"""The near-miss self-test: variants of the truth, what the rules make of them, and changes that would accept more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import Acceptance, Case, acceptances, edit_source, near_misses, read_notes
from karenina_core.schemas import quoted
from karenina_core.templates import Template, read_template
from karenina_core.text import counted
from pages.components import frame
from pages.components.drafts import Draft
from pages.components.templates.state import put_source
from pages.components.text import plain, short

_VERDICTS = {
    "pass": "✓ passes",
    "fail": "✗ fails",
    "refused": "↺ asked again",
    "undecided": "… only a run can tell",
}
_EXPECTED = {"pass": "should pass", "fail": "should fail", "either": "your choice"}
_VIEWS = ("All", "Surprises", "Fails", "Passes")


def draw(draft: Draft, question_id: str, template: Template) -> None:
    """Draw the self-test of a template."""
    st.caption("Answers that are nearly right, made from the truth. No model is asked.")
    with frame.guard():
        said = read_notes(draft.values.get("answer_notes") or None)
        cases = near_misses(template, accepted=said.accepted, rejected=said.rejected)
        if not cases:
            st.info("No field has a built-in rule with variants to try.", icon=":material/info:")
            return
        _count(cases)
        view = st.segmented_control("Show", _VIEWS, default="All", required=True, key="self_test_view")
        _table([case for case in cases if _shown(case, str(view))])
        if not template.spec.own_code:
            _changes(draft, acceptances(template, cases))


def _count(cases: Sequence[Case]) -> None:
    odd = sum(case.surprising for case in cases)
    passing = sum(case.verdict == "pass" for case in cases)
    told = f"{counted(len(cases), 'variant')}, {passing} pass."
    if odd:
        verb = "is" if odd == 1 else "are"
        st.markdown(f":orange-badge[:material/priority_high: {counted(odd, 'surprise')}] {told}")
        st.caption(f"{odd} of them {verb} not decided as an author will want; look at those first.")
    else:
        st.markdown(f":green-badge[:material/check: no surprise] {told}")


def _shown(case: Case, view: str) -> bool:
    return {
        "All": True,
        "Surprises": case.surprising,
        "Fails": case.verdict in ("fail", "refused"),
        "Passes": case.verdict == "pass",
    }[view]


def _table(cases: Sequence[Case]) -> None:
    if not cases:
        st.caption("No variant is in this view.")
        return
    rows = [
        {
            "Verdict": _VERDICTS[case.verdict] + (" !" if case.surprising else ""),
            "Field": short(case.field, 40),
            "Variant": case.label,
            "Value": short(_value(case), 80),
            "Wanted": _EXPECTED[case.expected],
            "Step by step": short(case.steps or "the value does not fit the type", 300),
        }
        for case in cases
    ]
    st.dataframe(rows, hide_index=True, alt="Variants of the truth", height="content" if len(rows) <= 14 else 530)


def _value(case: Case) -> str:
    value: Any = case.response if case.response is not None else case.values[case.field]
    return "–" if value is None else quoted(value)


def _changes(draft: Draft, changes: Sequence[Acceptance]) -> None:
    if not changes:
        return
    st.markdown("**Changes that would accept a variant which fails now**")
    for at, change in enumerate(changes):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                plain(change.fix.label, 80),
                icon=":material/add_task:",
                key=f"self_test_accept_{at}",
                on_click=_apply,
                args=(draft, change),
            )
            accepted = ", ".join(case.label for case in change.accepts)
            opened = ", ".join(case.label for case in change.opens)
            warning = f" Would also let through: {plain(opened, 200)}." if opened else ""
            st.caption(f"{plain(change.field, 40)}: accepts {plain(accepted, 300)}.{warning}", width="stretch")


def _apply(draft: Draft, change: Acceptance) -> None:
    def written(source: str) -> str:
        return edit_source(source, change.fix.edit(read_template(source).spec))

    put_source(draft, written, f"{plain(change.fix.label, 80)}: done.")
