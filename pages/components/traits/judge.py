"""Which model assesses a trait, and the agreement to what that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from karenina_core.runs import Estimate
from karenina_core.schemas import ModelConfig, VerificationConfig
from pages.components.runs import configuration, model_editor, one_model, spending
from pages.components.text import distinct, short

_CHOSEN = "_trait_judge"
_ESTIMATES = "traits"
_OWN = ""


def choose(key: str, own: Sequence[ModelConfig] = ()) -> ModelConfig | None:
    """Draw the choice of a judge.

    Args:
        key: Begins the keys of the widgets.
        own: The judges of a run, which may each assess their own results; None stands for that choice. They can be
            asked only where none of them repeats what was prepared or recorded.

    Returns:
        The judge; None for the run's own judges, or where there is nobody to choose, which `nobody` tells.
    """
    known = {model.id: model for model in _known(own)}
    names = ([_OWN] if own and all(map(_can_judge, own)) else []) + list(known)
    named = distinct(names, lambda name: short(name, 60) if name else "Each result's own judge")
    chosen = one_model.choose("Judge", named, _CHOSEN, f"{key}_judge", ("Add a judge", _add))
    if chosen is None:
        st.caption("Add the model that is to judge. Recordings and prepared answers cannot assess anything new.")
    elif chosen:
        st.caption(model_editor.describe(known[chosen], "judge"))
    return known.get(chosen) if chosen else None


def nobody(own: Sequence[ModelConfig] = ()) -> bool:
    """Say whether there is no judge to choose."""
    return not _known(own)


def agreed(key: str, about: str, judge: ModelConfig | None, estimate: Callable[[], Estimate | None]) -> bool:
    """Draw what asking takes, and return whether it may begin; what is known of it is not worked out again.

    Args:
        key: Begins the keys of the widgets.
        about: Everything the estimate depends on, beside the prices and the ledger.
        judge: Who is asked.
        estimate: Works it out.
    """
    found = spending.worked_out(_ESTIMATES, about, estimate)
    if found is not None and not found.calls:
        st.markdown(spending.sentence(found))
        return True
    models = [judge] if judge is not None else [ModelConfig(interface="local")]
    return spending.confirm(found, VerificationConfig(answering_models=models, parsing_models=models), key)


def forget_estimates() -> None:
    """Work estimates out anew, because the ledger knows more now."""
    spending.forget(_ESTIMATES)


def _known(own: Sequence[ModelConfig]) -> list[ModelConfig]:
    default = model_editor.default_models()
    return [
        model
        for model in (*configuration.models("judge", list(default)), *own)
        if _can_judge(model)
    ]  # fmt: skip


def _can_judge(model: ModelConfig) -> bool:
    return model.transport not in ("manual", "recorded")


@st.dialog("Add a judge", position="right", width="medium")
def _add() -> None:
    chosen = configuration.models("judge", list(model_editor.default_models()))
    if model_editor.form("judge", chosen, None):
        configuration.keep()
        st.session_state[_CHOSEN] = chosen[-1].id
        st.rerun()
