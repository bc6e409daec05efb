"""The ledger as one run sees it: counts what the run spends, and ends it when money or time are over.

What a run spends reaches its account in the transaction that stores the reply.
The calls of a judge are held until their row is there, and stored with it in one transaction. No further call is made
while one is held, so that a process that is killed loses nothing but calls in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar

from karenina_core.models import CallLedger, ChatReply, ChatRequest, SharedCalls, Traffic
from karenina_core.runs.engine.budget import Budget
from karenina_core.runs.engine.gate import Gate
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.writer import CallWrite, Told
from karenina_core.schemas import ModelConfig, Usage, built


class _Held:
    """The calls of one judgement that wait for its row."""

    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls: list[CallWrite] = []


class _Work:
    """An answer or a judgement that is to be made.

    Attributes:
        begun: Whether a call was made for it.
    """

    __slots__ = ("begun",)

    def __init__(self) -> None:
        self.begun = False


class _Account:
    """What was spent, as it adds up with every call."""

    __slots__ = ("_cached", "_calls", "_cost")

    def __init__(self) -> None:
        self._calls = self._cached = 0
        self._cost: float | None = None

    def add(self, calls: int, cached: int, cost: float | None) -> None:
        self._calls += calls
        self._cached += cached
        if cost is not None:
            self._cost = cost + (self._cost or 0.0)

    def usage(self) -> Usage:
        return built(
            Usage,
            input_tokens=None,
            output_tokens=None,
            cost=self._cost,
            calls=self._calls,
            cached_calls=self._cached,
        )


_held: ContextVar[_Held | None] = ContextVar("held_calls", default=None)
_work: ContextVar[_Work | None] = ContextVar("work", default=None)


class MeteredLedger:
    """A ledger that counts the calls of one run.

    Args:
        ledger: Where calls are remembered.
        gate: Of the run; while the store is in trouble, calls wait there.
        budget: Of the run.
        traffic: Of the run.
        run_id: Whose account it is; none is kept when not given.

    Attributes:
        over: Why no further call may be made; empty while some may.
        traffic: Of the run.
        sharing: Calls of other runs with the same ledger, whose replies are taken.
    """

    def __init__(
        self,
        ledger: CallLedger,
        gate: Gate,
        budget: Budget | None = None,
        traffic: Traffic | None = None,
        run_id: str | None = None,
    ) -> None:
        self.over = ""
        self.traffic = Traffic(1) if traffic is None else traffic
        self._ledger = ledger
        self._store = ledger if isinstance(ledger, StoreLedger) else None
        self.sharing = SharedCalls() if self._store is None else self._store.sharing
        self._waiting: dict[str, ChatReply] = {}
        self._gate = gate
        self._budget = budget
        self._run_id = run_id
        self._all = _Account()
        self._unsaved = _Account()

    @property
    def unsaved(self) -> Usage:
        """What was spent and not taken yet."""
        return self._unsaved.usage()

    @property
    def spent(self) -> Usage:
        """What was spent in all, whether it is in the account or not."""
        return self._all.usage()

    def take(self) -> Usage:
        """Return what is not in the account yet; `give_back` it when it could not be stored."""
        spent, self._unsaved = self._unsaved.usage(), _Account()
        return spent

    def given_back_unless_stored(self, spent: Usage) -> Told:
        """Return what is to be told whether what was taken is stored."""
        return lambda stored: self.stored(spent) if stored else self.give_back(spent)

    def stored(self, spent: Usage) -> None:
        """Note that what was taken is in the account."""
        if self._budget is not None:
            self._budget.unstored -= spent.cost or 0.0

    def give_back(self, spent: Usage) -> None:
        """Note that what was taken could not be stored."""
        self._unsaved.add(spent.calls, spent.cached_calls, spent.cost)

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
        held = _held.get()
        if held is not None and held.calls and self._store is not None:
            await self._store_held(self._store, held)
        budget = self._budget
        if budget is not None and budget.bounded and not self.over:
            problem = await self._gate.patiently(lambda: budget.problem())
            if problem:
                self.stop(problem)
        if self.over:
            raise asyncio.CancelledError

    @property
    def lets_through(self) -> bool:
        """Whether this task may make a call: its run goes on, or what it does is under way."""
        if self._gate.lets_begin:
            return True
        work = _work.get()
        return work is not None and work.begun

    async def wait(self) -> None:
        """Return when the run goes on.

        Raises:
            asyncio.CancelledError: It is to end.
        """
        await self._gate.wait()

    def passed(self) -> None:
        """Note that this task makes a call; what it does is under way from now on."""
        work = _work.get()
        if work is not None:
            work.begun = True

    def begin(self) -> None:
        """Note that this task, with the tasks begun in it, turns to an answer or a judgement; no call is made yet."""
        _work.set(_Work())

    def paid(self, usage: Usage) -> None:
        """Note what a call took; nothing, where another run has paid for it."""
        cost = None if usage.cached_calls else usage.cost
        self._all.add(1, usage.cached_calls, cost)
        self._unsaved.add(1, usage.cached_calls, cost)
        if self._budget is not None and usage.cost is not None:
            self._budget.spend(usage.cost)
            self._budget.unstored += usage.cost

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""
        reply = self._waiting.get(key) or await self._gate.patiently(lambda: self._ledger.get(key))
        if reply is not None:
            self._all.add(1, 1, None)
            self._unsaved.add(1, 1, None)
        return reply

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Remember the reply; returns when it is safely stored, or held for its row."""
        held = _held.get()
        if self._store is None:
            await self._gate.patiently(lambda: self._ledger.put(key, request, config, reply))
        elif held is None:
            await self._store_now(self._store, self._store.write_of(key, request, config, reply))
        else:
            held.calls.append(self._store.write_of(key, request, config, reply))
            self._waiting[key] = reply

    def hold(self) -> None:
        """Hold the calls of this task from now on, and of the tasks begun in it, until `held` takes them."""
        _held.set(_Held())

    def held(self) -> list[CallWrite]:
        """Return the calls held in this task, to be stored with its row, and hold no more."""
        held = _held.get()
        if held is None:
            return []
        _held.set(None)
        calls, held.calls = held.calls, []
        return calls

    def settle(self, calls: Sequence[CallWrite], *, stored: bool = True) -> None:
        """Note what became of calls that were held; those whose row is not stored are stored without it."""
        for call in calls:
            self._waiting.pop(call.row["key"], None)
            if not stored and self._store is not None:
                self._store.hand_in(call)

    async def _store_now(self, store: StoreLedger, call: CallWrite) -> None:
        """Store a call with what the run has spent so far."""

        async def attempt() -> None:
            spent = self.take()
            write = CallWrite(call.row, self._run_id, spent)
            await store.store(write, self.given_back_unless_stored(spent))

        await self._gate.patiently(attempt)

    async def _store_held(self, store: StoreLedger, held: _Held) -> None:
        calls, held.calls = held.calls, []
        stored = 0
        try:
            for call in calls:
                await self._store_now(store, call)
                stored += 1
        finally:
            self.settle(calls[:stored])
            self.settle(calls[stored:], stored=False)
