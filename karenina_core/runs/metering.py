"""The ledger as one run sees it: counts what the run spends, and ends it when money or time are over."""

from __future__ import annotations

import asyncio

from karenina_core.models.ports import CallLedger, ChatReply, ChatRequest
from karenina_core.models.traffic import Traffic
from karenina_core.runs.budget import Budget
from karenina_core.runs.gate import Gate
from karenina_core.schemas.config import ModelConfig
from karenina_core.schemas.results import Usage


class MeteredLedger:
    """A ledger that counts the calls of one run.

    Args:
        ledger: Where calls are remembered.
        gate: Of the run; while the store is in trouble, calls wait there.
        budget: Of the run.
        traffic: Of the run.

    Attributes:
        over: Why no further call may be made; empty while some may.
    """

    def __init__(
        self, ledger: CallLedger, gate: Gate, budget: Budget | None = None, traffic: Traffic | None = None
    ) -> None:
        self.over = ""
        self.traffic = Traffic(1) if traffic is None else traffic
        self._ledger = ledger
        self._gate = gate
        self._budget = budget
        self._calls = self._cached = 0
        self._cost: float | None = None

    @property
    def unsaved(self) -> Usage:
        """What was spent since the last `take`."""
        return Usage(calls=self._calls, cached_calls=self._cached, cost=self._cost)

    def take(self) -> Usage:
        """Return what was spent since the last time."""
        spent = self.unsaved
        self._calls, self._cached, self._cost = 0, 0, None
        return spent

    def stop(self, why: str) -> None:
        """Let no further call be made; those in flight are finished, those that wait are not."""
        self.over = why
        self._gate.turn_away()
        self.traffic.close()

    async def admit(self) -> None:
        """Return when one more call may be paid for.

        Raises:
            asyncio.CancelledError: None may; the run is ending.
        """
        budget = self._budget
        if budget is not None and budget.bounded and not self.over:
            problem = await self._gate.patiently(lambda: budget.problem())
            if problem:
                self.stop(problem)
        if self.over:
            raise asyncio.CancelledError

    def paid(self, usage: Usage) -> None:
        """Note what a call took."""
        self._calls += 1
        if usage.cost is None:
            return
        self._cost = usage.cost + (self._cost or 0.0)
        if self._budget is not None:
            self._budget.spend(usage.cost)

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""
        reply = await self._gate.patiently(lambda: self._ledger.get(key))
        if reply is not None:
            self._calls += 1
            self._cached += 1
        return reply

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Remember the reply; returns when it is safely stored."""
        await self._gate.patiently(lambda: self._ledger.put(key, request, config, reply))
