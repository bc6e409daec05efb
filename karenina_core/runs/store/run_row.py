"""A run as the list of runs shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from karenina_core.runs.plans.plan import LEFT_OUT
from karenina_core.schemas import VerificationConfig
from karenina_core.text import counted

RunStatus = Literal["queued", "running", "paused", "interrupted", "cancelled", "completed", "failed"]
ACTIVE: frozenset[str] = frozenset({"queued", "running", "paused"})
"""The statuses of runs that are, or should be, under way."""
STATES: dict[str, str] = {
    "queued": "waits to be started",
    "running": "running",
    "paused": "paused",
    "interrupted": "interrupted, can be resumed",
    "cancelled": "cancelled",
    "completed": "completed",
    "failed": "stopped by an error",
}
"""What each status means, in words."""


@dataclass(frozen=True)
class RunRow:
    """A stored run, without questions and results.

    Attributes:
        snapshot: Hash of the benchmark as the run saw it; equal for runs over the very same benchmark.
        settings: The configuration as stored JSON.
        config_hash: Equal for runs that ask for the same thing.
        total: Wanted results.
        done: Stored results, with or without a verdict.
        passed: Results with verdict `pass`; `failed` and `not_evaluated` count the other two.
        errors: Results whose evaluation failed for technical reasons; they are among `not_evaluated`.
        calls: Model calls the run needed; the ledger answered `cached_calls` of them.
        cost: US dollars spent, None when no price is known.
        seconds: Time worked, pauses left out.
        created: ISO 8601 in UTC, as are `started` and `finished`.
        parent_run: The run this one was derived from.
        note: What a person should know about it.
        deleted: Hidden from lists, and can be restored.
    """

    id: str
    name: str
    benchmark_id: str | None
    benchmark_name: str
    snapshot: str
    settings: Mapping[str, Any]
    config_hash: str
    status: RunStatus
    total: int
    done: int
    passed: int
    failed: int
    not_evaluated: int
    errors: int
    calls: int
    cached_calls: int
    cost: float | None
    seconds: float
    created: str
    started: str | None
    finished: str | None
    parent_run: str | None
    note: str
    deleted: bool

    @property
    def config(self) -> VerificationConfig:
        """The configuration. Prepared answers of `manual` models are never stored with it."""
        return VerificationConfig.model_validate(self.settings)

    @property
    def active(self) -> bool:
        """Whether the run is, or should be, under way."""
        return self.status in ACTIVE

    @property
    def state(self) -> str:
        """The status in words, with the reason where a run has stopped: `stopped by an error: There is no key.`"""
        if self.status == "completed" and self.errors:
            return f"completed with {counted(self.errors, 'error')}"
        if self.status in ("failed", "interrupted") and self.note and not self.note.startswith(LEFT_OUT):
            return f"{STATES[self.status]}: {self.note}"
        return STATES[self.status]

    @property
    def answering_models(self) -> tuple[str, ...]:
        """Ids of the models under test."""
        return tuple(model["id"] for model in self.settings["answering_models"])

    @property
    def parsing_models(self) -> tuple[str, ...]:
        """Ids of the judges."""
        return tuple(model["id"] for model in self.settings["parsing_models"])
