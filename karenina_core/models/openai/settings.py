"""What every request to one model says beside its messages, and what becomes of it when the model does not take it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic_core import to_json

from karenina_core.models.openai.errors import RejectedError
from karenina_core.models.openai.route import Route
from karenina_core.schemas import ModelConfig

OLD, NEW = "max_tokens", "max_completion_tokens"  # two names of one setting
# Always sent, so that a person cannot leave them out; what a person asked for by name is refused aloud instead.
_DISPENSABLE = ("temperature", OLD, NEW, "stream_options")
_UNSUPPORTED = re.compile(r"unsupported|not support|unknown parameter|unrecognized", re.IGNORECASE)
_NAMED = re.compile(rf"\b({'|'.join(_DISPENSABLE)})\b")
# Options of litellm's own; endpoints would refuse them.
_OF_LITELLM = frozenset(
    {
        *("additional_drop_params", "allowed_openai_params", "cache", "caching", "drop_params", "extra_body"),
        *("fallbacks", "max_retries", "num_retries", "stream", "timeout"),
    }
)


@dataclass(frozen=True)
class Settings:
    """The settings of requests.

    Attributes:
        values: As they are sent.
        not_accepted: Those that the model refused, as they were wanted.
        tried: Names under which the length of a reply was sent.
    """

    values: Mapping[str, Any]
    not_accepted: Mapping[str, Any] = field(default_factory=dict)
    tried: frozenset[str] = frozenset()

    @cached_property
    def head(self) -> bytes:
        """The settings as the beginning of a JSON object, without its end.

        Raises:
            ValueError: They hold what JSON does not.
        """
        return to_json(self.values)[:-1]

    def without(self, error: RejectedError) -> Settings | None:
        """Return other settings to try after a refusal, or None when it is about something else.

        The length of a reply is sent under its other name; what has no other name is left out.
        """
        name = _complained_of(error)
        if name not in self.values:
            return None
        values = {key: value for key, value in self.values.items() if key != name}
        wanted = self.values[name]
        other = {OLD: NEW, NEW: OLD}.get(name)
        if other is not None and other not in self.tried:
            return Settings({**values, other: wanted}, self.not_accepted, self.tried | {name})
        if name == "stream_options":
            return Settings(values, self.not_accepted, self.tried)
        return Settings(values, {**self.not_accepted, OLD if name == NEW else name: wanted}, self.tried)


def settings_of(config: ModelConfig, route: Route) -> Settings:
    """Return the settings a model is asked with first."""
    extra = {name: value for name, value in config.extra_kwargs.items() if name not in _OF_LITELLM}
    body = config.extra_kwargs.get("extra_body")
    values: dict[str, Any] = {**extra, **(body if isinstance(body, dict) else {})}
    values |= {"model": route.model, "temperature": config.temperature}
    if NEW not in values:
        values[NEW if route.at_openai else OLD] = config.max_tokens
    if config.extra_kwargs.get("stream"):
        values |= {"stream": True, "stream_options": {"include_usage": True}}
    if route.provider == "openrouter":
        values.setdefault("usage", {"include": True})  # then it says what the call cost
    values.pop("messages", None)
    return Settings(values)


def _complained_of(error: RejectedError) -> str:
    if not _UNSUPPORTED.search(f"{error.code} {error.why}"):
        return ""
    if error.param:
        return error.param if error.param in _DISPENSABLE else ""
    named = _NAMED.search(error.why)
    return named.group() if named else ""
