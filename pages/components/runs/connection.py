"""Asking a model for a sign of life, before a run depends on it."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any

import streamlit as st

from karenina_core.errors import InputError, KareninaError
from karenina_core.models import Caller, ChatRequest, KeySource, Message, Subject
from karenina_core.models.readiness import check_model
from karenina_core.redact import redact
from karenina_core.runs import Store
from karenina_core.runs.at_once import ask_at_once
from karenina_core.schemas.config import ModelConfig
from pages.components import services, session_keys
from pages.components.text import plain
from pages.components.widget_keys import fingerprint

_ASKED = {"answering": "Reply with one word: ready", "judge": 'Reply with this JSON object: {"ready": true}'}
_SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_NOBODYS = 1_000_000  # replicates from here on are nobody's, so that the ledger knows no reply to them
_LONGEST = 30.0  # seconds; a person waits for it
_FOUND = "_connection_of"


@dataclass(frozen=True)
class SignOfLife:
    """What became of the question.

    Attributes:
        works: Whether the model replied, a judge as JSON.
        told: The same in words, with the reason where it did not.
    """

    works: bool
    told: str


def ask(store: Store, model: ModelConfig, role: str, keys: KeySource | None = None) -> SignOfLife:
    """Ask a model once, within the budget of the day, and return what became of it.

    Args:
        store: Its account counts the call.
        model: Of a provider.
        role: `answering`, or `judge` for one that has to reply as JSON.
        keys: Asked for keys before the environment.

    Raises:
        StoreError: The database refuses.
    """
    subject = Subject("", "", model.id, _NOBODYS + secrets.randbelow(_NOBODYS))
    messages = (Message("user", _ASKED[role]),)
    timeout = min(_LONGEST, model.request_timeout or _LONGEST)

    async def asked(caller: Caller) -> None:
        if role == "judge":
            await caller.complete_json(model, ChatRequest("parse", messages, subject, _SCHEMA, timeout), _checked)
        else:
            await caller.complete(model, ChatRequest("answer", messages, subject, None, timeout))

    began = time.monotonic()
    try:
        check_model(model)
        ask_at_once(store, asked, of="the test", keys=keys, max_attempts=1)
    except KareninaError as error:
        return SignOfLife(False, redact(str(error)))
    as_what = "replied as JSON" if role == "judge" else "replied"
    return SignOfLife(True, f"{as_what} after {time.monotonic() - began:.1f} s")


def _checked(reply: Any) -> None:
    if not isinstance(reply, dict) or not isinstance(reply.get("ready"), bool):
        raise InputError('The reply must be {"ready": true} or {"ready": false}.')


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
            sign = ask(services.store(), model, role, session_keys.source())
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
