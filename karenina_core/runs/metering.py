"""The ledger as one run sees it: counts what the run spends, and ends it when that is enough."""

from __future__ import annotations

import asyncio

from karenina_core.models.ports import CallLedger, ChatReply, ChatRequest
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

    Attributes:
        spent_out: Why no further call may be paid for; empty while some may.
    """

    def __init__(self, ledger: CallLedger, gate: Gate, budget: Budget | None = None) -> None:
        self.spent_out = ""
        self._ledger = ledger
        self._gate = gate
        self._budget = budget
        self._unsaved = Usage()

    @property
    def unsaved(self) -> Usage:
        """What was spent since the last `take`."""
        return self._unsaved

    def take(self) -> Usage:
        """Return what was spent since the last time."""
        spent, self._unsaved = self._unsaved, Usage()
        return spent

    async def admit(self) -> None:
        """Return when one more call may be paid for.

        Raises:
            asyncio.CancelledError: None may; the run is ending.
        """
        if self._budget is not None and not self.spent_out:
            budget = self._budget
            self.spent_out = await self._gate.patiently(lambda: budget.problem()) or self.spent_out
        if self.spent_out:
            self._gate.turn_away()
            raise asyncio.CancelledError

    def paid(self, usage: Usage) -> None:
        """Note what a call took."""
        self._unsaved += Usage(calls=1, cost=usage.cost)
        if self._budget is not None:
            self._budget.spend(usage.cost or 0.0)

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""
        reply = await self._gate.patiently(lambda: self._ledger.get(key))
        if reply is not None:
            self._unsaved += Usage(calls=1, cached_calls=1)
        return reply

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Remember the reply; returns when it is safely stored."""
        await self._gate.patiently(lambda: self._ledger.put(key, request, config, reply))
