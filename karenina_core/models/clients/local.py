"""A small language model inside this process, by llama.cpp: no key, no network, modest wisdom."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from karenina_core.errors import ConfigError, MissingDependencyError, ModelError
from karenina_core.models.clients import demo_judge
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.replies import clean, clean_reply
from karenina_core.models.sharing import check_place
from karenina_core.models.weights import SMOLLM2, file_sha256, loading
from karenina_core.schemas import ModelConfig, Usage

INSTALL = "Install it with: pip install xllamacpp==2026.10.11549"
_ANSWER_TOKENS = 512  # a small model that finds no end is stopped here, unless a configuration sets its own limit
_JUDGE_TOKENS = 512
_SMALL = 700 * 2**20  # bytes; smaller files are judges that choose among what the response says
_CONTEXT = 4_096  # tokens
_BATCH = 128  # tokens of a prompt between two looks at the clock
_PROMPT_CACHE = 256  # MB for prompts seen before, such as the judge's examples
_UNSET_TOKENS = ModelConfig.model_fields["max_tokens"].default
_NEXT = {
    "context_length": "Use a shorter question, or a model at a provider.",
    "not_found": "Choose a GGUF file of a chat model.",
    "timeout": "Raise the time limit, or lower max_tokens.",
}


class LocalClient:
    """SmolLM2-135M from its package, or any GGUF file.

    As answerer it gets exactly the messages of the request. As judge, a small model's choices are limited to what the
    response says (see `demo_judge`), and every judge is bound to the schema by a grammar, without sampling.

    Args:
        config: With an empty `model_name`, or the path of a GGUF file.

    Raises:
        MissingDependencyError: The engine or the packaged model is not installed.
        ConfigError: There is no such file, or it may not be loaded here.
    """

    def __init__(self, config: ModelConfig) -> None:
        if config.model_name:
            check_place(config.model_name)
        self.config = config
        self._version = f"xllamacpp {_xllamacpp().__version__}"
        path = Path(config.model_name).expanduser() if config.model_name else SMOLLM2.require()
        if not path.is_file():
            raise ConfigError(f"There is no model file {config.model_name!r}.", next="Give the path of a GGUF file.")
        self._path = path

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Generate one reply; requests wait for each other, and the wait does not count as time.

        Raises:
            ModelError: With its category.
        """
        small = request.schema is not None and self._path.stat().st_size < _SMALL
        narrowed = small and request.purpose == "parse"
        body = self._answer_body(request) if request.schema is None else self._judge_body(request, narrowed)
        start = time.perf_counter()
        generation, sha256 = await self._generate(body, request.timeout)
        text = demo_judge.without_repetitions(generation.text) if narrowed else generation.text
        text, finish_reason = clean_reply(text, generation.finish_reason)
        usage = Usage(input_tokens=generation.input_tokens, output_tokens=generation.output_tokens, cost=0.0, calls=1)
        parameters = {name: body[name] for name in ("temperature", "max_tokens", "seed")}
        provenance = {
            "model_file": self._path.name,
            "sha256": sha256,
            "engine": self._version,
            "parameters": {**parameters, "context": _CONTEXT, "threads": 1},
            **({"note": demo_judge.DEMO_JUDGE_NOTE} if small else {}),
        }
        return ChatReply(text, finish_reason, usage, "local", time.perf_counter() - start, provenance)

    async def aclose(self) -> None:
        """The engine stays loaded for the next client."""

    def _answer_body(self, request: ChatRequest) -> dict[str, Any]:
        limit = self.config.max_tokens
        return {
            **self.config.extra_kwargs,
            "messages": _messages(request),
            "temperature": self.config.temperature,
            "max_tokens": _ANSWER_TOKENS if limit == _UNSET_TOKENS else limit,
            "seed": request.subject.replicate,
        }

    def _judge_body(self, request: ChatRequest, narrowed: bool) -> dict[str, Any]:
        schema, subject = request.schema or {}, request.subject
        if narrowed:
            messages = demo_judge.messages(schema, clean(subject.question), clean(subject.response))
            schema = demo_judge.grounded(schema, clean(subject.response))
        else:
            messages, schema = _messages(request), demo_judge.bounded(schema)
        return {
            "messages": messages,
            "temperature": 0,
            "max_tokens": min(self.config.max_tokens, _JUDGE_TOKENS),
            "seed": 1,
            "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}},
        }

    async def _generate(self, body: dict[str, Any], seconds: float) -> tuple[Generation, str]:
        engine, stop = engine_of(self._path), threading.Event()

        def work() -> tuple[Generation, str]:
            return engine.run(body, seconds, stop), engine.sha256

        try:
            return await asyncio.get_running_loop().run_in_executor(engine.thread, work)
        except asyncio.CancelledError:
            stop.set()
            raise


def _messages(request: ChatRequest) -> list[dict[str, str]]:
    return [{"role": message.role, "content": clean(message.content)} for message in request.messages]


@dataclass
class Generation:
    """What one request gave.

    Attributes:
        text: The text so far.
        finish_reason: `stop` or `length`; None when it was stopped from outside.
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens generated.
        error: The engine's complaint.
    """

    text: str = ""
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: dict[str, Any] | None = None

    def add(self, chunk: dict[str, Any]) -> None:
        """Take in one chunk of a streamed completion."""
        self.error = chunk.get("error", self.error)
        for choice in chunk.get("choices", ()):
            self.text += choice["delta"].get("content") or ""
            self.finish_reason = choice["finish_reason"] or self.finish_reason
        if usage := chunk.get("usage"):
            self.input_tokens, self.output_tokens = usage["prompt_tokens"], usage["completion_tokens"]


class Engine:
    """A loaded model file, used by one request at a time. Get it from `engine_of`.

    Attributes:
        path: The model file.
        thread: Runs the requests, one after the other.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # A thread of its own instead of a lock: waiting requests then occupy none of the loop's shared threads.
        self.thread = ThreadPoolExecutor(1, thread_name_prefix=f"llama-{path.stem}")

    @cached_property
    def sha256(self) -> str:
        """Hash of the model file."""
        return file_sha256(self.path)

    def run(self, body: dict[str, Any], seconds: float, stop: threading.Event) -> Generation:
        """Generate a text, in the calling thread; loading the model does not count as time.

        Args:
            body: An OpenAI chat request.
            seconds: Time limit, looked at after every token and every 128 tokens of the prompt.
            stop: Set from outside to stop early.

        Raises:
            ModelError: With its category; `timeout` at the time limit.
        """
        server = self._server
        deadline = time.monotonic() + seconds
        generation = Generation()
        late = False

        def on_chunk(chunk: dict[str, Any]) -> bool:
            nonlocal late
            generation.add(chunk)
            late = time.monotonic() > deadline
            return late or stop.is_set()

        streamed = {**body, "stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        try:
            server.handle_chat_completions(streamed, on_chunk)
        except (ValueError, RuntimeError) as error:
            raise self._failure("bad_request", str(error)) from None
        if generation.error:
            too_long = generation.error.get("type") == "exceed_context_size_error"
            raise self._failure("context_length" if too_long else "bad_request", str(generation.error.get("message")))
        if generation.finish_reason is None:
            raise self._failure("timeout" if late else "cancelled", f"Stopped after {seconds:g} s." if late else "")
        return generation

    @cached_property
    def _server(self) -> Any:
        xllamacpp = _xllamacpp()
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_parallel = _CONTEXT, _BATCH, _BATCH, 1
        # More threads spin against each other on small machines.
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.cache_ram_mib = _PROMPT_CACHE
        params.warmup, params.ui, params.endpoint_slots = False, False, False
        params.verbosity = 0
        # The engine opens a port on the loopback interface that nobody here uses: nobody else shall.
        params.api_keys = [secrets.token_urlsafe(32)]
        try:
            with loading(self.path.stem):
                return xllamacpp.Server(params)
        except RuntimeError as error:
            raise self._failure("not_found", f"It cannot be loaded: {error}") from None

    def _failure(self, category: Any, why: str) -> ModelError:
        what = f"The local model {self.path.name!r} failed."
        return ModelError(what, why[:500], _NEXT.get(category, ""), category=category)


def engine_of(path: Path) -> Engine:
    """Return the engine for a model file; it is loaded at the first request and kept by the process."""
    path = path.resolve()
    with _lock:
        if path not in _engines:
            _engines[path] = Engine(path)
        return _engines[path]


_engines: dict[Path, Engine] = {}
_lock = threading.Lock()


@lru_cache(maxsize=1)
def _xllamacpp() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingDependencyError("The engine for local models is not installed.", str(error), INSTALL) from None
    return xllamacpp
