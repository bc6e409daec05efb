"""Single steps beside the work they cannot avoid: parsing the same JSON, importing the same library."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from karenina_core import Benchmark
from karenina_core.templates import read_template
from tests.performance import workload

ROUNDS = 5


def main() -> None:
    """Print all steps."""
    verification()
    checkpoints()
    imports()


def cpu_of(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the least CPU seconds of several rounds; the least is the one least disturbed by others."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def verification() -> None:
    """Measure the verdicts of 5,000 stored extractions with three fields each."""
    truths = workload.truths(500)
    templates = [read_template(workload.template(truth)) for truth in truths]
    stored = [json.dumps(truth) for truth in truths]
    floor = cpu_of(lambda: [json.loads(text) for text in stored * 10])
    bare = cpu_of(lambda: [t.verdict(v, "") for t, v in list(zip(templates, truths, strict=True)) * 10])
    full = cpu_of(lambda: [t.evaluate(v, "") for t, v in list(zip(templates, truths, strict=True)) * 10])
    print(
        f"verdict of three fields       {bare / 5000 * 1e6:6.1f} µs   {bare / floor:5.1f} × json.loads   (goal 15 µs)"
    )
    print(f"the same with its explanation {full / 5000 * 1e6:6.1f} µs   {full / floor:5.1f} × json.loads")
    print(f"5,000 verdicts                {bare:6.3f} s    (goal 0.3 s)")


def checkpoints() -> None:
    """Measure building, saving and loading a benchmark of 10,000 questions, and of 5,000 for comparison."""
    goals = {"build": 0.5, "save": 0.3, "load": 0.5}
    for name, large, small in zip(goals, _checkpoint(10_000), _checkpoint(5_000), strict=True):
        goal = f"(goal {goals[name]} s, × 2)"
        print(f"{name} 10,000 questions        {large:6.3f} s    × {large / small:.2f} that of 5,000   {goal}")


def _checkpoint(count: int) -> tuple[float, float, float]:
    texts = [workload.question(number, truth) for number, truth in enumerate(workload.truths(count))]
    source = workload.template(workload.truths(1)[0])

    def build() -> Benchmark:
        made = Benchmark.create(name="Large")
        for text in texts:
            made.add_question(text, raw_answer="BCL2", answer_template=source)
        return made

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonld"
        made = build()
        return (
            cpu_of(build, 3),
            cpu_of(lambda: made.save(path), 3),
            cpu_of(lambda: Benchmark.load(path), 3),
        )


def imports() -> None:
    """Measure imports in fresh processes, beside importing pydantic alone."""
    floor = _import("import pydantic; pydantic.BaseModel")
    for label, code, goal in (
        ("import karenina_core", "import karenina_core", "0.2 s"),
        ("from karenina_core import Benchmark", "from karenina_core import Benchmark", ""),
        (
            "karenina --help",
            "import sys; sys.argv = ['karenina', '--help']; from karenina_core.cli import main\n"
            "try: main()\nexcept SystemExit: pass",
            "0.3 s",
        ),
    ):
        seconds = _import(code)
        print(f"{label:36s} {seconds:5.2f} s   {seconds / floor:4.1f} × pydantic{f'   (goal {goal})' if goal else ''}")


def _import(code: str) -> float:
    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    return median(once() for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
