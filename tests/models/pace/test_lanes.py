from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.models import ChatReply, ChatRequest, ModelCaller, NullLedger, Traffic
from karenina_core.models.pace import limits as rules
from karenina_core.models.pace.lines import StoppedError
from karenina_core.schemas import ModelConfig, Usage
from tests.models.fakes import ask

Rule = Callable[["Provider"], ModelError | None]


def model(name: str = "m", **fields: Any) -> ModelConfig:
    """Return a model at an address without a key."""
    address = "http://127.0.0.1:9/v1"
    return ModelConfig(interface="openai_endpoint", model_name=name, endpoint_base_url=address, **fields)


class Provider:
    """Decides by a rule whether it answers, and counts."""

    def __init__(self, rule: Rule = lambda _: None, pause: float = 0.002) -> None:
        self.config = model()
        self.rule = rule
        self.pause = pause
        self.asked = 0
        self.refused = 0
        self.in_flight = 0
        self.most_in_flight = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            error = self.rule(self)
            await asyncio.sleep(self.pause)
        finally:
            self.in_flight -= 1
        if error is not None:
            self.refused += 1
            raise error
        return ChatReply("fine", usage=Usage(input_tokens=10, output_tokens=10, cost=0.5))

    async def aclose(self) -> None:
        return None


def failure(category: ModelErrorCategory, retry_after: float | None = None) -> ModelError:
    return ModelError("It failed.", "Because.", category=category, retry_after=retry_after)


def quick_sleep(seconds: float) -> Any:
    return asyncio.sleep(min(seconds, 0.01))


async def ask_all(caller: ModelCaller, number: int, config: ModelConfig) -> list[Any]:
    calls = (caller.complete(config, ask(f"{config.id} {index}?")) for index in range(number))
    return await asyncio.gather(*calls, return_exceptions=True)


def outcomes(provider: Provider, number: int, config: ModelConfig | None = None, **setting: Any) -> list[Any]:
    """Ask so many questions at once, and return what came of them."""

    async def scene() -> list[Any]:
        traffic = setting.pop("traffic", None) or Traffic(setting.pop("ceiling", 8))
        async with ModelCaller(
            NullLedger(), lambda _: provider, sleep=quick_sleep, traffic=traffic, **setting
        ) as caller:
            return await ask_all(caller, number, config or model())

    return asyncio.run(asyncio.wait_for(scene(), 20))


def categories(found: list[Any]) -> list[str]:
    return [item.category if isinstance(item, ModelError) else "answered" for item in found]


@pytest.fixture(autouse=True)
def no_long_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "FIRST_HOLD", 0.01)
    monkeypatch.setattr(rules, "LONGEST_HOLD", 0.02)
    monkeypatch.setattr(rules, "FIRST_PROBE", 0.005)
    monkeypatch.setattr(rules, "LONGEST_PROBE", 0.02)


def test_a_capacity_that_nobody_told_is_found() -> None:
    provider = Provider(lambda it: failure("rate_limit", 0.01) if it.in_flight > 10 else None, pause=0.005)
    found = outcomes(provider, 150, ceiling=40, max_attempts=20)
    assert categories(found) == ["answered"] * 150
    assert provider.refused < 0.5 * 150


def test_a_model_has_a_bound_of_its_own() -> None:
    provider = Provider()
    outcomes(provider, 20, model(max_concurrent_requests=2))
    assert provider.most_in_flight == 2


def test_requests_per_minute_are_kept() -> None:
    async def scene() -> float:
        begin = asyncio.get_running_loop().time()
        async with ModelCaller(NullLedger(), lambda _: Provider(pause=0), traffic=Traffic(50)) as caller:
            await ask_all(caller, 130, model(requests_per_minute=6000))
        return asyncio.get_running_loop().time() - begin

    assert asyncio.run(scene()) >= 0.28


def test_tokens_per_minute_are_kept_by_what_calls_really_took() -> None:
    async def scene() -> float:
        begin = asyncio.get_running_loop().time()
        async with ModelCaller(NullLedger(), lambda _: Provider(pause=0), traffic=Traffic(1)) as caller:
            for number in range(65):
                await caller.complete(model(tokens_per_minute=60_000), ask(f"{number}?"))
        return asyncio.get_running_loop().time() - begin

    assert asyncio.run(scene()) >= 0.2


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModelConfig:
    """A model with a key that no other test has used."""
    monkeypatch.setenv("LANE_API_KEY", f"key-of-{request.node.name}")
    return model(api_key_env="LANE_API_KEY")


def test_a_wrong_key_costs_one_request_however_many_are_asked_at_once(key: ModelConfig) -> None:
    provider = Provider(lambda _: failure("authentication"))
    found = outcomes(provider, 20, key)
    assert provider.asked == 1
    assert categories(found) == ["authentication"] * 20
    assert sum(isinstance(item, StoppedError) for item in found) == 19
    assert "was not asked again. It failed. Because." in str(found[-1])


def test_a_stopped_model_stops_no_other(key: ModelConfig) -> None:
    wrong, right = Provider(lambda _: failure("authentication")), Provider()

    async def scene() -> list[str]:
        async with ModelCaller(NullLedger(), lambda config: wrong if config.api_key_env else right) as caller:
            refused, answered = await asyncio.gather(ask_all(caller, 5, key), ask_all(caller, 5, model("other")))
        return categories([*refused, *answered])

    assert asyncio.run(scene()) == ["authentication"] * 5 + ["answered"] * 5


def test_a_stopped_model_is_asked_again_by_the_next_run(key: ModelConfig) -> None:
    provider = Provider(lambda it: failure("authentication") if it.asked == 1 else None)
    assert categories(outcomes(provider, 3, key)) == ["authentication"] * 3
    assert categories(outcomes(provider, 3, key)) == ["answered"] * 3


def test_once_a_key_was_accepted_nobody_waits_for_a_first_call(key: ModelConfig) -> None:
    outcomes(Provider(), 1, key)
    provider = Provider()
    outcomes(provider, 8, key)
    assert provider.most_in_flight == 8


def test_without_a_key_nobody_waits_for_a_first_call() -> None:
    provider = Provider()
    outcomes(provider, 8)
    assert provider.most_in_flight == 8


def test_a_slow_first_answer_holds_the_others_up_only_for_a_while(
    key: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.models.pace.lanes.SCOUT_SECONDS", 0.01)
    provider = Provider(pause=0.05)
    outcomes(provider, 8, key)
    assert provider.most_in_flight == 8


def test_a_missing_model_is_asked_for_once(key: ModelConfig) -> None:
    provider = Provider(lambda _: failure("not_found"))
    assert categories(outcomes(provider, 10, key)) == ["not_found"] * 10
    assert provider.asked == 1


def test_a_model_that_has_answered_is_not_missing() -> None:
    provider = Provider(lambda it: failure("not_found") if it.asked == 2 else None)
    assert categories(outcomes(provider, 5, ceiling=1)).count("answered") == 4


@pytest.mark.parametrize("category", ["connection", "timeout", "server_error"])
def test_a_dead_provider_is_given_up_and_not_asked_for_every_row(category: ModelErrorCategory) -> None:
    provider = Provider(lambda _: failure(category))
    found = outcomes(provider, 200, max_attempts=4)
    assert categories(found) == [category] * 200
    assert provider.asked < 40


def test_who_allows_more_attempts_sees_more_probes() -> None:
    provider = Provider(lambda it: failure("connection") if it.asked <= rules.SUSPEND_AFTER + 12 else None)
    found = outcomes(provider, 20, traffic=Traffic(8, attempts=30), max_attempts=30)
    assert categories(found) == ["answered"] * 20


def test_a_provider_that_comes_back_is_noticed_by_a_probe() -> None:
    provider = Provider(lambda it: failure("connection") if it.asked <= rules.SUSPEND_AFTER + 2 else None)
    found = outcomes(provider, 60, max_attempts=8)
    assert categories(found) == ["answered"] * 60


def test_a_provider_that_asks_for_hours_is_not_asked_again() -> None:
    provider = Provider(lambda _: failure("rate_limit", 7200))
    assert set(categories(outcomes(provider, 30, ceiling=2))) == {"rate_limit"}
    assert provider.asked <= 2


def test_a_slower_pace_holds_at_once_and_a_faster_one_too() -> None:
    provider = Provider(pause=0.005)
    traffic = Traffic(8)

    async def scene() -> list[int]:
        seen = []
        async with ModelCaller(NullLedger(), lambda _: provider, traffic=traffic) as caller:
            for ceiling in (8, 2, 16):
                traffic.pace(ceiling)
                provider.most_in_flight = 0
                await ask_all(caller, 40, model())
                seen.append(provider.most_in_flight)
        return seen

    assert asyncio.run(scene()) == [8, 2, 16]


def test_two_runs_find_the_limit_of_a_model_together() -> None:
    provider = Provider(lambda it: failure("rate_limit", 0.01) if it.in_flight > 4 else None)

    async def scene() -> set[int]:
        ways = [Traffic(10), Traffic(10)]
        callers = [ModelCaller(NullLedger(), lambda _: provider, 0, 20, sleep=quick_sleep, traffic=way) for way in ways]
        for number, caller in enumerate(callers):
            await ask_all(caller, 30, model(id=f"mine {number}"))
        limits = {seen.limit for way in ways for seen in way.models()}
        for caller in callers:
            await caller.aclose()
        return limits

    (limit,) = asyncio.run(scene())
    assert limit <= 10


def test_a_free_place_of_a_run_goes_to_the_model_with_the_fewest_calls_so_that_a_slow_one_does_not_take_all() -> None:
    async def scene() -> list[bool]:
        traffic = Traffic(3)
        slow, quick, judge = (traffic.way(model(name)) for name in ("slow", "quick", "judge"))
        seats = [way.lane.enter(way.line) for way in (slow, slow, quick)]
        waiting = [asyncio.create_task(way.lane.wait(way.line)) for way in (slow, judge)]
        await asyncio.sleep(0)
        assert seats[0] is not None
        slow.lane.leave(slow.line, seats[0], None)
        await asyncio.sleep(0)
        done = [task.done() for task in waiting]
        traffic.release()
        await asyncio.gather(*waiting, return_exceptions=True)
        return done

    assert asyncio.run(scene()) == [False, True]


def test_the_end_sends_away_who_waits_and_lets_finish_who_is_asked() -> None:
    provider = Provider(pause=0.05)

    async def scene() -> list[Any]:
        traffic = Traffic(2)
        async with ModelCaller(NullLedger(), lambda _: provider, traffic=traffic) as caller:
            asked = asyncio.gather(ask_all(caller, 5, model()))
            await asyncio.sleep(0.01)
            traffic.close()
            return (await asked)[0]

    found = asyncio.run(scene())
    assert sum(isinstance(item, asyncio.CancelledError) for item in found) == 3
    assert provider.asked == 2


def test_what_is_seen_of_a_model() -> None:
    provider = Provider(lambda it: failure("rate_limit", 0.01) if it.asked == 2 else None)
    traffic = Traffic(4)

    async def scene() -> None:
        async with ModelCaller(NullLedger(), lambda _: provider, sleep=quick_sleep, traffic=traffic) as caller:
            await ask_all(caller, 6, model(id="Mine"))
            (seen,) = traffic.models()
            assert (seen.model, seen.requests, seen.throttled, seen.cost) == ("Mine", 7, 1, 3.0)
            assert (seen.in_flight, seen.waiting, seen.state) == (0, 0, "open")

    asyncio.run(scene())


def test_a_call_between_two_attempts_is_seen() -> None:
    provider = Provider(lambda it: failure("timeout") if it.asked == 1 else None)
    traffic, seen = Traffic(4), []

    async def look(_: float) -> None:
        seen.extend(traffic.retries())

    async def scene() -> None:
        async with ModelCaller(NullLedger(), lambda _: provider, sleep=look, traffic=traffic) as caller:
            await ask_all(caller, 1, model(id="Mine"))

    asyncio.run(scene())
    assert [(retry.model, retry.category) for retry in seen] == [("Mine", "timeout")]
    assert not traffic.retries()


def test_a_key_is_not_kept_with_its_model(key: ModelConfig) -> None:
    from karenina_core.models.pace import lines

    outcomes(Provider(), 1, key)
    assert "key-of" not in repr(lines._ANSWERED)


@settings(max_examples=40, deadline=None)
@given(
    ceiling=st.integers(1, 12),
    own=st.none() | st.integers(1, 5),
    script=st.lists(st.sampled_from([*["ok"] * 3, "rate_limit", "server_error", "timeout", "refused"]), max_size=60),
    gone=st.sets(st.integers(0, 29), max_size=8),
    paces=st.lists(st.integers(1, 12), max_size=4),
)
def test_never_more_in_flight_than_allowed_and_never_stuck(
    ceiling: int, own: int | None, script: list[Any], gone: set[int], paces: list[int]
) -> None:
    def rule(it: Provider) -> ModelError | None:
        said = script[it.asked - 1] if it.asked <= len(script) else "ok"
        return None if said == "ok" else failure(said, 0.001 if it.asked % 2 else None)

    provider = Provider(rule, pause=0)
    most = max([ceiling, *paces])

    async def scene() -> None:
        traffic = Traffic(ceiling)
        async with ModelCaller(NullLedger(), lambda _: provider, sleep=quick_sleep, traffic=traffic) as caller:
            calls = [
                asyncio.create_task(caller.complete(model(max_concurrent_requests=own), ask(f"{number}?")))
                for number in range(30)
            ]
            for pace in paces:
                await asyncio.sleep(0)
                traffic.pace(pace)
            for number in gone:
                calls[number].cancel()
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert len(found) == 30
            (seen,) = traffic.models()
            assert (seen.in_flight, seen.waiting) == (0, 0)

    asyncio.run(asyncio.wait_for(scene(), 20))
    assert provider.most_in_flight <= min(most, own or most)
    assert provider.in_flight == 0
