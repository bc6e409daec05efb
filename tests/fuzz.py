"""Bounded fuzzing of the two readers of foreign files: `python -m tests.fuzz [seconds]`.

Uses atheris where it is installed, else random mutation. Anything but a refusal in words is reported and ends it.
The readers are imported late, so that atheris can instrument them.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

SEED = 20250101
MEMORY_EVERY = 50  # measuring memory is slow, so only every so many executions are measured
FILES = Path(__file__).parent / "data" / "checkpoints"
TEMPLATES = (
    """class Answer(BaseAnswer):
    target: str = VerifiedField(description="d", ground_truth="BCL2", verify_with=ExactMatch(normalize=["strip"]))
    kind: Literal["a", "b"] = Field(description="d")

    def verify(self) -> bool:
        return self.kind == "a" and super().verify()
""",
    """class Inner(BaseModel):
    x: list[int]

class Answer(BaseAnswer):
    inner: Inner = Field(description="d")
    seen: bool = VerifiedField(description="d", ground_truth=True, verify_with=TraceRegex(pattern=r"NCT\\d{8}"))

    class VerificationStrategy:
        verify_strategy = AnyOf(conditions=[FieldCheck("seen")])
""",
)
PIECES = (b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\ud800", b"\0", b"1e999", b"-", b"\n", b"(", b")", b"lambda: ",
          b"\xff", b"\xef\xbb\xbf", b"null", b"__class__", b"f'{", b"@x\n", b"    ", b"Literal[", b"*")  # fmt: skip


@dataclass
class Seen:
    """What a target went through."""

    executions: int = 0
    seconds: float = 0.0
    memory: int = 0


def read_checkpoint(data: bytes) -> None:
    """Read a file, check it, and read back what is written of it."""
    from karenina_core.benchmark import Benchmark, load_checkpoint
    from karenina_core.errors import InputError

    try:
        benchmark, _ = load_checkpoint(data)
        benchmark.check()
        Benchmark.from_json(benchmark.to_json())
    except InputError as error:
        assert error.what


def read_source(data: bytes) -> None:
    """Read a template and make the schema of its judge."""
    from karenina_core.errors import InputError
    from karenina_core.templates import read_template

    read_template.cache_clear()
    try:
        read_template(data.decode("utf-8", "replace")).judge_schema()
    except InputError as error:
        assert error.what


TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "checkpoint reader": (read_checkpoint, lambda: [path.read_bytes() for path in sorted(FILES.glob("*.json"))]),
    "template reader": (read_source, lambda: [text.encode() for text in TEMPLATES]),
}


def mutated(chance: random.Random, samples: Sequence[bytes]) -> bytes:
    """Return a sample damaged in one to six places."""
    data = bytearray(chance.choice(samples))
    for _ in range(chance.randint(1, 6)):
        place, length = chance.randrange(len(data) + 1), chance.randrange(1, 40)
        match chance.randrange(5):
            case 0:
                del data[place : place + length]
            case 1:
                data[place:place] = chance.choice(PIECES) * chance.choice((1, 1, 2, 50, 5_000))
            case 2:
                data[place:place] = data[place : place + length]
            case 3:
                data[place : place + 1] = bytes([chance.randrange(256)])
            case _:
                other = chance.choice(samples)
                start = chance.randrange(len(other))
                data[place:place] = other[start : start + length * 4]
    return bytes(data)


def watched(target: Callable[[bytes], None], seen: Seen) -> Callable[[bytes], None]:
    """Return `target` with a count, a clock and, now and then, a look at its memory."""

    def run(data: bytes) -> None:
        measured = seen.executions % MEMORY_EVERY == 0
        if measured:
            tracemalloc.start()
        started = time.perf_counter()
        try:
            target(data)
        except BaseException:
            print(f"failed on {data[:2_000]!r}", flush=True)
            raise
        finally:
            if measured:
                seen.memory = max(seen.memory, tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
            else:
                seen.seconds = max(seen.seconds, time.perf_counter() - started)
        seen.executions += 1

    return run


def fuzz(name: str, seconds: float) -> Seen:
    """Fuzz one target by random mutation for a bounded time."""
    target, samples = TARGETS[name]
    seen, chance, originals = Seen(), random.Random(SEED), samples()
    run = watched(target, seen)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run(mutated(chance, originals))
    return seen


def fuzz_guided(name: str, seconds: float) -> None:
    """Fuzz one target with atheris, in a process of its own, because atheris never returns."""
    with tempfile.TemporaryDirectory() as folder:
        for number, sample in enumerate(TARGETS[name][1]()):
            Path(folder, str(number)).write_bytes(sample)
        process = multiprocessing.get_context("spawn").Process(target=_atheris, args=(name, seconds, folder))
        process.start()
        process.join()
    if process.exitcode:
        sys.exit(process.exitcode)


def _atheris(name: str, seconds: float, folder: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["karenina_core"]):
        import karenina_core.benchmark
        import karenina_core.templates  # noqa: F401 - instrumented by being imported here

    seen = Seen()
    run = watched(TARGETS[name][0], seen)
    end = time.monotonic() + seconds

    def until_the_end(data: bytes) -> None:
        run(data)
        if time.monotonic() > end:
            report(name, seen)
            os._exit(0)

    atheris.Setup([sys.argv[0], "-max_len=65536", "-len_control=0", "-verbosity=0", folder], until_the_end)
    atheris.Fuzz()


def report(name: str, seen: Seen) -> None:
    """Print what a target went through."""
    print(
        f"{name}: {seen.executions} executions, worst time {seen.seconds:.3f} s, "
        f"worst memory {seen.memory / 2**20:.1f} MB",
        flush=True,
    )


def main(arguments: Sequence[str]) -> None:
    """Fuzz both readers, half of the time each."""
    seconds = float(arguments[0]) if arguments else 60.0
    guided = find_spec("atheris") is not None
    print("guided by atheris" if guided else "random mutation (atheris is not installed)")
    for name in TARGETS:
        if guided:
            fuzz_guided(name, seconds / 2)
        else:
            report(name, fuzz(name, seconds / 2))


if __name__ == "__main__":
    main(sys.argv[1:])
