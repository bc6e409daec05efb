"""What the linter says of a trait while it is typed, with what to do."""

from __future__ import annotations

import streamlit as st

from karenina_core.authoring import Finding, TraitFix, lint_rubric
from karenina_core.schemas import AnyTrait, StoredTrait
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain
from pages.components.traits.values import values_of

_SIGNS = {
    "error": ":red[:material/error:] **To mend:**",
    "warning": ":orange[:material/warning:] **Look at this:**",
    "hint": ":blue[:material/lightbulb:] **Could be better:**",
}


def draw(scope: Scope, was: AnyTrait | None, typed: AnyTrait, draft: Draft) -> None:
    """Draw the findings about a trait as it is typed.

    Args:
        scope: Its rubric.
        was: The trait as it is stored; None for a new one.
        typed: The trait as it is typed.
        draft: Its form; fixes are filled in there.
    """
    others = [trait for trait in scope.rubric.traits if was is None or trait.name != was.name]
    found = [item for item in lint_rubric([*others, typed], shared=scope.shared) if item.field == typed.name]
    for number, finding in enumerate(found):
        _one(finding, number, typed, draft)


def _one(finding: Finding, number: int, typed: AnyTrait, draft: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            st.markdown(f"{_SIGNS[finding.severity]} {plain(finding.what)}")
            st.caption(plain(f"{finding.why} {finding.next}"))
        fix = finding.fix
        if isinstance(fix, TraitFix) and st.button(fix.label, key=f"trait_fix_{number}", icon=":material/build:"):
            mended = fix.edit(typed)
            assert not isinstance(mended, StoredTrait)
            for name, value in values_of(mended).items():
                if value != draft.values[name]:
                    draft.put(name, value)
            st.rerun()
