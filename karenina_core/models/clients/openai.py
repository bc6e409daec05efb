"""Models that speak the OpenAI protocol, called directly. One call is one HTTP request: retries are the caller's.

| named as | goes |
|---|---|
| an address of its own, and no prefix, `openai/`, `hosted_vllm/` or the prefix of a provider below | directly |
| `interface="litellm"`, and no address of its own | through litellm |
| a provider that speaks the protocol as it is, such as `openai/`, `openrouter/`; see `providers.py` | directly |
| a name alone that the price list knows as OpenAI's, such as `gpt-4.1-mini` | directly |
| models of OpenAI that answer in another protocol only, such as `openai/o1-pro` | through litellm |
| a provider to which the environment leads on another way: `OPENAI_BASE_URL`, `HTTPS_PROXY` | through litellm |
| everything else | through litellm |
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic_core import to_json

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models.clients.openai_reply import (
    REPLY_TOOL,
    RejectedError,
    ReplyContext,
    decode,
    error_of,
    read_reply,
)
from karenina_core.models.endpoints import check_endpoint, host_of, standing
from karenina_core.models.failures import failure
from karenina_core.models.keys import check_access, find_key, key_variable, no_key, provider_prefix
from karenina_core.models.ports import ByIdentity, ChatReply, ChatRequest, ToolSpec
from karenina_core.models.prices import listed
from karenina_core.models.providers import PROVIDERS, matches
from karenina_core.models.replies import clean, clean_data
from karenina_core.schemas import ModelConfig

if TYPE_CHECKING:
    from karenina_core.models.clients.connections import Endpoint, Response

# Where to


_OPENAI = "openai"
_DIRECT = {provider.prefixes[0]: provider for provider in PROVIDERS if provider.base_url}
_OF_ANY_ADDRESS = ("", _OPENAI, "hosted_vllm", *_DIRECT)


class Route(NamedTuple):
    """The way to a model.

    Attributes:
        url: Where its endpoint is; without a slash at the end.
        model: Its name there.
        provider: The prefix of its provider, by which its key is found; empty for an address of one's own.
    """

    url: str
    model: str
    provider: str

    @property
    def at_openai(self) -> bool:
        """Whether the endpoint is OpenAI's own."""
        return matches(host_of(self.url), _DIRECT[_OPENAI].hosts)


def route_of(config: ModelConfig) -> Route | None:
    """Return the direct way to a model; None when it is reached through litellm, or is no provider's.

    Raises:
        ConfigError: Its address cannot be used.
    """
    if not config.is_provider:
        return None
    prefix = provider_prefix(config)
    name = config.provider_model.removeprefix(f"{prefix}/") if prefix else config.provider_model
    if config.endpoint_base_url:
        route = Route(check_endpoint(config.endpoint_base_url), name, prefix) if prefix in _OF_ANY_ADDRESS else None
    else:
        route = _known_route(prefix, name) if config.interface != "litellm" else None
    return None if route is None or _has_proxy(host_of(route.url)) else route


def _known_route(prefix: str, name: str) -> Route | None:
    entry = listed(name)
    if not prefix and entry is not None and (entry.provider, entry.mode) == (_OPENAI, "chat"):
        prefix = _OPENAI
    provider = _DIRECT.get(prefix)
    elsewhere = any(os.environ.get(f"{prefix.upper()}_{ending}") for ending in ("API_BASE", "BASE_URL"))
    if provider is None or elsewhere or (prefix == _OPENAI and entry is not None and entry.mode != "chat"):
        return None
    return Route(provider.base_url, name, prefix)


def _has_proxy(host: str) -> bool:
    """Say whether a provider is reached by the environment's proxy; other addresses never are."""
    if standing(host) != "provider":
        return False
    from urllib.request import getproxies_environment, proxy_bypass

    proxies = getproxies_environment()
    return bool(proxies.get("https") or proxies.get("all")) and not proxy_bypass(host)


# What is sent


Mode = Literal["schema", "tool", "instruction"]
NEXT_MODE: dict[Mode, Mode] = {"schema": "tool", "tool": "instruction"}
"""Three ways to ask for JSON, from the surest to the one that every model understands."""

_OLD, _NEW = "max_tokens", "max_completion_tokens"  # two names of one setting
# Always sent, so that a person cannot leave them out; what a person asked for by name is never left out silently.
_DISPENSABLE = ("temperature", _OLD, _NEW)
_UNSUPPORTED = re.compile(r"unsupported|not support|unknown parameter|unrecognized", re.IGNORECASE)
_DISPENSABLE_NAME = re.compile(rf"\b({'|'.join(_DISPENSABLE)})\b")
# Options of litellm, which endpoints would refuse, and `stream`: replies are always read whole.
_NOT_SENT = frozenset(
    {
        *("additional_drop_params", "allowed_openai_params", "cache", "caching", "drop_params", "extra_body"),
        *("fallbacks", "max_retries", "num_retries", "stream", "timeout"),
    }
)
# What OpenAI itself charges a call to, beside the key.
_ACCOUNT = {
    "OpenAI-Organization": ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID"),
    "OpenAI-Project": ("OPENAI_PROJECT_ID",),
}


@dataclass(frozen=True)
class Settings:
    """What every request to one model says beside its messages.

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
        name = error.param
        if not _UNSUPPORTED.search(f"{error.code} {error.why}"):
            return None
        if not name and (named := _DISPENSABLE_NAME.search(error.why)):
            name = named.group()
        if name not in _DISPENSABLE or name not in self.values:
            return None
        values = {key: value for key, value in self.values.items() if key != name}
        wanted = self.values[name]
        other = {_OLD: _NEW, _NEW: _OLD}.get(name)
        if other is not None and other not in self.tried:
            return Settings({**values, other: wanted}, self.not_accepted, self.tried | {name})
        return Settings(values, {**self.not_accepted, _OLD if name == _NEW else name: wanted}, self.tried)

    @cached_property
    def facts(self) -> dict[str, str]:
        """What the provenance of a reply says of them."""
        refused = ", ".join(f"{name} {value}" for name, value in self.not_accepted.items())
        return {"through": "OpenAI protocol", **({"not_accepted": refused} if refused else {})}


def settings_of(config: ModelConfig, route: Route) -> Settings:
    """Return the settings a model is asked with first."""
    body = config.extra_kwargs.get("extra_body")
    values = {name: value for name, value in config.extra_kwargs.items() if name not in _NOT_SENT}
    values |= body if isinstance(body, dict) else {}
    values |= {"model": route.model, "temperature": config.temperature}
    if _NEW not in values:
        values[_NEW if route.at_openai else _OLD] = config.max_tokens
    if route.provider == "openrouter":
        values.setdefault("usage", {"include": True})  # then it says what the call cost
    values.pop("messages", None)
    return Settings(values)


def schema_settings(schema: dict[str, Any], mode: Mode) -> dict[str, Any]:
    """Return how a request asks for JSON of a schema; nothing in mode `instruction`."""
    if mode == "schema":
        wanted = {"name": REPLY_TOOL, "schema": schema, "strict": is_strict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if mode == "tool":
        function = {"name": REPLY_TOOL, "description": "Give the reply.", "parameters": schema}
        choice = {"type": "function", "function": {"name": REPLY_TOOL}}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    return {}


def tool_settings(tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """Return how a request offers tools; nothing where there are none."""
    offered = [{"type": "function", "function": clean_data(tool._asdict())} for tool in tools]
    return {"tools": offered} if offered else {}


def chat_messages(request: ChatRequest, mode: Mode) -> list[dict[str, Any]]:
    """Return the messages as they are sent; in mode `instruction` the last one ends with the schema."""
    messages: list[dict[str, Any]] = []
    for message in request.messages:
        sent: dict[str, Any] = {"role": message.role, "content": clean(message.content)}
        if message.tool_calls:
            functions = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
            pairs = zip(message.tool_calls, functions, strict=True)
            sent["tool_calls"] = [{"id": call.id, "type": "function", "function": made} for call, made in pairs]
        if message.tool_call_id:
            sent["tool_call_id"] = message.tool_call_id
        messages.append(sent)
    if mode == "instruction" and request.schema is not None:
        order = "Reply with one JSON object that follows this JSON schema, and nothing else:"
        messages[-1]["content"] += f"\n\n{order}\n{json.dumps(request.schema)}"
    return messages


def is_strict(schema: Any) -> bool:
    """Say whether providers accept a schema in strict mode: all properties required, and no others allowed."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if "properties" in schema or schema.get("type") == "object":
        complete = set(schema.get("required", ())) == set(schema.get("properties", ()))
        if not complete or schema.get("additionalProperties") is not False:
            return False
    return all(is_strict(value) for value in schema.values())


class OpenAIClient:
    """A model behind an endpoint that speaks the OpenAI protocol. Belongs to one event loop until it is closed.

    How the model takes requests is found out with the first ones and kept for the client's further calls. Structured
    replies are asked for by JSON schema, else by a forced tool call, else by an instruction in the prompt. A
    temperature or a name for the length of replies that the model does not know is left out or replaced; the
    provenance of replies says so.

    Args:
        config: The model.

    Raises:
        ConfigError: It is not reached this way, its address cannot be used, or its key may not be sent there.
    """

    def __init__(self, config: ModelConfig) -> None:
        check_access(config)
        route = route_of(config)
        if route is None:
            raise ConfigError(
                f"{config.id!r} is not known to speak the OpenAI protocol.",
                next="Give its address, or have it called through litellm.",
            )
        self.config = config
        self._route = route
        self._at_openai = route.at_openai
        self._settings = settings_of(config, route)
        self._mode: Mode = "schema"
        self._endpoint: Endpoint | None = None
        self._schema_json = {mode: ByIdentity(partial(_schema_json, mode)) for mode in NEXT_MODE}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt; more than one request only while finding out how the model takes them.

        Raises:
            ModelError: With its category.
        """
        known, usual = settings, mode = self._settings, self._mode
        while True:
            try:
                reply = await self._once(request, settings, mode)
            except ModelError as error:
                other = settings.without(error) if isinstance(error, RejectedError) else None
                if other is not None:
                    settings = other
                elif request.schema is not None and error.category == "bad_request" and mode in NEXT_MODE:
                    mode = NEXT_MODE[mode]
                else:
                    raise
            else:
                # Only what this call found out; another one may have found out the rest meanwhile.
                self._settings = self._settings if settings is known else settings
                self._mode = self._mode if mode == usual else mode
                return reply

    async def aclose(self) -> None:
        """Close the connections."""
        if self._endpoint is not None:
            endpoint, self._endpoint = self._endpoint, None
            await endpoint.aclose()

    async def _once(self, request: ChatRequest, settings: Settings, mode: Mode) -> ChatReply:
        try:
            key = self._key()
            endpoint = self._endpoint or await self._connect()
            body = self._body(request, settings, mode)
            start = time.perf_counter()
            async with asyncio.timeout(request.timeout):
                response = await endpoint.post(self._headers(key), body)
            seconds = time.perf_counter() - start
            return self._read(response, key, seconds, settings, tools=bool(request.tools))
        except ModelError as error:
            problem = error
        except Exception as error:
            from karenina_core.models.clients.connections import connection_failure

            problem = connection_failure(error, self.config.id)
        # Outside of the handler, so that what was raised, which may hold the key, is not chained to ours.
        raise problem

    async def _connect(self) -> Endpoint:
        await asyncio.to_thread(load_library)
        from karenina_core.models.clients.connections import Endpoint

        if self._endpoint is None:  # another call may have been faster
            self._endpoint = Endpoint(f"{self._route.url}/chat/completions")
        return self._endpoint

    def _key(self) -> str:
        key = find_key(self.config, self._route.provider)
        if not key:
            raise no_key(key_variable(self.config, self._route.provider), self.config.id)
        if not key.isascii() or not key.isprintable():
            raise failure("authentication", self.config.id, "The key holds a line break or a sign that no key has.")
        return key

    def _headers(self, key: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {key}"}
        # A key that a person typed belongs to another account than the environment's.
        if self._at_openai and key == os.environ.get(self.config.api_key_env or "OPENAI_API_KEY"):
            for header, names in _ACCOUNT.items():
                value = next((value for name in names if (value := os.environ.get(name, "").strip())), "")
                if value and value.isascii() and value.isprintable():
                    headers[header] = value
        return headers

    def _body(self, request: ChatRequest, settings: Settings, mode: Mode) -> bytes:
        messages = to_json(chat_messages(request, mode))
        asked = b"" if request.schema is None or mode == "instruction" else self._schema_json[mode](request.schema)
        if request.tools:
            asked = b"," + to_json(tool_settings(request.tools))[1:-1]
        return b"".join((settings.head, b',"messages":', messages, asked, b"}"))

    def _read(
        self, response: Response, key: str, seconds: float, settings: Settings, *, tools: bool = False
    ) -> ChatReply:
        if response.status >= 300:
            raise error_of(response.status, response.headers, response.data, self.config.id)
        try:
            completion = decode(response.data, whole=response.whole)
        except ValueError:
            beginning = clean(response.data[:200].decode("utf-8", "replace"))
            why = f"Its reply is not JSON; it begins with {beginning!r}."
            raise failure("server_error", self.config.id, why) from None
        entry, charges = listed(self.config.provider_model), self._route.provider == "openrouter"
        context = ReplyContext(self.config.id, entry, key, charges, tools)
        return read_reply(completion, context, seconds, settings.facts, cut=not response.whole)


def _schema_json(mode: Mode, schema: dict[str, Any]) -> bytes:
    """Return what is said about a schema, as the middle of a JSON object."""
    return b"," + to_json(clean_data(schema_settings(schema, mode)))[1:-1]


def load_library() -> None:
    """Load what calls need, the price list among it: two tenths of a second, once, during which others go on."""
    import karenina_core.models.clients.connections  # noqa: F401

    listed("")
