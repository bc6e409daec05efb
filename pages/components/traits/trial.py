"""Trying a trait before it is saved."""

from __future__ import annotations

import streamlit as st

from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, RubricTrait
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.traits import trial_by_hand as trait_try_hand
from pages.components.traits import trial_by_judge as trait_try_judge
from pages.components.traits import trial_of_pattern as trait_try_pattern


def draw(scope: Scope, trait: AnyTrait, draft: Draft) -> None:
    """Draw the ways to try a trait as it is typed.

    Args:
        scope: The rubric it belongs to.
        trait: The trait as it is typed.
        draft: Its form.
    """
    st.divider()
    st.subheader("Try it")
    if isinstance(trait, ManualRubricTrait):
        trait_try_pattern.draw(scope, trait, draft)
    elif isinstance(trait, MetricRubricTrait):
        ways = {"hand": "Mark by hand, no model", "judge": "Ask a judge"}
        way = st.segmented_control(
            "Way", list(ways), format_func=ways.__getitem__, default="hand", required=True, key="trait_try_way"
        )
        if way == "hand":
            trait_try_hand.draw(scope, trait, draft)
        else:
            trait_try_judge.draw(scope, trait, draft)
    elif isinstance(trait, RubricTrait):
        trait_try_judge.draw(scope, trait, draft)
