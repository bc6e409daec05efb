"""The button that asks a model for a sign of life, and what became of it."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import SignOfLife, try_connection
from karenina_core.schemas import ModelConfig
from pages.components import services, session_keys
from pages.components.text import plain
from pages.components.widgets import fingerprint

_FOUND = "_connection_of"


def button(model: ModelConfig, role: str, number: int) -> None:
    """Draw the button that asks a model; `found` tells what became of it.

    Args:
        model: Of a provider.
        role: `answering` or `judge`.
        number: Its place in the list.
    """
    if st.button(
        "Test",
        key=f"test_{role}_{number}",
        icon=":material/wifi_tethering:",
        help="Sends one short question to the model. A provider may charge a fraction of a cent for it.",
    ):
        with st.spinner("Waiting for the model"):
            sign = try_connection(services.store(), model, as_judge=role == "judge", keys=session_keys.source())
        st.session_state.setdefault(_FOUND, {})[_name(model, role)] = sign
        st.rerun()


def found(model: ModelConfig, role: str) -> str:
    """Return what became of the question, as Markdown; blank where the model was not asked as it is now."""
    sign: SignOfLife | None = st.session_state.get(_FOUND, {}).get(_name(model, role))
    if sign is None:
        return ""
    if sign.works:
        return f":green[:material/check: It {plain(sign.told)}.]"
    return f":red[:material/error: {plain(sign.told, 400)}]"


def _name(model: ModelConfig, role: str) -> str:
    return fingerprint(f"{role} {model.model_dump_json()}")
