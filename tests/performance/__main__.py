"""`python -m tests.performance`: how fast the workbench is beside bare clients, on this machine, at this moment.

Every number is a ratio of runs made right after each other, the median of several rounds. Nothing is asserted:
machines differ. `--quick` makes fewer and smaller rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from tests.performance import micro, results


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of everything, with fewer questions")
    parser.add_argument("--only", choices=["overhead", "latency", "memory", "micro", "results"], help="only this table")
    given = parser.parse_args()
    rounds = 1 if given.quick else 5
    size = 200 if given.quick else 1000
    tables = {
        "overhead": lambda: overhead(rounds, size),
        "latency": lambda: latency(1 if given.quick else 3, size),
        "memory": lambda: memory(*((500, 2_000) if given.quick else (2_000, 20_000))),
        "micro": micro.main,
        "results": lambda: results.main(10_000 if given.quick else 100_000),
    }
    for name, table in tables.items():
        if given.only in (None, name):
            print(f"\n{table.__name__ if name == 'micro' else name}", flush=True)
            table()


def overhead(rounds: int, size: int) -> None:
    """Compare the runners when the provider takes no time, with 32 evaluations at once."""
    kinds = {"aiohttp": size, "litellm": min(size, 200), "workbench": size, "workbench-litellm": min(size, 200)}
    seen: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    with provider(0) as port:
        for _ in range(rounds):
            for kind, questions in kinds.items():
                seen[kind].append(measure(kind, port, questions, 32))
    print("0 ms, 32 at once     evaluations/s   CPU ms each   connections   passed")
    for kind, runs in seen.items():
        rate, cpu = median(run["rate"] for run in runs), median(run["cpu_ms"] for run in runs)
        passed = "all" if all(run["passed"] == run["questions"] for run in runs) else "NOT ALL"
        print(f"{kind:20s} {rate:13.0f} {cpu:13.2f} {runs[-1]['connections']:13d}   {passed}")
    _ratio("evaluations/s: workbench / bare litellm", seen["workbench"], seen["litellm"], "rate", "at least 10")
    _ratio(
        "CPU: workbench through litellm / bare litellm", seen["workbench-litellm"], seen["litellm"], "cpu_ms", "≤ 1.15"
    )
    _ratio("CPU: workbench / bare aiohttp", seen["workbench"], seen["aiohttp"], "cpu_ms")


def latency(rounds: int, size: int) -> None:
    """Compare the wall time with the ideal when the provider takes 200 ms."""
    print("200 ms a call        wall / ideal   goal    most in flight   connections")
    with provider(200) as port:
        for concurrency, goal in ((50, 1.10), (200, 1.30)):
            runs = [measure("workbench", port, size, concurrency) for _ in range(rounds)]
            ideal = math.ceil(size / concurrency) * 2 * 0.2
            ratio = median(run["wall"] for run in runs) / ideal
            print(
                f"{concurrency:4d} at once {ratio:21.2f}  ≤ {goal:.2f} {runs[-1]['most_in_flight']:14d} "
                f"{runs[-1]['connections']:13d}"
            )


def memory(small: int, large: int) -> None:
    """Compare the peak memory of a small and of a large run."""
    with provider(0) as port:
        peaks = [measure("workbench", port, size, 32)["peak_mb"] for size in (small, large)]
    print(
        f"peak memory: {peaks[0]:.0f} MB with {small:,} questions, {peaks[1]:.0f} MB with {large:,}: "
        f"ratio {peaks[1] / peaks[0]:.2f}"
    )


def measure(kind: str, port: int, questions: int, concurrency: int) -> dict[str, Any]:
    """Carry out the workload once in a process of its own."""
    _ask(port, "/reset", b"")
    sizes = ["--port", str(port), "--questions", str(questions), "--concurrency", str(concurrency)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.performance.runner", kind, *sizes], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{kind} failed:\n{done.stderr[-3000:]}")
    run = json.loads(done.stdout.splitlines()[-1])
    saw = _ask(port, "/stats")
    return {
        **run,
        "questions": questions,
        "rate": questions / run["wall"],
        "cpu_ms": 1000 * run["cpu"] / questions,
        "connections": saw["connections"],
        "most_in_flight": saw["most_in_flight"],
    }


@contextmanager
def provider(latency_ms: float) -> Iterator[int]:
    """Have a provider on this machine; gives its port."""
    command = [sys.executable, "-m", "tests.performance.provider", "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def _ratio(label: str, runs: list[dict[str, Any]], others: list[dict[str, Any]], value: str, goal: str = "") -> None:
    ratios = sorted(run[value] / other[value] for run, other in zip(runs, others, strict=True))
    spread = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})" if len(ratios) > 1 else ""
    print(f"{label}: {median(ratios):.2f}{spread}{f'   goal: {goal}' if goal else ''}")


def _ask(port: int, path: str, body: bytes | None = None) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data=body, timeout=30) as reply:
        return json.loads(reply.read())


if __name__ == "__main__":
    main()
