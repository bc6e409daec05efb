"""Where templates with code of their own run: a separate interpreter process with nothing in it but the template.

The interpreter is pydantic-monty. It has no files, no network, no environment, a fixed clock and fixed random
numbers; time, memory and recursion are limited. Each evaluation gets a fresh session, so nothing is carried over.
What a template may call beyond what the interpreter brings runs in this process, unmetered, for a stranger's
arguments: it stays small and bounded.
"""

from __future__ import annotations

import atexit
import os
import statistics
import string
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from importlib.util import find_spec
from typing import Any
from uuid import UUID

from karenina_core.errors import TemplateError
from karenina_core.schemas.primitives import REGISTRY, SynonymMap
from karenina_core.templates.limits import refuse

NOW = datetime(2025, 1, 1, tzinfo=UTC)
"""The moment it always is inside, so that a verdict does not change from one day to the next."""
_PRINT_BYTES = 64 * 1024
_GRACE_SECONDS = 4.0
MOST_TIMEOUTS = 3
"""After so many evaluations that took too long, a benchmark's own code is not run any more."""
# What stops a program: the error, its code, what is said of it, and what to do.
_LIMITS: tuple[tuple[type[BaseException], str, str, str], ...] = (
    (TimeoutError, "timeout", "took too long", "look for a loop that does not end"),
    (MemoryError, "memory", "used too much memory", "work on smaller data"),
    (RecursionError, "recursion", "called itself too deeply", "look for a function that calls itself without end"),
)

_METHODS = ("apply", "check", "check_trace", "ratio", "quick_ratio", "real_quick_ratio")
_DAY = datetime(2025, 1, 1)  # noqa: DTZ001 - texts without a zone stay without one
_MAX_NUMBERS = 10_000
_MAX_DATE_TEXT = 100
_MAX_MATCHED = 200
_MAX_CLOSE = 50
_MAX_TEXT = 200_000
STATISTICS = ("fmean", "mean", "median", "pstdev", "pvariance", "stdev", "variance")
_STRINGS = {name: value for name in string.__all__ if isinstance(value := getattr(string, name), str)}


@dataclass(frozen=True)
class Limits:
    """What one evaluation may use.

    Attributes:
        seconds: Wall-clock time; generous, because a busy machine makes everything slower.
        memory: Bytes.
        recursion: Depth of calls.
        round_trips: Calls into this process.
    """

    seconds: float = 10.0
    memory: int = 32 * 1024 * 1024
    recursion: int = 200
    round_trips: int = 50


class Sandbox:
    """A pool of interpreter processes, started by the first evaluation. Safe to use from several threads.

    Args:
        limits: What one evaluation may use.
        processes: At most this many at once, of which one benchmark may have all but one.
    """

    def __init__(self, limits: Limits | None = None, processes: int | None = None) -> None:
        self.limits = limits or Limits()
        self.processes = processes or min(4, os.cpu_count() or 1) + 1
        self._starting = threading.Lock()
        self._alone = threading.Lock()
        self._pool: Any = None

    def run(self, code: str, inputs: Mapping[str, Any], lines: Sequence[int], prelude: str = "") -> Any:
        """Run a program in a fresh session and return the value of its last expression.

        A run that exceeds its time while the machine is busy is repeated once, without company, before it counts as
        too long.

        Args:
            code: The program.
            inputs: Values by the global name they get.
            lines: The author's line for each line of the program; errors are reported by it.
            prelude: Definitions to run before it.

        Raises:
            TemplateError: `timeout`, `memory`, `recursion`, `raised`, `unsupported`, `crashed` or `unavailable`.
        """
        try:
            return self._run_once(code, inputs, lines, prelude)
        except TemplateError as error:
            busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > (os.cpu_count() or 1)
            if error.code != "timeout" or not busy:
                raise
        with self._alone:
            return self._run_once(code, inputs, lines, prelude)

    def close(self) -> None:
        """End the processes. The next evaluation starts new ones."""
        with self._starting:
            pool, self._pool = self._pool, None
            if pool is not None:
                pool.__exit__(None, None, None)

    def _run_once(self, code: str, inputs: Mapping[str, Any], lines: Sequence[int], prelude: str) -> Any:
        pool = self._started()
        import pydantic_monty as monty

        try:
            with pool.checkout(
                script_name="template.py",
                limits={
                    "max_feed_duration_secs": self.limits.seconds,
                    "max_memory": self.limits.memory,
                    "max_recursion_depth": self.limits.recursion,
                    "max_suspensions": self.limits.round_trips,
                    "max_total_sleep_secs": 0,
                },
                os_policy={"datetime": NOW, "sleep": "zero", "random_start": {"seed": 0}},
                external_modules=_modules(),
            ) as session:
                if prelude:
                    session.feed_run(prelude)
                printed = monty.CollectString(_PRINT_BYTES)
                return session.feed_run(code, inputs=dict(inputs), print_callback=printed)
        except monty.MontyCrashedError as error:
            raise _crashed(error) from None
        except monty.MontyError as error:
            raise _explained(error, lines) from None

    def _started(self) -> Any:
        with self._starting:
            if self._pool is None:
                self._pool = self._start()
            return self._pool

    def _start(self) -> Any:
        try:
            import pydantic_monty as monty

            return monty.Monty(
                min_processes=1,
                max_processes=self.processes,
                request_timeout=self.limits.seconds + _GRACE_SECONDS,
                max_checkouts_per_worker=5000,
            ).__enter__()
        except Exception as error:
            what, why = "this template's own code cannot run here", f"the sandbox does not start: {error}"
            advice = "install pydantic-monty for this platform, or use VerifiedField"
            raise refuse("unavailable", what, why, advice) from None


class SandboxShare:
    """What one benchmark may use of a sandbox, so that its endless loops do not keep the templates of others waiting.

    Args:
        sandbox: Where its templates run; the one of this process if not given.
    """

    def __init__(self, sandbox: Sandbox | None = None) -> None:
        self._sandbox = sandbox or shared_sandbox()
        self._room = threading.BoundedSemaphore(max(1, self._sandbox.processes - 1))
        self._timeouts = 0

    def run(self, code: str, inputs: Mapping[str, Any], lines: Sequence[int], prelude: str = "") -> Any:
        """Run a program as `Sandbox.run` does, when the benchmark has room.

        Raises:
            TemplateError: Those of `Sandbox.run`; `stopped` after three programs of the benchmark took too long.
        """
        with self._room:
            if self._timeouts >= MOST_TIMEOUTS:
                what, why = "the own code of this benchmark was stopped", f"it took too long {MOST_TIMEOUTS} times"
                raise refuse("stopped", what, why, "look for loops that do not end in its templates, then start again")
            try:
                return self._sandbox.run(code, inputs, lines, prelude)
            except TemplateError as error:
                self._timeouts += error.code == "timeout"
                raise


AnySandbox = Sandbox | SandboxShare


def available() -> bool:
    """Whether templates with code of their own can run on this machine."""
    return find_spec("pydantic_monty") is not None


@cache
def shared_sandbox() -> Sandbox:
    """Return the sandbox of this process."""
    shared = Sandbox()
    atexit.register(shared.close)
    return shared


def _crashed(error: Any) -> TemplateError:
    if error.timed_out:
        return refuse("timeout", "the template's code took too long", next="look for a loop that does not end")
    return refuse("crashed", "the sandbox ended unexpectedly", str(error), "try again")


def _explained(error: Any, lines: Sequence[int]) -> TemplateError:
    """Turn an error of the interpreter into one that names the author's line."""
    cause = error.exception()
    frames = error.traceback() if hasattr(error, "traceback") else []
    # The outermost frame is in the program; what a prelude defines has another name.
    own = [frame for frame in frames if frame.line <= len(lines) and frame.filename == frames[0].filename]
    line = lines[own[-1].line - 1] if own else None
    message = str(cause)
    for kind, code, what, advice in _LIMITS:
        if isinstance(cause, kind) and ("limit exceeded" in message or code == "recursion"):
            return refuse(code, f"the template's code {what}", next=advice, line=line)
    if isinstance(cause, NotImplementedError | SyntaxError) and (not own or own[-1].function_name is None):
        reason = message.removeprefix("The monty syntax parser does not yet support ")
        return refuse("unsupported", f"the sandbox does not support {reason}", next="write it another way", line=line)
    method = next((frame.function_name for frame in own if frame.function_name not in (None, "<module>")), None)
    place = f"{method}() raised" if method else "the template's code raised"
    return refuse("raised", f"{place} {type(cause).__name__}", message[:500], line=line)


@cache
def _modules() -> dict[str, Any]:
    """Return the importable modules by name: parts of `string`, `statistics`, `difflib`, `uuid` and `dateutil`."""
    from pydantic_monty import ExternalModule

    return {
        "string": ExternalModule(_STRINGS),
        "statistics": ExternalModule({name: _bounded(getattr(statistics, name)) for name in STATISTICS}),
        "uuid": ExternalModule({"UUID": lambda text: str(UUID(str(text)[:_MAX_DATE_TEXT]))}),
        "difflib": ExternalModule({"SequenceMatcher": _wrapped(_Matcher), "get_close_matches": _close_matches}),
        "dateutil": ExternalModule({"parser": ExternalModule({"parse": _parse_date})}),
    }


class _Matcher(SequenceMatcher[str]):
    """Compares short texts: it takes time by the third power of their length, in this process."""

    def __init__(self, isjunk: None = None, a: str = "", b: str = "", autojunk: bool = True) -> None:
        if isjunk is not None or not isinstance(a, str) or not isinstance(b, str) or max(len(a), len(b)) > _MAX_MATCHED:
            raise ValueError(f"SequenceMatcher takes None and two texts of up to {_MAX_MATCHED} characters")
        super().__init__(None, a, b, bool(autojunk))


def _close_matches(word: Any, possibilities: Any, n: int = 3, cutoff: float = 0.6) -> list[str]:
    texts = [word, *possibilities]
    if not all(isinstance(text, str) and len(text) <= _MAX_CLOSE for text in texts) or len(texts) > _MAX_CLOSE:
        raise ValueError(f"get_close_matches takes up to {_MAX_CLOSE} texts of up to {_MAX_CLOSE} characters")
    return get_close_matches(word, texts[1:], n, cutoff)


def handed_in(name: str) -> Any:
    """Return the primitive class, or `SynonymMap`, as the sandbox may use it: build it, call `check`."""
    return _wrapped(SynonymMap if name == "SynonymMap" else REGISTRY[name])


@cache
def _wrapped(value: type[Any]) -> Any:
    from pydantic_monty import ClassInstance, ClassType

    class Instance(ClassInstance):  # type: ignore[misc]
        def call_method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            _check_size([*args, *kwargs.values()])
            return super().call_method(name, args, kwargs)

    class Class(ClassType):  # type: ignore[misc]
        def construct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            _check_size([*args, *kwargs.values()])
            try:
                return Instance(self.value(*args, **kwargs), class_type=self, allowed_methods=_METHODS)
            except ValueError as error:
                raise ValueError(f"{self.value.__name__} cannot be built: {error}") from None

    return Class(value, init=True)


def _bounded(function: Callable[[list[float]], float]) -> Callable[[Any], float]:
    def call(data: Any) -> float:
        numbers = list(data)
        if len(numbers) > _MAX_NUMBERS or not all(isinstance(n, int | float) and abs(n) < 1e300 for n in numbers):
            raise ValueError(f"statistics takes up to {_MAX_NUMBERS} ordinary numbers")
        return function(numbers)

    return call


def _parse_date(text: Any, dayfirst: bool = False, yearfirst: bool = False) -> datetime:
    from dateutil import parser

    if not isinstance(text, str) or len(text) > _MAX_DATE_TEXT:
        raise ValueError(f"dates are read from text of up to {_MAX_DATE_TEXT} characters")
    try:
        found = parser.parse(text, dayfirst=bool(dayfirst), yearfirst=bool(yearfirst), default=_DAY)
    except (ValueError, OverflowError, TypeError) as error:
        raise ValueError(f"{text!r} is not a date") from error
    offset = found.utcoffset()
    return found.replace(tzinfo=None if offset is None else timezone(timedelta(seconds=round(offset.total_seconds()))))


def _check_size(values: Any, depth: int = 0) -> int:
    """Return the summed size of values, or refuse them."""
    size = 0
    for value in values:
        size += len(value) if isinstance(value, str | bytes) else 1
        if isinstance(value, int) and value.bit_length() > 10_000:
            raise ValueError("the number is too large for a primitive")
        if isinstance(value, dict):
            size += _check_size([*value.keys(), *value.values()], depth + 1)
        elif isinstance(value, list | tuple | set | frozenset):
            size += _check_size(value, depth + 1)
        if size > _MAX_TEXT or depth > 20:
            raise ValueError("the values are too large for a primitive")
    return size
