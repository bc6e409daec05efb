"""Who may call a model now: limits that nobody told are found, wrong keys and dead providers cost few requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.errors import ConfigError, ModelError, ModelErrorCategory
from karenina_core.models import (
    CallServices,
    ChatReply,
    ChatRequest,
    ModelCaller,
    NullLedger,
    RunLimiter,
    limiter,
    max_concurrent,
)
from karenina_core.models import limits as rules
from karenina_core.models.limiter import ProcessPermits, StoppedError
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


def accepts(capacity: int) -> Rule:
    """Refuse what is more at once."""
    return lambda it: failure("rate_limit", 0.01) if it.in_flight > capacity else None


def fails_first(calls: int, category: ModelErrorCategory) -> Rule:
    return lambda it: failure(category) if it.asked <= calls else None


def quick_sleep(seconds: float) -> Any:
    return asyncio.sleep(min(seconds, 0.01))


def caller_of(provider: Provider, limits: RunLimiter, sleep: Any = quick_sleep) -> ModelCaller:
    return ModelCaller(CallServices(NullLedger(), limits), lambda _: provider, sleep=sleep)


async def ask_all(caller: ModelCaller, number: int, config: ModelConfig) -> list[Any]:
    calls = (caller.complete(config, ask(f"{config.id} {index}?")) for index in range(number))
    return await asyncio.gather(*calls, return_exceptions=True)


def outcomes(
    provider: Provider, number: int, config: ModelConfig | None = None, ceiling: int = 8, attempts: int = 4
) -> list[str]:
    """Ask so many questions at once, and return what came of them: `answered`, or the category of the failure."""

    async def scene() -> list[Any]:
        async with caller_of(provider, RunLimiter(ceiling, attempts=attempts)) as caller:
            return await ask_all(caller, number, config or model())

    return categories(asyncio.run(asyncio.wait_for(scene(), 20)))


def categories(found: list[Any]) -> list[str]:
    return [item.category if isinstance(item, ModelError) else "answered" for item in found]


@pytest.fixture(autouse=True)
def no_long_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "FIRST_HOLD", 0.01)
    monkeypatch.setattr(rules, "LONGEST_HOLD", 0.02)
    monkeypatch.setattr(rules, "FIRST_PROBE", 0.005)
    monkeypatch.setattr(rules, "LONGEST_PROBE", 0.02)


@pytest.mark.parametrize("capacity", [4, 10, 16])
def test_a_capacity_that_nobody_told_is_found(capacity: int) -> None:
    provider = Provider(accepts(capacity), pause=0.005)
    assert outcomes(provider, 150, ceiling=40, attempts=20) == ["answered"] * 150
    assert provider.refused < 0.5 * 150


@pytest.mark.parametrize(
    ("limit", "ceiling", "calls", "seconds"),
    [({"requests_per_minute": 6000}, 50, 130, 0.28), ({"tokens_per_minute": 60_000}, 1, 65, 0.2)],
    ids=["requests", "tokens, by what calls really took"],
)
def test_limits_per_minute_are_kept(limit: Any, ceiling: int, calls: int, seconds: float) -> None:
    async def scene() -> float:
        begin = asyncio.get_running_loop().time()
        async with caller_of(Provider(pause=0), RunLimiter(ceiling)) as caller:
            await ask_all(caller, calls, model(**limit))
        return asyncio.get_running_loop().time() - begin

    assert asyncio.run(scene()) >= seconds


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModelConfig:
    """A model with a key that no other test has used."""
    monkeypatch.setenv("LIMITER_API_KEY", f"key-of-{request.node.name}")
    return model(api_key_env="LIMITER_API_KEY")


def test_a_wrong_key_costs_one_request_however_many_are_asked_at_once(key: ModelConfig) -> None:
    provider = Provider(lambda _: failure("authentication"))

    async def scene() -> list[Any]:
        async with caller_of(provider, RunLimiter()) as caller:
            return await ask_all(caller, 20, key)

    found = asyncio.run(scene())
    assert provider.asked == 1
    assert categories(found) == ["authentication"] * 20
    assert sum(isinstance(item, StoppedError) for item in found) == 19
    assert "was not asked again. It failed. Because." in str(found[-1])


def test_a_stopped_model_stops_no_other(key: ModelConfig) -> None:
    wrong, right = Provider(lambda _: failure("authentication")), Provider()

    async def scene() -> list[str]:
        clients = {True: wrong, False: right}
        services = CallServices(NullLedger())
        async with ModelCaller(services, lambda config: clients[bool(config.api_key_env)]) as caller:
            refused, answered = await asyncio.gather(ask_all(caller, 5, key), ask_all(caller, 5, model("other")))
        return categories([*refused, *answered])

    assert asyncio.run(scene()) == ["authentication"] * 5 + ["answered"] * 5


def test_a_stopped_model_is_asked_again_by_the_next_run(key: ModelConfig) -> None:
    provider = Provider(fails_first(1, "authentication"))
    assert outcomes(provider, 3, key) == ["authentication"] * 3
    assert outcomes(provider, 3, key) == ["answered"] * 3


def test_once_a_key_was_accepted_nobody_waits_for_a_first_call(key: ModelConfig) -> None:
    outcomes(Provider(), 1, key)
    provider = Provider()
    outcomes(provider, 8, key)
    assert provider.most_in_flight == 8


def test_a_slow_first_answer_holds_the_others_up_only_for_a_while(
    key: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiter, "AUTH_PROBE_SECONDS", 0.01)
    provider = Provider(pause=0.05)
    outcomes(provider, 8, key)
    assert provider.most_in_flight == 8


def test_a_key_is_not_kept_with_its_model(key: ModelConfig) -> None:
    outcomes(Provider(), 1, key)
    assert "key-of" not in repr(limiter._accepted_keys)


def test_a_missing_model_is_asked_for_once(key: ModelConfig) -> None:
    provider = Provider(lambda _: failure("not_found"))
    assert outcomes(provider, 10, key) == ["not_found"] * 10
    assert provider.asked == 1


def test_a_model_that_has_answered_is_not_missing() -> None:
    provider = Provider(lambda it: failure("not_found") if it.asked == 2 else None)
    assert outcomes(provider, 5, ceiling=1).count("answered") == 4


@pytest.mark.parametrize("category", ["connection", "timeout", "server_error"])
def test_a_dead_provider_is_given_up_and_not_asked_for_every_row(category: ModelErrorCategory) -> None:
    provider = Provider(lambda _: failure(category))
    assert outcomes(provider, 200) == [category] * 200
    assert provider.asked < 40


@pytest.mark.parametrize(("failures", "attempts"), [(2, 8), (12, 30)])
def test_a_provider_that_comes_back_is_noticed_by_a_probe(failures: int, attempts: int) -> None:
    """Who allows more attempts sees more probes."""
    provider = Provider(fails_first(rules.SUSPEND_AFTER + failures, "connection"))
    assert outcomes(provider, 20, attempts=attempts) == ["answered"] * 20


def test_a_provider_that_asks_for_hours_is_not_asked_again() -> None:
    provider = Provider(lambda _: failure("rate_limit", 7200))
    assert set(outcomes(provider, 30, ceiling=2)) == {"rate_limit"}
    assert provider.asked <= 2


def test_another_ceiling_holds_at_once() -> None:
    provider, limits = Provider(pause=0.005), RunLimiter(8)

    async def scene() -> list[int]:
        seen = []
        async with caller_of(provider, limits) as caller:
            for ceiling in (8, 2, 16):
                limits.set_ceiling(ceiling)
                provider.most_in_flight = 0
                await ask_all(caller, 40, model())
                seen.append(provider.most_in_flight)
        return seen

    assert asyncio.run(scene()) == [8, 2, 16]


def test_two_runs_find_the_limit_of_a_model_together() -> None:
    provider = Provider(accepts(4))

    async def scene() -> set[int]:
        runs = [RunLimiter(10, attempts=20), RunLimiter(10, attempts=20)]
        callers = [caller_of(provider, run) for run in runs]
        for number, caller in enumerate(callers):
            await ask_all(caller, 30, model(id=f"mine {number}"))
        limits = {seen.limit for run in runs for seen in run.models()}
        for caller in callers:
            await caller.aclose()
        return limits

    (limit,) = asyncio.run(scene())
    assert limit <= 10


def test_a_free_place_of_a_run_goes_to_the_model_with_the_fewest_calls_so_that_a_slow_one_does_not_take_all() -> None:
    async def scene() -> list[bool]:
        run = RunLimiter(3)
        slow, quick, judge = (run.queue(model(name)) for name in ("slow", "quick", "judge"))
        permits = [await queue.acquire(0) for queue in (slow, slow, quick)]
        waiting = [asyncio.create_task(queue.acquire(0)) for queue in (slow, judge)]
        await asyncio.sleep(0)
        assert permits[0] is not None
        async with permits[0]:
            pass
        await asyncio.sleep(0)
        done = [task.done() for task in waiting]
        run.release()
        await asyncio.gather(*waiting, return_exceptions=True)
        return done

    assert asyncio.run(scene()) == [False, True]


def test_a_permit_that_was_granted_to_a_call_that_is_cancelled_is_passed_on() -> None:
    async def scene() -> bool:
        queue = RunLimiter(1).queue(model())
        first = await queue.acquire(0)
        assert first is not None
        waiting = [asyncio.create_task(queue.acquire(0)) for _ in range(2)]
        await asyncio.sleep(0)
        async with first:
            pass
        waiting[0].cancel()
        return await asyncio.wait_for(waiting[1], 5) is not None

    assert asyncio.run(scene())


def test_the_end_sends_away_who_waits_and_lets_finish_who_is_asked() -> None:
    provider, run = Provider(pause=0.05), RunLimiter(2)

    async def scene() -> list[Any]:
        async with caller_of(provider, run) as caller:
            asked = asyncio.gather(ask_all(caller, 5, model()))
            await asyncio.sleep(0.01)
            run.close()
            return (await asked)[0]

    found = asyncio.run(scene())
    assert sum(isinstance(item, asyncio.CancelledError) for item in found) == 3
    assert provider.asked == 2


def test_what_is_seen_of_a_model() -> None:
    provider = Provider(lambda it: failure("rate_limit", 0.01) if it.asked == 2 else None)
    run = RunLimiter(4)

    async def scene() -> None:
        async with caller_of(provider, run) as caller:
            await ask_all(caller, 6, model(id="Mine"))
            (seen,) = run.models()
            assert (seen.model, seen.requests, seen.throttled, seen.cost) == ("Mine", 7, 1, 3.0)
            assert (seen.in_flight, seen.waiting, seen.state) == (0, 0, "open")

    asyncio.run(scene())


def test_a_call_between_two_attempts_is_seen() -> None:
    run, seen = RunLimiter(4), []

    async def look(_: float) -> None:
        seen.extend(run.retries())

    async def scene() -> None:
        async with caller_of(Provider(fails_first(1, "timeout")), run, look) as caller:
            await ask_all(caller, 1, model(id="Mine"))

    asyncio.run(scene())
    assert [(retry.model, retry.category) for retry in seen] == [("Mine", "timeout")]
    assert not run.retries()


@settings(max_examples=40, deadline=None)
@given(
    ceiling=st.integers(1, 12),
    own=st.none() | st.integers(1, 5),
    script=st.lists(st.sampled_from([*["ok"] * 3, "rate_limit", "server_error", "timeout", "refused"]), max_size=60),
    gone=st.sets(st.integers(0, 29), max_size=8),
    ceilings=st.lists(st.integers(1, 12), max_size=4),
)
def test_never_more_in_flight_than_allowed_and_never_stuck(
    ceiling: int, own: int | None, script: list[Any], gone: set[int], ceilings: list[int]
) -> None:
    def rule(it: Provider) -> ModelError | None:
        outcome = script[it.asked - 1] if it.asked <= len(script) else "ok"
        return None if outcome == "ok" else failure(outcome, 0.001 if it.asked % 2 else None)

    provider = Provider(rule, pause=0)
    most = max([ceiling, *ceilings])

    async def scene() -> None:
        run = RunLimiter(ceiling)
        async with caller_of(provider, run) as caller:
            calls = [
                asyncio.create_task(caller.complete(model(max_concurrent_requests=own), ask(f"{number}?")))
                for number in range(30)
            ]
            for other in ceilings:
                await asyncio.sleep(0)
                run.set_ceiling(other)
            for number in gone:
                calls[number].cancel()
            assert len(await asyncio.gather(*calls, return_exceptions=True)) == 30
            (seen,) = run.models()
            assert (seen.in_flight, seen.waiting) == (0, 0)

    asyncio.run(asyncio.wait_for(scene(), 20))
    assert provider.most_in_flight <= min(most, own or most)
    assert provider.in_flight == 0


# The whole process


def test_the_bound_of_the_process_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max_concurrent() == 256
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", "3")
    assert max_concurrent() == 3


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "²"])
def test_a_bound_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", text)
    with pytest.raises(ConfigError, match="KARENINA_MAX_CONCURRENT"):
        max_concurrent()


def test_several_callers_share_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", "2")
    provider = Provider(pause=0.01)

    async def both() -> None:
        async with caller_of(provider, RunLimiter()) as one, caller_of(provider, RunLimiter()) as other:
            await asyncio.gather(ask_all(one, 4, model("one")), ask_all(other, 4, model("other")))

    asyncio.run(both())
    assert (provider.asked, provider.most_in_flight) == (8, 2)


def test_threads_with_loops_of_their_own_share_the_bound() -> None:
    permits, lock, inside, most = ProcessPermits(1), threading.Lock(), 0, 0

    async def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            async with permits:
                with lock:
                    inside += 1
                    most = max(most, inside)
                await asyncio.sleep(0.001)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert most == 1


@pytest.mark.parametrize("moment", ["waiting", "just served"])
def test_who_gives_up_takes_no_permit_of_the_process_away(moment: str) -> None:
    async def scene() -> None:
        permits = ProcessPermits(1)

        async def hold() -> None:
            async with permits:
                pass

        async with permits:
            waiting = [asyncio.create_task(hold()) for _ in range(2)]
            await asyncio.sleep(0)
            if moment == "waiting":
                waiting[0].cancel()
        waiting[0].cancel()
        async with asyncio.timeout(5):
            await waiting[1]
            await hold()

    asyncio.run(scene())
