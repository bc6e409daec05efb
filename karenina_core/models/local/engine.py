"""llama.cpp inside this process: one engine per model file, one thread, one request at a time."""

from __future__ import annotations

import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from karenina_core.errors import MissingDependencyError, ModelError
from karenina_core.models.loading import loading
from karenina_core.models.weights import file_sha256

CONTEXT = 4_096  # tokens
BATCH = 128  # tokens of a prompt between two looks at the clock
PROMPT_CACHE = 256  # MB for prompts seen before, such as the judge's examples
INSTALL = "Install it with: pip install xllamacpp==2026.10.11549"


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
        usage = chunk.get("usage")
        if usage:
            self.input_tokens, self.output_tokens = usage["prompt_tokens"], usage["completion_tokens"]


class Engine:
    """A loaded model file. Get it from `engine`.

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
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_parallel = CONTEXT, BATCH, BATCH, 1
        # More threads spin against each other on small machines.
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.cache_ram_mib = PROMPT_CACHE
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
        next_step = {
            "context_length": "Use a shorter question, or a model at a provider.",
            "not_found": "Choose a GGUF file of a chat model.",
            "timeout": "Raise the time limit, or lower max_tokens.",
        }.get(category, "")
        return ModelError(f"The local model {self.path.name!r} failed.", why[:500], next_step, category=category)


@lru_cache(maxsize=1)
def engine_version() -> str:
    """Return the name and version of the engine.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return f"xllamacpp {_xllamacpp().__version__}"


def engine(path: Path) -> Engine:
    """Return the engine for a model file; it is loaded at the first request and kept by the process."""
    path = path.resolve()
    with _lock:
        if path not in _engines:
            _engines[path] = Engine(path)
        return _engines[path]


_engines: dict[Path, Engine] = {}
_lock = threading.Lock()


def _xllamacpp() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingDependencyError("The engine for local models is not installed.", str(error), INSTALL) from None
    return xllamacpp
