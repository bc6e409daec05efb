"""A small language model inside this process: no key, no network, modest wisdom."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

from karenina_core.errors import ConfigError
from karenina_core.models.local import judge as local_judge
from karenina_core.models.local.engine import CONTEXT, Engine, Generation, engine, engine_version
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.replies import clean, clean_reply
from karenina_core.models.weights import SMOLLM2
from karenina_core.schemas import ModelConfig, Usage

ANSWER_TOKENS = 512  # a small model that finds no end is stopped here, unless a configuration sets its own limit
JUDGE_TOKENS = 512
SMALL = 700 * 2**20  # bytes; files below are judges that need to be led by the hand
_UNSET_TOKENS = ModelConfig.model_fields["max_tokens"].default


class LocalClient:
    """SmolLM2-135M from its package, or any GGUF file.

    As answerer it gets exactly the messages of the request. As judge, a small model's choices are limited to what the
    response says (see `local_judge`), and every judge is bound to the schema by a grammar, without sampling.

    Args:
        config: With an empty `model_name`, or the path of a GGUF file.

    Raises:
        MissingDependencyError: The engine or the packaged model is not installed.
        ConfigError: There is no such file.
    """

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self._version = engine_version()
        self._path = _gguf(config.model_name) if config.model_name else SMOLLM2.require()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Generate one reply; requests wait for each other, and the wait does not count as time.

        Raises:
            ModelError: With its category.
        """
        loaded = engine(self._path)
        small = self._path.stat().st_size < SMALL
        led = small and request.schema is not None and request.purpose == "parse"
        body = self._judge(request, led) if request.schema is not None else self._answer(request)
        start = time.perf_counter()
        made, sha256 = await _in_thread(loaded, body, request.timeout)
        text = local_judge.without_repetitions(made.text) if led else made.text
        text, finish_reason = clean_reply(text, made.finish_reason)
        usage = Usage(input_tokens=made.input_tokens, output_tokens=made.output_tokens, cost=0.0, calls=1)
        note = local_judge.DEMO_JUDGE_NOTE if small and request.schema is not None else ""
        provenance = self._provenance(body, sha256, note)
        return ChatReply(text, finish_reason, usage, "local", time.perf_counter() - start, provenance)

    async def aclose(self) -> None:
        """The engine stays loaded for the next client."""

    def _answer(self, request: ChatRequest) -> dict[str, Any]:
        limit = self.config.max_tokens
        return {
            **self.config.extra_kwargs,
            "messages": _messages(request),
            "temperature": self.config.temperature,
            "max_tokens": ANSWER_TOKENS if limit == _UNSET_TOKENS else limit,
            "seed": request.subject.replicate,
        }

    def _judge(self, request: ChatRequest, led: bool) -> dict[str, Any]:
        schema, subject = request.schema or {}, request.subject
        if led:
            messages = local_judge.messages(schema, clean(subject.question), clean(subject.response))
            schema = local_judge.grounded(schema, clean(subject.response))
        else:
            messages, schema = _messages(request), local_judge.bounded(schema)
        return {
            "messages": messages,
            "temperature": 0,
            "max_tokens": min(self.config.max_tokens, JUDGE_TOKENS),
            "seed": 1,
            "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}},
        }

    def _provenance(self, body: dict[str, Any], sha256: str, note: str) -> dict[str, Any]:
        parameters = {name: body[name] for name in ("temperature", "max_tokens", "seed")}
        facts = {
            "model_file": self._path.name,
            "sha256": sha256,
            "engine": self._version,
            "parameters": {**parameters, "context": CONTEXT, "threads": 1},
        }
        return {**facts, "note": note} if note else facts


def _gguf(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_file():
        raise ConfigError(f"There is no model file {name!r}.", next="Give the path of a GGUF file.")
    return path


def _messages(request: ChatRequest) -> list[dict[str, str]]:
    return [{"role": message.role, "content": clean(message.content)} for message in request.messages]


async def _in_thread(loaded: Engine, body: dict[str, Any], seconds: float) -> tuple[Generation, str]:
    stop = threading.Event()

    def work() -> tuple[Generation, str]:
        return loaded.run(body, seconds, stop), loaded.sha256

    try:
        return await asyncio.get_running_loop().run_in_executor(loaded.thread, work)
    except asyncio.CancelledError:
        stop.set()
        raise
