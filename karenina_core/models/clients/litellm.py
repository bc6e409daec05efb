"""Providers with protocols of their own, through litellm. One call is one HTTP request: retries are the caller's."""

from __future__ import annotations

import asyncio
import os
import re
import time
import warnings
from functools import lru_cache
from typing import Any

from karenina_core.errors import MissingDependencyError, ModelError, ModelErrorCategory
from karenina_core.models.clients.openai import Mode, chat_messages, schema_settings, tool_settings
from karenina_core.models.clients.openai_reply import ReplyContext, read_reply
from karenina_core.models.endpoints import check_endpoint
from karenina_core.models.failures import category_of_status, failure, refined, retry_after
from karenina_core.models.keys import check_access, find_key, provider_prefix
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.prices import listed
from karenina_core.redact import install_log_redaction
from karenina_core.schemas import ModelConfig

INSTALL = "Install it with: pip install litellm==1.106.2"
_NOT_PASSED_ON = ("num_retries", "max_retries", "fallbacks", "stream")  # one call, one request, one whole reply
_in_use = 0  # clients that have made a call

# litellm's classes are not enough: a refused connection and a broken body are an `InternalServerError` to it.
BY_CLASS: dict[str, ModelErrorCategory] = {
    "APIConnectionError": "connection",
    "BlockedPiiEntityError": "refused",
    "BudgetExceededError": "authentication",
    "ContentPolicyViolationError": "refused",
    "ContextWindowExceededError": "context_length",
    "GuardrailRaisedException": "refused",
    "InvalidRequestError": "bad_request",
    "ModelNotMappedError": "not_found",
    "RateLimitError": "rate_limit",
    "RejectedRequestError": "refused",
    "Timeout": "timeout",
    "TimeoutError": "timeout",
}
_NO_KEY = re.compile(
    r"missing (?:\w+ )?credentials|(?:missing|no) .{0,40}api.?key|api_key client option", re.IGNORECASE
)
_CLASS_NAMES = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)\w*(?::| -)\s*)+")


class LitellmClient:
    """A model at a provider whose protocol litellm translates.

    Structured replies are asked for by JSON schema, which litellm turns into what the provider knows; a model that
    rejects that is asked by an instruction in the prompt. What worked is kept for the client's further calls.

    Args:
        config: The model.

    Raises:
        ConfigError: Its address cannot be used, or its key may not be sent there.
    """

    def __init__(self, config: ModelConfig) -> None:
        check_access(config)
        self.config = config
        self._base_url = check_endpoint(config.endpoint_base_url) if config.endpoint_base_url else None
        self._mode: Mode = "schema"
        self._used = False

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt; more than one request only while finding out how the model takes a schema.

        Raises:
            ModelError: With its category.
        """
        mode = self._mode
        while True:
            try:
                reply = await self._once(request, mode)
            except ModelError as error:
                if request.schema is None or error.category != "bad_request" or mode == "instruction":
                    raise
                mode = "instruction"
            else:
                self._mode = mode
                return reply

    async def aclose(self) -> None:
        """Close litellm's connections when no other client uses them."""
        global _in_use
        if self._used:
            self._used = False
            _in_use -= 1
            if not _in_use:
                litellm = _litellm()
                await litellm.close_litellm_async_clients()
                litellm.in_memory_llm_clients_cache.flush_cache()

    async def _once(self, request: ChatRequest, mode: Mode) -> ChatReply:
        global _in_use
        litellm = _litellm() if _litellm.cache_info().currsize else await asyncio.to_thread(_litellm)
        if not self._used:
            self._used = True
            _in_use += 1
        start = time.perf_counter()
        try:
            name, address = self.config.provider_model, self._base_url
            prefix = provider_prefix(self.config) or litellm.get_llm_provider(name, api_base=address)[1]
            key = find_key(self.config, prefix)
            options = self._options(request, mode) | ({"api_key": key} if key else {})
            async with asyncio.timeout(request.timeout):
                response = await litellm.acompletion(**options)
            context = ReplyContext(self.config.id, listed(name), key, tools=bool(request.tools))
            seconds = time.perf_counter() - start
            return read_reply(response.model_dump(warnings=False), context, seconds, {"through": "litellm"})
        except ModelError as error:
            problem = error
        except Exception as error:
            problem = classify(error, self.config.id)
        # Outside of the handler, so that the provider's error, which may hold the key, is not chained to ours.
        raise problem

    def _options(self, request: ChatRequest, mode: Mode) -> dict[str, Any]:
        return {
            **{name: value for name, value in self.config.extra_kwargs.items() if name not in _NOT_PASSED_ON},
            **(schema_settings(request.schema, mode) if request.schema is not None else {}),
            **tool_settings(request.tools),
            **({"api_base": self._base_url} if self._base_url else {}),
            "model": self.config.provider_model,
            "messages": chat_messages(request, mode),
            "temperature": self.config.temperature,
            "max_tokens": self.config.max_tokens,
            "timeout": request.timeout,
            "max_retries": 0,
        }


def classify(error: Exception, model: str) -> ModelError:
    """Return the error for whatever litellm raised; secrets that its text repeats are hidden."""
    # "litellm.RateLimitError: RateLimitError: OpenAIException - Slow down." -> "Slow down."
    text = _CLASS_NAMES.sub("", str(error).partition("Traceback (most recent call last)")[0]).strip()
    names = [kind.__name__ for kind in type(error).__mro__]
    status = getattr(error, "status_code", None)
    category = next((BY_CLASS[name] for name in names if name in BY_CLASS), None) or (
        category_of_status(status) if isinstance(status, int) else "unexpected"
    )
    if category in ("server_error", "connection", "unexpected") and _NO_KEY.search(text):
        category = "authentication"  # litellm noticed before anything was sent
    elif category in ("server_error", "connection") and "No module named" in text:
        category = "unexpected"
    elif category == "server_error" and "Connection error" in text:
        category = "connection"
    headers = getattr(error, "litellm_response_headers", None)
    return failure(refined(category, text), model, text, retry_after(headers))


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
