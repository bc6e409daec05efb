"""Work beside runs that an engine carries out in the background, found by its name."""

from __future__ import annotations

import threading
from typing import Generic, Self, TypeVar

from karenina_core.models import KeySource
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.engine.job import BackgroundJob

J = TypeVar("J", bound=BackgroundJob)


class Jobs(Generic[J]):
    """Jobs of one kind; the last one of every name is kept. The methods may be called from any thread.

    Args:
        engine: Carries the jobs out; stays open when this is closed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: dict[tuple[str, ...], J] = {}
        self._lock = threading.Lock()  # for looking whether a job runs, and beginning one

    def cancel(self, *name: str | None) -> None:
        """Stop a job; returns when nothing is under way any more. What is stored stays."""
        job = self._job(*name)
        if job is not None:
            self._engine.cancel_job(job)

    def forget(self, *name: str) -> None:
        """Forget a job that has ended."""
        self._jobs.pop(name, None)

    def close(self) -> None:
        """Cancel everything."""
        for name in list(self._jobs):
            self.cancel(*name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _job(self, *name: str | None) -> J | None:
        return self._jobs.get(tuple(part for part in name if part is not None))

    def _running(self, *name: str | None) -> bool:
        job = self._job(*name)
        return job is not None and not job.ended.is_set()

    def _begin(self, name: tuple[str, ...], job: J, keys: KeySource | None) -> None:
        self._jobs[name] = job
        self._engine.begin_job(job, keys)
