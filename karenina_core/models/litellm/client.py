"""Providers with protocols of their own, through litellm. One call is one HTTP request: retries are ours."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from karenina_core.errors import MissingDependencyError, ModelError
from karenina_core.models.endpoints import check_endpoint, host_of, standing
from karenina_core.models.failures import failure
from karenina_core.models.json_modes import NEXT_MODE, TOOL, Mode, instructed, settings_for
from karenina_core.models.keys import check_access, find_key, provider_prefix
from karenina_core.models.litellm.errors import classify
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.replies import clean, clean_reply, without_key
from karenina_core.redact import install_log_redaction
from karenina_core.schemas import ModelConfig, Usage

if TYPE_CHECKING:
    import httpx

_NOT_PASSED_ON = ("num_retries", "max_retries", "fallbacks", "stream")  # one call, one request, one whole reply
INSTALL = "Install it with: pip install litellm==1.106.2"
_open_clients = 0


class LitellmClient:
    """A model at a provider; behind an OpenAI-compatible address only where litellm is asked for by name.

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
                if error.category != "bad_request" or mode not in NEXT_MODE:
                    raise
                mode = NEXT_MODE[mode]
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
            options |= settings_for(request.schema, mode)
            if mode == "tool":
                options["_skip_mcp_handler"] = True  # it would import a package of litellm's proxy for every call
            if mode == "instruction":
                options["messages"] = instructed(messages, request.schema)
        return options

    async def _once(self, request: ChatRequest, options: dict[str, Any]) -> ChatReply:
        litellm = _litellm() if _litellm.cache_info().currsize else await asyncio.to_thread(_litellm)
        start = time.perf_counter()
        key = None
        try:
            key = find_key(self.config, provider_prefix(self.config) or _provider(litellm, self.config))
            async with asyncio.timeout(request.timeout):
                response = await litellm.acompletion(**options, **self._way(key))
        except ModelError:
            raise
        except Exception as error:
            problem = classify(error, self.config.id)
        else:
            return _read(response, self.config.id, time.perf_counter() - start, key)
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


class _Route:
    """Our own way to an address that is no provider's, so that litellm adds nothing and every connection is checked."""

    def __init__(self, base_url: str) -> None:
        from karenina_core.models.litellm.http import CheckedTransport, checked_client

        self._base_url = base_url
        self._http: httpx.AsyncClient = checked_client(CheckedTransport(base_url))
        self._clients: dict[str, Any] = {}

    def client(self, key: str) -> Any:
        """Return the client with this key; all share the connections."""
        from openai import AsyncOpenAI

        if key not in self._clients:
            self._clients[key] = AsyncOpenAI(
                api_key=key, base_url=self._base_url, http_client=self._http, max_retries=0
            )
        return self._clients[key]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _provider(litellm: Any, config: ModelConfig) -> str:
    return str(litellm.get_llm_provider(config.provider_model, api_base=config.endpoint_base_url)[1])


def _read(response: Any, model: str, seconds: float, key: str | None) -> ChatReply:
    if not response.choices:
        raise failure("server_error", model, "The reply holds no choices.")
    choice = response.choices[0]
    text, finish_reason = clean_reply(without_key(key, _text(choice.message)), choice.finish_reason)
    if not text and finish_reason != "length":
        raise failure("refused", model, _refusal(choice))
    provenance = {"model": clean(without_key(key, str(response.model or ""))), "through": "litellm"}
    return ChatReply(text, finish_reason, _usage(response), "provider", seconds, provenance)


def _text(message: Any) -> str:
    calls = message.tool_calls or ()
    arguments = next((call.function.arguments for call in calls if call.function.name == TOOL), None)
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
