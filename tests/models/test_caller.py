from __future__ import annotations

import asyncio
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.models import (
    CallServices,
    ChatReply,
    ChatRequest,
    Evaluation,
    InvalidOutputError,
    MemoryLedger,
    ModelCaller,
    NullLedger,
    RunLimiter,
)
from karenina_core.models.caller import LONGEST_WAIT, seconds_to_wait
from karenina_core.models.limits import LONGEST_RETRY_AFTER
from karenina_core.schemas import ModelConfig, Usage
from tests.models.fakes import MODEL, SCHEMA, FakeClient, ask, count_of, judge, serve

PAID = ChatReply("eight", usage=Usage(input_tokens=11, output_tokens=7, cost=0.25, calls=1), seconds=1.5)
BUSY = ModelError("busy", category="rate_limit", retry_after=0.02)


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


def caller(client: FakeClient, ledger: Any = None, sleep: Any = no_sleep, **limits: Any) -> ModelCaller:
    services = CallServices(ledger or NullLedger(), RunLimiter(**limits))
    return ModelCaller(services, serve(client), sleep=sleep)


def test_a_call_is_recorded_as_evidence() -> None:
    _, record = asyncio.run(caller(FakeClient([PAID])).complete(MODEL, ask("Why?", purpose="rubric", part="Clarity")))
    assert (record.purpose, record.part, record.model, record.source) == ("rubric", "Clarity", "fake/model", "provider")
    assert record.messages == [{"role": "user", "content": "Why?"}]
    assert (record.reply, record.usage.cost, record.seconds) == ("eight", 0.25, 1.5)
    assert len(record.key) == 64


def test_the_same_call_is_answered_by_the_ledger_at_no_cost() -> None:
    client = FakeClient([PAID])
    used = caller(client, MemoryLedger())

    async def twice() -> Any:
        await used.complete(MODEL, ask())
        return await used.complete(MODEL, ask())

    reply, record = asyncio.run(twice())
    assert len(client.requests) == 1
    assert reply.text == "eight"
    assert record.source == "ledger"
    assert record.usage == Usage(input_tokens=0, output_tokens=0, cost=0.0, calls=1, cached_calls=1)
    assert record.provenance["first_call"]["cost"] == 0.25


def test_another_replicate_is_another_call() -> None:
    client = FakeClient([PAID])
    used = caller(client, MemoryLedger())

    async def two() -> None:
        await used.complete(MODEL, ask(replicate=1))
        await used.complete(MODEL, ask(replicate=2))

    asyncio.run(two())
    assert len(client.requests) == 2


def test_identical_calls_in_flight_are_made_once_and_paid_once() -> None:
    client = FakeClient([PAID], pause=0.01)
    used = caller(client)

    async def many() -> list[Any]:
        return await asyncio.gather(*(used.complete(MODEL, ask()) for _ in range(5)))

    records = [record for _, record in asyncio.run(many())]
    assert len(client.requests) == 1
    assert sum((record.usage for record in records), Usage()).cost == 0.25
    assert [record.source for record in records].count("provider") == 1


def test_when_who_asked_is_cancelled_another_who_waits_asks() -> None:
    client = FakeClient([PAID], pause=0.05)
    used = caller(client)

    async def one_leaves() -> Any:
        first = asyncio.create_task(used.complete(MODEL, ask()))
        others = [asyncio.create_task(used.complete(MODEL, ask())) for _ in range(3)]
        await asyncio.sleep(0.01)
        first.cancel()
        return await asyncio.gather(*others)

    records = [record for _, record in asyncio.run(one_leaves())]
    assert len(client.requests) == 2
    assert sorted(record.source for record in records) == ["ledger", "ledger", "provider"]


def test_a_failure_is_shared_by_all_who_wait() -> None:
    client = FakeClient([ModelError("no", category="refused")], pause=0.01)
    used = caller(client)

    async def many() -> list[Any]:
        return await asyncio.gather(*(used.complete(MODEL, ask()) for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in asyncio.run(many())] == ["no"] * 3
    assert len(client.requests) == 1


def test_a_call_that_nobody_waits_for_is_stopped() -> None:
    client = FakeClient(pause=10)
    used = caller(client)

    async def leave() -> int:
        task = asyncio.create_task(used.complete(MODEL, ask()))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(leave()) == 1


def test_a_failed_call_is_never_remembered() -> None:
    ledger = MemoryLedger()
    with pytest.raises(ModelError):
        asyncio.run(caller(FakeClient([ModelError("no", category="refused")]), ledger).complete(MODEL, ask()))
    assert ledger.size == 0


def test_a_passing_failure_is_tried_again() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    used = caller(FakeClient([BUSY, BUSY, PAID]), sleep=sleep)
    reply, _ = asyncio.run(used.complete(MODEL, ask()))
    assert reply.text == "eight"
    assert len(waits) == 2 and all(0.02 <= wait <= 0.04 for wait in waits)


def attempts_made(error: ModelError) -> int:
    client = FakeClient([error])
    with pytest.raises(ModelError):
        asyncio.run(caller(client, attempts=3).complete(MODEL, ask()))
    return len(client.requests)


@pytest.mark.parametrize("category", get_args(ModelErrorCategory))
def test_only_failures_that_may_pass_are_tried_again(
    category: ModelErrorCategory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.models.limits.FIRST_HOLD", 0.001)
    passing = category in ("connection", "timeout", "rate_limit", "server_error")
    assert attempts_made(ModelError("no", category=category)) == (3 if passing else 1)


def test_a_provider_that_asks_for_hours_is_not_waited_for() -> None:
    assert attempts_made(ModelError("busy", category="rate_limit", retry_after=LONGEST_RETRY_AFTER + 1)) == 1


@given(st.integers(1, 50))
def test_waits_are_random_and_bounded(attempt: int) -> None:
    assert 0 <= seconds_to_wait(ModelError("down", category="server_error"), attempt) <= min(LONGEST_WAIT, 2**attempt)


@given(st.floats(0, 600))
def test_the_providers_word_is_a_lower_bound(asked: float) -> None:
    error = ModelError("busy", category="rate_limit", retry_after=asked)
    assert asked <= seconds_to_wait(error, 1) <= asked + 1


def test_a_slot_is_free_while_a_call_waits_for_its_next_attempt() -> None:
    client = FakeClient([BUSY, "other", "first"])
    order: list[str] = []
    other_done = asyncio.Event()

    async def wait_for_the_other(_: float) -> None:
        await other_done.wait()

    async def both() -> None:
        used = caller(client, sleep=wait_for_the_other, ceiling=1)
        waiting = asyncio.create_task(used.complete(MODEL, ask("First?")))
        await asyncio.sleep(0)
        order.append((await used.complete(MODEL, ask("Other?")))[0].text)
        other_done.set()
        order.append((await waiting)[0].text)

    asyncio.run(asyncio.wait_for(both(), 5))
    assert order == ["other", "first"]


class Pause:
    """Holds calls back until it is over."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.begun: list[Evaluation] = []

    def allows(self, evaluation: Evaluation) -> bool:
        return self.over.is_set()

    def begin(self, evaluation: Evaluation) -> bool:
        if self.allows(evaluation):
            self.begun.append(evaluation)
        return self.allows(evaluation)

    async def wait(self) -> None:
        await self.over.wait()


def test_a_call_whose_turn_comes_during_a_pause_gives_its_place_back_and_is_made_later() -> None:
    client = FakeClient(["fine"], pause=0.01)

    async def scene() -> list[int]:
        pause, limiter = Pause(), RunLimiter(1)
        pause.over.set()
        async with ModelCaller(CallServices(NullLedger(), limiter, pause=pause), serve(client)) as used:
            calls = [asyncio.create_task(used.complete(MODEL, ask(f"{number}?"))) for number in range(3)]
            await asyncio.sleep(0)
            pause.over.clear()
            await calls[0]
            await asyncio.sleep(0.02)
            (seen,) = limiter.models()
            during = [len(client.requests), seen.in_flight, seen.waiting]
            pause.over.set()
            await asyncio.gather(*calls)
            return [*during, len(client.requests), len(pause.begun)]

    assert asyncio.run(scene()) == [1, 0, 0, 3, 3]


def test_a_models_own_time_limit_comes_before_the_runs() -> None:
    client = FakeClient()
    config = MODEL.model_copy(update={"request_timeout": 3.0})
    asyncio.run(caller(client).complete(config, ask(timeout=60)))
    assert client.requests[0].timeout == 3.0


def test_a_client_is_kept_and_closed_with_the_caller() -> None:
    made: list[FakeClient] = []

    def make(config: ModelConfig) -> FakeClient:
        made.append(FakeClient())
        return made[-1]

    async def use() -> None:
        async with ModelCaller(CallServices(NullLedger()), make) as used:
            await used.complete(MODEL, ask("One?"))
            await used.complete(MODEL, ask("Two?"))

    asyncio.run(use())
    assert [client.closed for client in made] == [True]


class SlowLedger(MemoryLedger):
    """Stores replies only when it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: list[asyncio.Future[None]] = []

    def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> asyncio.Future[None]:
        super().put(key, request, config, reply)
        self.stored.append(asyncio.get_running_loop().create_future())
        return self.stored[-1]


def test_an_evaluation_asks_further_only_when_its_reply_is_stored() -> None:
    """A process that is killed loses one reply of each evaluation at most."""
    client, ledger = FakeClient(), SlowLedger()

    async def scene() -> list[int]:
        async with caller(client, ledger) as used:
            await used.complete(MODEL, ask())
            further = asyncio.create_task(used.complete(MODEL, ask("And a crab?")))
            other = asyncio.create_task(used.complete(MODEL, ask("And a crab?", replicate=2)))
            await other
            before = len(client.requests)
            ledger.stored[0].set_result(None)
            await further
            return [before, len(client.requests)]

    assert asyncio.run(scene()) == [2, 3]


def test_json_is_validated() -> None:
    value, records = asyncio.run(caller(FakeClient(['{"count": 8}'])).complete_json(MODEL, judge(), count_of))
    assert value == 8
    assert records[0].schema_sent == SCHEMA


def test_the_judge_is_asked_again_with_the_complaint() -> None:
    client = FakeClient(['{"count": "eight"}', '{"count": 8}'])
    value, records = asyncio.run(caller(client).complete_json(MODEL, judge(), count_of))
    assert value == 8
    assert len(records) == 2
    assert "count must be a whole number" in client.requests[1].messages[-1].content


def test_the_judge_is_asked_again_only_so_often() -> None:
    client = FakeClient(["I think eight."])
    with pytest.raises(InvalidOutputError) as caught:
        asyncio.run(caller(client).complete_json(MODEL.model_copy(update={"max_retries": 1}), judge(), count_of))
    assert len(client.requests) == 2
    assert caught.value.category == "invalid_output"
    assert [record.reply for record in caught.value.records] == ["I think eight.", "I think eight."]


def test_a_judge_that_never_comes_to_an_end_is_reported_as_truncated() -> None:
    endless = ChatReply('{"count": 8, "and": [', finish_reason="length")
    with pytest.raises(InvalidOutputError) as caught:
        asyncio.run(caller(FakeClient([endless])).complete_json(MODEL, judge(), count_of))
    assert caught.value.category == "truncated"


def test_a_judgement_with_its_corrections_is_replayed_from_the_ledger() -> None:
    client, ledger = FakeClient(["Eight.", '{"count": 8}']), MemoryLedger()
    asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    value, records = asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    assert value == 8
    assert len(client.requests) == 2
    assert [record.source for record in records] == ["ledger", "ledger"]


def test_replies_that_never_fitted_are_asked_for_again_next_time() -> None:
    client, ledger = FakeClient(["Eight."] * 3 + ['{"count": 8}']), MemoryLedger()
    with pytest.raises(InvalidOutputError):
        asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    assert ledger.size == 0
    value, _ = asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    assert value == 8


def test_a_call_follows_another_judges_identical_call_at_no_cost() -> None:
    client = FakeClient(['{"count": 8}'], pause=0.01)
    used = caller(client)

    async def both() -> list[Any]:
        return await asyncio.gather(
            used.complete_json(MODEL, judge(answering_model="a"), count_of),
            used.complete_json(MODEL, judge(answering_model="b"), count_of),
        )

    assert [value for value, _ in asyncio.run(both())] == [8, 8]
    assert len(client.requests) == 1
