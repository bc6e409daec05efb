"""Running a benchmark from a script, in one call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress

from karenina_core.benchmark import Benchmark
from karenina_core.errors import StoreError
from karenina_core.models import check_models
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.engine.progress import Progress
from karenina_core.runs.plan import wanted
from karenina_core.runs.store import Store
from karenina_core.schemas import VerificationConfig, VerificationResultSet

log = logging.getLogger(__name__)
ProgressCallback = Callable[[float, str], None]
_LOOK_SECONDS = 0.1


def run_verification(
    benchmark: Benchmark,
    config: VerificationConfig,
    question_ids: Iterable[str] | None = None,
    run_name: str | None = None,
    async_enabled: bool | None = None,
    progress_callback: ProgressCallback | None = None,
    store: Store | None = None,
    limit: int | None = None,
) -> VerificationResultSet:
    """Evaluate a benchmark's finished questions and return the results when all are there.

    Every result and every model call is stored as soon as it is there. Works inside a running event loop too. When
    it is interrupted, the calls in flight are finished and stored first; interrupted once more, it gives them up. When
    its money is spent, it returns what it has.

    Args:
        benchmark: Questions, templates and rubrics.
        config: Models and settings.
        question_ids: Only these questions; those that are not finished are left out all the same.
        run_name: For people.
        async_enabled: False makes one evaluation after the other.
        progress_callback: Called with percent (0 to 100) and a line of text, from this thread.
        store: Where everything is stored; the user's own store when not given.
        limit: At most this many questions, the first ones.

    Raises:
        ConfigError: The run cannot work.
        StoreError: The database refuses.
    """
    if async_enabled is False:
        config = config.model_copy(update={"max_concurrent_requests": 1})
    check_models(config)
    chosen = [question_ids] if isinstance(question_ids, str) else question_ids
    plan = wanted(benchmark, config, chosen, limit)
    if not plan.question_ids:
        log.warning("Nothing to evaluate. %s", plan.note)
    with Store.open() if store is None else nullcontext(store) as opened, Engine(opened) as runner:
        run_id = opened.runs.create(plan, run_name)
        runner.start(run_id, config)
        try:
            _watch(runner, run_id, progress_callback or _nobody)
        except BaseException:
            with suppress(StoreError):
                runner.cancel(run_id)
            raise
        return VerificationResultSet(opened.results.all(run_id), run_id, plan.note)


def _watch(runner: Engine, run_id: str, callback: ProgressCallback) -> None:
    """Report every change until the run has ended; an interruption ends it when what is in flight is stored.

    Raises:
        KeyboardInterrupt: It was interrupted.
        StoreError: The run waits for the database, or failed.
    """
    try:
        _report(runner, run_id, callback)
    except KeyboardInterrupt:
        log.warning("Finishing the calls in flight, to store their replies. Interrupt again to give them up.")
        runner.stop(run_id, "It was interrupted.")
        _report(runner, run_id, callback)
        raise


def _report(runner: Engine, run_id: str, callback: ProgressCallback) -> None:
    """Report every change until the run has ended.

    Raises:
        StoreError: The run waits for the database, or failed.
    """
    reported: tuple[float, str] | None = None
    while True:
        progress = runner.wait(run_id, _LOOK_SECONDS)
        if progress.status in ("paused", "failed"):
            # Nobody is there to let it go on.
            raise StoreError("The run stopped.", why=progress.message, next=f"What is stored stays, as run {run_id!r}.")
        if (progress.percent, _line(progress)) != reported:
            reported = (progress.percent, _line(progress))
            callback(*reported)
        if not progress.active:
            return


def _line(progress: Progress) -> str:
    counts = f"{progress.done} of {progress.total} done, {progress.passed} passed"
    errors = sum(progress.errors.values())
    line = f"{counts}, {errors} with errors" if errors else counts
    return f"{line}. {progress.message}" if progress.status == "interrupted" and progress.message else line


def _nobody(percent: float, message: str) -> None:
    """Report to nobody."""


def resume_run(
    store: Store,
    run_id: str,
    progress_callback: ProgressCallback | None = None,
    config: VerificationConfig | None = None,
) -> VerificationResultSet:
    """Continue a stored run to its end: missing rows are evaluated, failed ones and failed traits tried again.

    Interruptions are as in `run_verification`.

    Args:
        store: Holds the run.
        run_id: The run.
        progress_callback: Called with percent (0 to 100) and a line of text, from this thread.
        config: The run's own configuration with its prepared answers, such as `top_up` returns it.

    Raises:
        InputError: There is no such run.
        ConfigError: The run cannot work.
        StoreError: The database refuses, or another process carries the run out.
    """
    with Engine(store) as runner:
        runner.start(run_id, config)
        _watch(runner, run_id, progress_callback or _nobody)
    return VerificationResultSet(store.results.all(run_id), run_id)
