"""Asking a model for a sign of life, before a run depends on it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from karenina_core.errors import InputError, KareninaError
from karenina_core.models import ChatRequest, KeySource, Message, ModelCaller, Subject, check_model
from karenina_core.redact import redact
from karenina_core.runs.at_once import ask_at_once
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig

_QUESTION = "Reply with one word: ready"
_JUDGE_QUESTION = 'Reply with this JSON object: {"ready": true}'
_SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_LONGEST = 30.0  # seconds; a person waits for it


@dataclass(frozen=True)
class SignOfLife:
    """What became of the question.

    Attributes:
        works: Whether the model replied, a judge as JSON.
        told: The same in words, with the reason where it did not.
    """

    works: bool
    told: str


def try_connection(store: Store, model: ModelConfig, *, as_judge: bool, keys: KeySource | None = None) -> SignOfLife:
    """Ask a model one short question, within the budget of the day, and return what became of it.

    It is asked every time: a reply that is remembered proves nothing about now, and this one is not remembered.

    Args:
        store: Its account counts the call.
        model: Of a provider.
        as_judge: Whether it has to reply as JSON.
        keys: Asked for keys before the environment.

    Raises:
        StoreError: The database refuses.
    """
    subject = Subject("", "", model.id, 1)
    timeout = min(_LONGEST, model.request_timeout or _LONGEST)

    async def asked(caller: ModelCaller) -> None:
        if as_judge:
            messages = (Message("user", _JUDGE_QUESTION),)
            await caller.complete_json(model, ChatRequest("parse", messages, subject, _SCHEMA, timeout), _checked)
        else:
            messages = (Message("user", _QUESTION),)
            await caller.complete(model, ChatRequest("answer", messages, subject, None, timeout))

    began = time.monotonic()
    try:
        check_model(model)
        ask_at_once(store, asked, of="the test", keys=keys, max_attempts=1, remembered=False)
    except KareninaError as error:
        return SignOfLife(False, redact(str(error)))
    as_what = "replied as JSON" if as_judge else "replied"
    return SignOfLife(True, f"{as_what} after {time.monotonic() - began:.1f} s")


def _checked(reply: Any) -> None:
    if not isinstance(reply, dict) or not isinstance(reply.get("ready"), bool):
        raise InputError('The reply must be {"ready": true} or {"ready": false}.')
