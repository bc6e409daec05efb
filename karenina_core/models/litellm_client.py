"""Every provider, through litellm. One call is one HTTP request: retries are ours."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import warnings
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from karenina_core.errors import MissingDependencyError, ModelError
from karenina_core.models.endpoints import check_endpoint, host_of, standing
from karenina_core.models.keys import check_access, find_key, provider_prefix
from karenina_core.models.litellm_errors import classify, failure
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.replies import clean, clean_reply
from karenina_core.redact import HIDDEN, SHORTEST, install_log_redaction
from karenina_core.schemas.config import ModelConfig
from karenina_core.schemas.results import Usage

if TYPE_CHECKING:
    import httpx

    from karenina_core.models.checked_http import CheckedTransport

Mode = Literal["schema", "tool", "instruction"]
_NEXT_MODE: dict[Mode, Mode] = {"schema": "tool", "tool": "instruction"}
_TOOL = "reply"
_NOT_PASSED_ON = ("num_retries", "max_retries", "fallbacks", "stream")  # one call, one request, one whole reply
INSTALL = "Install it with: pip install litellm==1.106.2"
_open_clients = 0


class LitellmClient:
    """A model at a provider, or behind any OpenAI-compatible address.

    Structured replies are asked for by JSON schema; a model that rejects that is asked by a forced tool call, and one
    that rejects this too by an instruction in the prompt. What worked is kept for the client's further calls.

    Args:
        config: The model.

    Raises:
        ConfigError: Its address cannot be used, or its key may not be sent there.
    """

    def __init__(self, config: ModelConfig) -> None:
        global _open_clients
        check_access(config)
        self.config = config
        self._route: _Route | None = None
        self._base_url = check_endpoint(config.endpoint_base_url) if config.endpoint_base_url else None
        self._mode: Mode = "schema"
        self._open = True
        _open_clients += 1

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt; more than one request only while finding out how the model takes a schema.

        Raises:
            ModelError: With its category.
        """
        if request.schema is None:
            return await self._once(request, self._options(request))
        mode = self._mode
        while True:
            try:
                reply = await self._once(request, self._options(request, mode))
            except ModelError as error:
                if error.category != "bad_request" or mode not in _NEXT_MODE:
                    raise
                mode = _NEXT_MODE[mode]
            else:
                self._mode = mode
                return reply

    async def aclose(self) -> None:
        """Release litellm's connections when no other client uses them."""
        global _open_clients
        if self._open:
            self._open = False
            _open_clients -= 1
            if self._route is not None:
                await self._route.aclose()
            if not _open_clients and "litellm" in sys.modules:
                await _close_connections()

    def _options(self, request: ChatRequest, mode: Mode | None = None) -> dict[str, Any]:
        messages = [{"role": message.role, "content": clean(message.content)} for message in request.messages]
        options: dict[str, Any] = {
            **{name: value for name, value in self.config.extra_kwargs.items() if name not in _NOT_PASSED_ON},
            "model": self.config.provider_model,
            "messages": messages,
            "temperature": self.config.temperature,
            "max_tokens": self.config.max_tokens,
            "timeout": request.timeout,
            "max_retries": 0,
        }
        if self._base_url:
            options["api_base"] = self._base_url
        if mode is not None and request.schema is not None:
            _ask_for_json(options, request.schema, mode)
        return options

    async def _once(self, request: ChatRequest, options: dict[str, Any]) -> ChatReply:
        litellm = await asyncio.to_thread(_litellm)
        start = time.perf_counter()
        key = None
        try:
            key = find_key(self.config, provider_prefix(self.config) or _provider(litellm, self.config))
            async with asyncio.timeout(request.timeout):
                response = await litellm.acompletion(**options, **self._way(key))
        except ModelError:
            raise
        except Exception as error:
            problem = self._refused() or classify(error, self.config.id)
        else:
            return _without(key, _read(response, self.config.id, time.perf_counter() - start))
        # Outside of the handler, so that the provider's error, which may hold the key, is not chained to ours.
        raise problem

    def _way(self, key: str | None) -> dict[str, Any]:
        """Return the options that lead to the model: the key, and for an address of its own our HTTP client."""
        if self._base_url is None or key is None or provider_prefix(self.config) != "openai":
            return {"api_key": key} if key else {}
        if standing(host_of(self._base_url)) == "provider":
            return {"api_key": key}
        if self._route is None:
            self._route = _Route(self._base_url)
        return {"api_key": key, "client": self._route.client(key)}

    def _refused(self) -> ModelError | None:
        why = self._route.transport.refusal if self._route is not None else ""
        return failure("bad_request", self.config.id, why) if why else None


class _Route:
    """Our own way to an address that is no provider's, so that litellm adds nothing and every connection is checked."""

    def __init__(self, base_url: str) -> None:
        from karenina_core.models.checked_http import CheckedTransport, checked_client

        self._base_url = base_url
        self.transport: CheckedTransport = CheckedTransport()
        self._http: httpx.AsyncClient = checked_client(self.transport)

    def client(self, key: str) -> Any:
        """Return a client with this key; all share the connections."""
        from openai import AsyncOpenAI

        return AsyncOpenAI(api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _provider(litellm: Any, config: ModelConfig) -> str:
    return str(litellm.get_llm_provider(config.provider_model, api_base=config.endpoint_base_url)[1])


def _without(key: str | None, reply: ChatReply) -> ChatReply:
    """Return a reply that does not repeat the key; it would be stored, shown and exported."""
    if key is None or len(key) < SHORTEST or key not in reply.text:
        return reply
    return replace(reply, text=reply.text.replace(key, HIDDEN))


def _ask_for_json(options: dict[str, Any], schema: dict[str, Any], mode: Mode) -> None:
    if mode == "schema":
        wanted = {"name": _TOOL, "schema": schema, "strict": is_strict(schema)}
        options["response_format"] = {"type": "json_schema", "json_schema": wanted}
    elif mode == "tool":
        function = {"name": _TOOL, "description": "Give the reply.", "parameters": schema}
        options["tools"] = [{"type": "function", "function": function}]
        options["tool_choice"] = {"type": "function", "function": {"name": _TOOL}}
        options["_skip_mcp_handler"] = True  # it would import a package of litellm's proxy for every call with tools
    else:
        instruction = "Reply with one JSON object that follows this JSON schema, and nothing else:"
        last = options["messages"][-1]
        options["messages"][-1] = {**last, "content": f"{last['content']}\n\n{instruction}\n{json.dumps(schema)}"}


def is_strict(schema: Any) -> bool:
    """Say whether providers accept a schema in strict mode: all properties required, and no others allowed."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if "properties" in schema or schema.get("type") == "object":
        listed = set(schema.get("required", ())) == set(schema.get("properties", ()))
        if not listed or schema.get("additionalProperties") is not False:
            return False
    return all(is_strict(value) for value in schema.values())


def _read(response: Any, model: str, seconds: float) -> ChatReply:
    if not response.choices:
        raise failure("server_error", model, "The reply holds no choices.")
    choice = response.choices[0]
    text, finish_reason = clean_reply(_text(choice.message), choice.finish_reason)
    if not text and finish_reason != "length":
        raise failure("refused", model, _refusal(choice))
    return ChatReply(text, finish_reason, _usage(response), "provider", seconds, {"model": str(response.model or "")})


def _text(message: Any) -> str:
    calls = message.tool_calls or ()
    arguments = next((call.function.arguments for call in calls if call.function.name == _TOOL), None)
    return str(arguments or message.content or "")


def _refusal(choice: Any) -> str:
    fields = getattr(choice.message, "provider_specific_fields", None) or {}
    said = fields.get("refusal") or getattr(choice.message, "refusal", None)
    return str(said or f"It sent no text (finish reason {choice.finish_reason!r}).")


def _usage(response: Any) -> Usage:
    usage = getattr(response, "usage", None)
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return Usage(
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        cost=cost if isinstance(cost, float) else None,
        calls=1,
    )


@lru_cache(maxsize=1)
def _litellm() -> Any:
    # Seconds of work: called in a thread, at the first call.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise the import fetches prices
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # otherwise the import reads a .env file
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import litellm

            litellm.ModelResponse()  # its types are completed at first use, with warnings of no concern to users
    except ImportError as error:
        raise MissingDependencyError("Calls of providers need litellm.", str(error), INSTALL) from error
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    install_log_redaction("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
    return litellm


async def _close_connections() -> None:
    from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

    await close_litellm_async_clients()
    _litellm().in_memory_llm_clients_cache.flush_cache()
