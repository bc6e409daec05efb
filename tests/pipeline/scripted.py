"""A client that replies from a script, and a pipeline around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.models import CallServices, ChatReply, ChatRequest, Embedder, MemoryLedger, ModelCaller, RunLimiter
from karenina_core.pipeline import Pipeline
from karenina_core.schemas import ModelConfig, Usage, VerificationConfig, VerificationResult

ANSWERER = ModelConfig(id="answerer", model_name="test/answerer")
JUDGE = ModelConfig(id="judge", model_name="test/judge")

Script = Callable[[ChatRequest], Any]


class ScriptedClient:
    """Replies what the script returns: text, JSON data, a reply, or an error to raise."""

    def __init__(self, config: ModelConfig, script: Script, seen: list[ChatRequest]) -> None:
        self.config = config
        self._script = script
        self._seen = seen

    async def complete(self, request: ChatRequest) -> ChatReply:
        self._seen.append(request)
        reply = self._script(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        return ChatReply(reply if isinstance(reply, str) else json.dumps(reply), usage=Usage(calls=1))

    async def aclose(self) -> None:
        return None


class Similarities:
    """An embedding model that knows its similarities beforehand."""

    name = "known"

    def __init__(self, value: float) -> None:
        self.value = value

    def similarity(self, a: str, b: str) -> float:
        return self.value


async def evaluate(
    benchmark: Benchmark,
    script: Script,
    *,
    seen: list[ChatRequest] | None = None,
    load_embedder: Callable[[str], Embedder] | None = None,
    **settings: Any,
) -> VerificationResult:
    """Evaluate the benchmark's first question."""
    config = VerificationConfig(answering_models=[ANSWERER], parsing_models=[JUDGE], **settings)
    log: list[ChatRequest] = [] if seen is None else seen

    async def no_wait(seconds: float) -> None:
        return None

    services = CallServices(MemoryLedger(), RunLimiter(attempts=2))
    async with ModelCaller(services, lambda model: ScriptedClient(model, script, log), sleep=no_wait) as caller:
        extra = {"load_embedder": load_embedder} if load_embedder else {}
        pipeline = Pipeline(benchmark, config, caller, **extra)
        context = await pipeline.generate(benchmark.get_question_ids()[0], ANSWERER, 1)
        return await pipeline.judge(context, JUDGE)
