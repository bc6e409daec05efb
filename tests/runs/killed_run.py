"""Runs a benchmark and kills itself in the middle; prints every question whose row the run has counted."""

from __future__ import annotations

import os
import signal
import sys

from karenina_core.runs import Engine, Store, wanted
from tests.runs.fakes import Laboratory, Turnstile, small_benchmark, small_config

store = Store.open(sys.argv[1])
lab, gate = Laboratory(), Turnstile()
lab.before_answer = gate.enter
runner = Engine(store, lab)
run_id = store.runs.create(wanted(small_benchmark(30), small_config(max_concurrent_requests=4)))
runner.start(run_id)
gate.let(10)
gate.wait_for(14)
for line in runner.progress(run_id).recent:
    print(line.split("Question ")[1].split("?")[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
