"""A hundred thousand questions: planned, started, stopped and resumed in memory that grows no faster than they do."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.errors import CheckpointError
from karenina_core.runs import Plan
from tests.faults.road import TEMPLATE, Road, islands

ROOT = Path(__file__).parents[2]
LARGE = 100_000

# In a process of its own, so that its memory is its own.
SCRIPT = """
import re, sys
from pathlib import Path
from karenina_core.runs.plan import wanted
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.store import Store
from tests.faults.road import TEMPLATE, islands
from tests.runs.fakes import Laboratory, small_config

def megabytes():
    # What `resource` says begins with the memory of the process that started this one.
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024

questions, folder = int(sys.argv[1]), sys.argv[2]
base = megabytes()
lab = Laboratory()
with Store.open(f"{folder}/large.db") as store:
    benchmark = islands(questions, TEMPLATE.replace("{number}", "1"))
    plan = wanted(benchmark, small_config(max_concurrent_requests=50))
    assert plan.rows == questions
    run_id = store.runs.create(plan)
    del plan, benchmark
    with Engine(store, lab) as runner:
        runner.start(run_id)
        while runner.progress(run_id).done < 300:
            runner.wait(run_id, 0.05)
        runner.cancel(run_id)
    with Engine(store, lab) as runner:
        before = store.runs.get(run_id).done
        runner.resume(run_id)
        assert runner.progress(run_id).total == questions
        while runner.progress(run_id).done < before + 300:
            runner.wait(run_id, 0.05)
        runner.cancel(run_id)
    assert len(lab.answered) == len(set(lab.answered))
    done = store.runs.get(run_id).done
    assert done == len(store.results.rows(run_id)) >= 600
    assert sum(1 for _ in store.results.iterate(run_id)) == done
print(base, megabytes())
"""


def memory_for(questions: int, folder: Path) -> int:
    """Return by how many megabytes a process grows that begins and resumes a run of so many questions."""
    command = [sys.executable, "-c", SCRIPT, str(questions), str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    base, most = map(int, ended.stdout.split())
    return most - base


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak memory of one process")
def test_a_run_of_a_hundred_thousand_questions_is_begun_and_resumed_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    small = memory_for(LARGE // 10, tmp_path / "small")
    large = memory_for(LARGE, tmp_path)
    assert large < 12 * small, f"{large} MB for {LARGE} questions, {small} MB for a tenth"
    assert large < 1_800


@pytest.mark.slow
def test_a_file_of_a_hundred_thousand_questions_is_written_and_read(tmp_path: Path) -> None:
    path = islands(LARGE, TEMPLATE.replace("{number}", "1")).save(tmp_path / "large.jsonld")
    assert path.stat().st_size > 50_000_000
    again = Benchmark.load(path)
    assert (len(again), again.repairs) == (LARGE, [])


def test_an_upload_is_held_to_twenty_megabytes() -> None:
    with pytest.raises(CheckpointError, match="At most") as refused:
        load_checkpoint(b" " * (21 * 2**20))
    assert refused.value.code == "too_large"


def test_a_run_that_has_ended_does_not_keep_its_benchmark(road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server lives for months and carries out many runs."""
    seen: list[weakref.ref[Benchmark]] = []
    read = road.store.runs.plan

    def watched(run_id: str) -> Plan:
        plan = read(run_id)
        seen.append(weakref.ref(plan.benchmark))
        return plan

    monkeypatch.setattr(road.store.runs, "plan", watched)
    road.run(3)
    gc.collect()
    assert seen
    assert [benchmark() for benchmark in seen] == [None] * len(seen)
