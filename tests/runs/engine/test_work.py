"""What is left to do in a run: rows that stay, answers that are wanted, traits that failed at the provider."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Engine, Plan, Store, failed_guards, failed_traits, wanted
from karenina_core.runs.engine.work import WorkQueue, is_final, remaining
from karenina_core.runs.store import Outcome
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import (
    ManualRubricTrait,
    MetricRubricTrait,
    RowKey,
    Rubric,
    RubricTrait,
    VerificationConfig,
)
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.runs.elements import config_for, elements, extraction
from tests.runs.fakes import PATIENCE, small_benchmark, small_config

PLAN = wanted(small_benchmark(2), small_config(1, 2))
ORDER = Order(["q1", "q2"], ["lab/model-1"], ["lab/judge-1", "lab/judge-2"])


def left(plan: Plan, *finished: RowKey) -> list[tuple[str, list[str]]]:
    tasks = chain(*remaining(plan, ORDER, {ORDER.position(key) for key in finished}))
    return [(task.generation.question_id, [judge.id for judge in task.judges]) for task in tasks]


def test_rows_that_are_there_are_not_wanted_again() -> None:
    assert left(PLAN) == [("q1", ["lab/judge-1", "lab/judge-2"]), ("q2", ["lab/judge-1", "lab/judge-2"])]
    assert left(PLAN, RowKey("q1", "lab/model-1", "lab/judge-1", 1)) == [
        ("q1", ["lab/judge-2"]),
        ("q2", ["lab/judge-1", "lab/judge-2"]),
    ]
    both = [RowKey("q1", "lab/model-1", judge, 1) for judge in ("lab/judge-1", "lab/judge-2")]
    assert [question for question, _ in left(PLAN, *both)] == ["q2"]


@pytest.mark.parametrize(
    ("status", "category", "stays"),
    [
        ("completed", None, True),
        ("completed", "abstention", True),
        ("failed", "template_validation", True),
        ("skipped", "no_template", True),
        ("failed", "rate_limit", False),
        ("failed", "authentication", False),
        ("failed", "missing_recording", False),
        ("failed", "unexpected", False),
        ("failed", "parsing", False),
        ("skipped", "parsing", False),
    ],
)
def test_only_failures_that_may_pass_are_tried_again(status: str, category: str | None, stays: bool) -> None:
    assert is_final(Outcome(0, "m", status, "not_evaluated", category)) is stays


def queue_of(questions: int, answering: int, replicates: int = 1) -> WorkQueue:
    config = small_config(answering, replicate_count=replicates)
    order = Order(
        [f"q{number}" for number in range(1, questions + 1)],
        [model.id for model in config.answering_models],
        [model.id for model in config.parsing_models],
    )
    return WorkQueue(remaining(wanted(small_benchmark(questions), config), order, ()))


def taken(queue: WorkQueue, number: int) -> list[tuple[str, str, int]]:
    """Let as many workers take one answer each, and none finish it."""
    generations = [work[1].generation for work in (queue.next() for _ in range(number)) if work is not None]
    return [(model.id, question_id, replicate) for question_id, model, replicate in generations]


def test_all_models_are_asked_at_once_and_nothing_is_left_out() -> None:
    assert taken(queue_of(2, 2), 9) == [
        ("lab/model-1", "q1", 1),
        ("lab/model-2", "q1", 1),
        ("lab/model-1", "q2", 1),
        ("lab/model-2", "q2", 1),
    ]


def test_replicates_of_a_question_follow_each_other() -> None:
    assert [work[1:] for work in taken(queue_of(2, 1, 2), 4)] == [("q1", 1), ("q1", 2), ("q2", 1), ("q2", 2)]


def test_a_slow_model_does_not_take_the_workers_of_a_quick_one() -> None:
    """Of four workers two wait for the first model for ever; the others do all of the second."""
    queue, quick = queue_of(50, 2), 0
    while (work := queue.next()) is not None and quick < 50:
        stream, task = work
        if task.generation.answering.id == "lab/model-2":
            quick += 1
            queue.done(stream)
    assert (quick, len(taken(queue, 100))) == (50, 50 - 2)


# Traits and checks that failed although the row is completed

CLARITY = RubricTrait(name="Clarity", description="Clear words", kind="score")
POLITE = RubricTrait(name="Polite", description="Polite words", kind="binary")
METALS = MetricRubricTrait(
    name="Metals", description="Which metals", metrics=["recall"], tp_instructions=["gold", "iron"]
)


class Judge:
    """Fills templates; traits are given as `traits` says, or fail when it says nothing."""

    def __init__(self, server: OpenAIServer) -> None:
        self.traits: dict[str, Any] | None = None
        self.metric: dict[str, Any] | None = {"items": []}
        self.guard: dict[str, Any] | None = {"reasoning": "It answers.", "abstained": False}
        self.asked: list[str] = []
        server.script = self

    def __call__(self, request: dict[str, Any]) -> Reply:
        wanted = request["response_format"]["json_schema"]["schema"]["properties"]
        if "abstained" in wanted:
            self.asked.append("guard")
            return failing(401, "No.") if self.guard is None else Reply(json.dumps(self.guard))
        kind = "items" if "items" in wanted else "parse" if "value" in wanted and "reason" not in wanted else "traits"
        self.asked.append(kind)
        if kind == "parse":
            return extraction(request)
        reply = self.metric if kind == "items" else self.traits
        return failing(401, "No.") if reply is None else Reply(json.dumps(reply))


@pytest.fixture
def judge(openai_server: OpenAIServer) -> Judge:
    return Judge(openai_server)


def rated(*traits: Any) -> Benchmark:
    benchmark = elements()
    benchmark.set_global_rubric(Rubric(traits=list(traits)))
    return benchmark


@pytest.fixture
def carry_out(store: Store) -> Any:
    def carried(run_id: str) -> None:
        with Engine(store) as runner:
            runner.start(run_id)
            assert runner.wait(run_id, PATIENCE).status == "completed"

    return carried


def new_run(store: Store, benchmark: Benchmark, config: VerificationConfig) -> str:
    run_id = store.runs.create(wanted(benchmark, config))
    with Engine(store) as runner:
        runner.start(run_id, config)
        assert runner.wait(run_id, PATIENCE).status == "completed"
    return run_id


def traits_of_reply(clarity: int, polite: bool) -> dict[str, Any]:
    return {
        "clarity": {"reason": "It is.", "value": clarity},
        "polite": {"reason": "It is.", "value": polite},
    }


def test_traits_that_failed_at_the_provider_are_offered(
    store: Store, judge: Judge, openai_server: OpenAIServer
) -> None:
    run_id = new_run(store, rated(CLARITY, POLITE), config_for(openai_server))
    assert store.runs.get(run_id).errors == 0
    found = failed_traits(store, run_id)
    assert sorted(key.question_id for key in found) == ["gold", "iron", "neon"]
    assert set(map(tuple, found.values())) == {("Clarity", "Polite")}


def test_resuming_asks_for_the_traits_only(
    store: Store, judge: Judge, openai_server: OpenAIServer, carry_out: Any
) -> None:
    run_id = new_run(store, rated(CLARITY, POLITE), config_for(openai_server))
    verdicts = [result.verdict for result in store.results.all(run_id)]
    judge.traits = traits_of_reply(4, True)
    judge.asked.clear()
    carry_out(run_id)
    assert judge.asked == ["traits"] * 3
    results = store.results.all(run_id)
    assert [result.rubric.scores for result in results] == [{"Clarity": 4, "Polite": True}] * 3
    assert [result.verdict for result in results] == verdicts
    assert failed_traits(store, run_id) == {}
    judge.asked.clear()
    carry_out(run_id)
    assert judge.asked == []


def test_a_reply_that_is_remembered_is_not_asked_for_again(
    store: Store, judge: Judge, openai_server: OpenAIServer, carry_out: Any
) -> None:
    judge.traits = traits_of_reply(99, True)
    run_id = new_run(store, rated(CLARITY), config_for(openai_server))
    assert [result.rubric.errors for result in store.results.all(run_id)] != [{}] * 3
    assert failed_traits(store, run_id) == {}
    judge.asked.clear()
    carry_out(run_id)
    assert judge.asked == []


def test_a_metric_trait_that_failed_is_offered(store: Store, judge: Judge, openai_server: OpenAIServer) -> None:
    judge.traits, judge.metric = traits_of_reply(4, True), None
    run_id = new_run(store, rated(CLARITY, METALS), config_for(openai_server))
    assert set(map(tuple, failed_traits(store, run_id).values())) == {("Metals",)}


def test_traits_that_no_judge_is_asked_about_are_not_offered(
    store: Store, judge: Judge, openai_server: OpenAIServer
) -> None:
    pattern = ManualRubricTrait(name="Loops", description="d", pattern="(a+)+$(?<=b)")
    run_id = new_run(store, rated(pattern), config_for(openai_server))
    assert failed_traits(store, run_id) == {}


def test_checks_of_the_answer_that_failed_at_the_provider_are_made_on_resuming(
    store: Store, judge: Judge, openai_server: OpenAIServer, carry_out: Any
) -> None:
    judge.guard = None
    run_id = new_run(store, elements(), config_for(openai_server, abstention_enabled=True))
    assert [key.question_id for key in failed_guards(store, run_id)] == ["gold", "iron", "neon"]
    judge.guard = {"reasoning": "It declines.", "abstained": True}
    judge.asked.clear()
    carry_out(run_id)
    assert set(judge.asked) == {"guard"}
    assert [result.verdict for result in store.results.all(run_id)] == ["not_evaluated"] * 3
    assert failed_guards(store, run_id) == []
