"""Which rows a run wants, which calls that takes, and letting a stored run want more."""

from __future__ import annotations

from textwrap import dedent

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError, InputError
from karenina_core.runs import (
    Engine,
    Progress,
    Store,
    all_keywords,
    choose_questions,
    questions_of,
    top_up,
    wanted,
    widened,
)
from karenina_core.runs.plan import config_hash
from karenina_core.schemas import ModelConfig
from karenina_core.schemas.entities import ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait
from tests.runs.fakes import PATIENCE, Laboratory, failure_of, plain_result, small_benchmark, small_config

NEW_MODEL = ModelConfig.parse("lab/model-2")
NEW_JUDGE = ModelConfig.parse("lab/judge-2")


def template(primitive: str, annotation: str, truth: str) -> str:
    return dedent(
        f"""
        from karenina_core.schemas.entities import BaseAnswer, VerifiedField
        from karenina_core.schemas.primitives import *


        class Answer(BaseAnswer):
            value: {annotation} = VerifiedField(description="It", ground_truth={truth}, verify_with={primitive})
        """
    )


JUDGED = template("NumericExact()", "int", "42")
TRACED = template('TraceContains(substring="doi")', "bool", "True")
RUBRIC = Rubric(
    traits=[
        RubricTrait(name="Clarity"),
        RubricTrait(name="Depth"),
        ManualRubricTrait(name="Cites", pattern="doi"),
        MetricRubricTrait(name="Organs", metrics=["recall"], tp_instructions=["heart"]),
    ]
)


def test_every_finished_question_model_judge_and_replicate_is_wanted() -> None:
    plan = wanted(small_benchmark(5), small_config(2, 2, replicate_count=3))
    assert (plan.answers, plan.rows, plan.note) == (30, 60, "")


def test_questions_that_cannot_take_part_are_left_out_with_the_reason() -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q2")
    assert wanted(benchmark, small_config()).skipped == (("q2", "not marked finished"),)
    plan = wanted(benchmark, small_config(), ["q3", "q2", "q9", "q1", "q1"])
    assert plan.question_ids == ("q1", "q3")
    assert plan.skipped == (("q2", "not marked finished"), ("q9", "not in this benchmark"))
    assert plan.note == "Left out: 1 question not marked finished, 1 question not in this benchmark."


def test_the_hash_follows_what_is_asked_and_not_how_fast() -> None:
    plain = config_hash(small_config())
    assert (
        config_hash(small_config(max_concurrent_requests=50, request_timeout=5, max_attempts=1, max_cost=1.0)) == plain
    )
    assert config_hash(small_config(replicate_count=2)) != plain
    assert config_hash(small_config(answering_models=[{"model_name": "lab/model-1", "temperature": 1}])) != plain


# Calls by purpose


@pytest.mark.parametrize(
    ("source", "rubric", "settings", "calls"),
    [
        (JUDGED, None, {"answering": 2, "parsing": 3, "replicate_count": 2}, {"answer": 4, "parse": 12}),
        (TRACED, None, {"sufficiency_enabled": True}, {"answer": 1}),
        (
            JUDGED,
            None,
            {"parsing": 2, "abstention_enabled": True, "sufficiency_enabled": True},
            {"answer": 1, "parse": 2, "abstention": 2, "sufficiency": 2},
        ),
        (JUDGED, RUBRIC, {}, {"answer": 1, "parse": 1, "rubric": 1, "metric": 1}),
        (
            JUDGED,
            RUBRIC,
            {"rubric_evaluation_strategy": "sequential"},
            {"answer": 1, "parse": 1, "rubric": 2, "metric": 1},
        ),
        (JUDGED, RUBRIC, {"evaluation_mode": "template_only"}, {"answer": 1, "parse": 1}),
        (
            JUDGED,
            RUBRIC,
            {"evaluation_mode": "rubric_only", "rubric_trait_names": ["Organs"]},
            {"answer": 1, "metric": 1},
        ),
        (None, None, {}, {}),
        (None, RUBRIC, {}, {"answer": 1, "rubric": 1, "metric": 1}),
    ],
    ids=["judges share answers", "no judge", "guards", "batch", "one by one", "template", "one trait", "nothing", "no"],
)
def test_calls_are_counted_by_purpose(
    source: str | None, rubric: Rubric | None, settings: dict[str, object], calls: dict[str, int]
) -> None:
    benchmark = Benchmark.create("Expected")
    benchmark.add_question("How many?", "42", answer_template=source)
    if rubric:
        benchmark.set_global_rubric(rubric)
    assert wanted(benchmark, small_config(**settings)).calls() == calls  # type: ignore[arg-type]


# Choosing questions


@pytest.fixture
def mixed(store: Store) -> str:
    """One question passes, one fails with one of two models, one breaks down, one is declined."""
    run_id = store.runs.create(wanted(small_benchmark(5), small_config(2)))
    results = [
        plain_result("q1"),
        plain_result("q3", failure=failure_of("timeout")),
        plain_result("q2", verdict="fail"),
        plain_result("q2", "lab/model-2"),
        plain_result("q4", verdict="not_evaluated"),
    ]
    store.results.save(run_id, results)
    return run_id


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["fail"], ["q2"]),
        (["error"], ["q3"]),
        (["not_evaluated"], ["q3", "q4"]),
        (["fail", "error"], ["q2", "q3"]),
        (["pass"], ["q1", "q2"]),
        ([], []),
    ],
)
def test_questions_are_chosen_by_how_they_fared(
    store: Store, mixed: str, verdicts: list[str], expected: list[str]
) -> None:
    assert questions_of(store, mixed, verdicts) == expected


def test_an_unknown_verdict_or_run_is_named(store: Store, mixed: str) -> None:
    with pytest.raises(InputError, match="'wrong'"):
        questions_of(store, mixed, ["wrong"])
    with pytest.raises(InputError, match="'gone'"):
        questions_of(store, "gone")


def test_conditions_narrow_each_other_and_keep_the_order() -> None:
    benchmark = small_benchmark(3)
    benchmark.add_question("Which gas?", "Neon", question_id="gas", keywords=["Noble", "easy"])
    benchmark.add_question("Which metal?", "Iron", question_id="metal", keywords=["easy"])
    assert all_keywords(benchmark) == ["easy", "Noble"]
    assert choose_questions(benchmark, keywords=["noble", "hard"]) == ["gas"]
    assert choose_questions(benchmark, keywords=["easy"], search="iron") == ["metal"]
    assert choose_questions(benchmark, question_ids=["metal", "q1", "metal"]) == ["q1", "metal"]
    assert len(choose_questions(benchmark)) == 5
    unknown = choose_questions(benchmark, question_ids=["q2", "gone"])
    assert wanted(benchmark, small_config(), unknown).skipped == (("gone", "not in this benchmark"),)


# The same run with more of everything: what it has stays, and nothing is asked twice


@pytest.fixture
def finished(store: Store, runner: Engine) -> str:
    """A run over two of three questions, at its end."""
    run_id = store.runs.create(wanted(small_benchmark(3), small_config(), limit=2))
    carry_out(runner, run_id)
    return run_id


def carry_out(engine: Engine, run_id: str) -> Progress:
    engine.start(run_id)
    progress = engine.wait(run_id, PATIENCE)
    assert progress.status == "completed", progress.message
    return progress


def test_more_of_everything_is_the_same_run_in_the_order_of_the_matrix(
    store: Store, runner: Engine, lab: Laboratory, finished: str
) -> None:
    before = {row["result_id"]: row["timestamp"] for row in store.results.rows(finished)}
    top_up(store, finished, answering_models=[NEW_MODEL], judges=[NEW_JUDGE], replicates=2, question_ids=["q3"])
    assert (store.runs.get(finished).status, store.runs.get(finished).total) == ("queued", 24)
    progress = carry_out(runner, finished)
    assert (progress.done, progress.percent) == (24, 100.0)
    after = {row["result_id"]: row["timestamp"] for row in store.results.rows(finished)}
    assert {key: after[key] for key in before} == before
    assert len(lab.answered) == len(set(lab.answered)) == 12
    assert len(lab.judged) == len(set(lab.judged)) == 24
    expected = [
        (f"q{question}", f"lab/model-{model}", f"lab/judge-{judge}", replicate)
        for question in (1, 2, 3)
        for model in (1, 2)
        for judge in (1, 2)
        for replicate in (1, 2)
    ]
    assert [tuple(result.key) for result in store.results.all(finished)] == expected


def test_another_judge_asks_no_model_under_test(store: Store, runner: Engine, lab: Laboratory, finished: str) -> None:
    lab.answered.clear()
    top_up(store, finished, judges=[NEW_JUDGE])
    assert carry_out(runner, finished).total == 4
    assert lab.answered == []


def test_what_was_left_out_is_still_in_the_note(store: Store) -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q3")
    run_id = store.runs.create(wanted(benchmark, small_config(), limit=1))
    top_up(store, run_id, question_ids=["q2"])
    assert store.runs.get(run_id).note == "Left out: 1 question not marked finished."


@pytest.mark.parametrize(
    ("growth", "complaint"),
    [
        ({}, "Nothing would be added"),
        ({"replicates": 1}, "Nothing would be added"),
        ({"question_ids": ["q1", "gone"]}, "Nothing would be added"),
        ({"answering_models": [ModelConfig(model_name="lab/model-1", temperature=1)]}, "another model with the label"),
        ({"judges": [ModelConfig(model_name="lab/judge-1", max_tokens=5)]}, "another model with the label"),
    ],
)
def test_what_adds_nothing_or_changes_a_model_is_refused(
    store: Store, finished: str, growth: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        top_up(store, finished, **growth)  # type: ignore[arg-type]
    assert store.runs.get(finished).total == 2


def test_replicates_are_never_taken_away() -> None:
    with pytest.raises(InputError, match="3 times already"):
        widened(wanted(small_benchmark(1), small_config(replicate_count=3)), replicates=2)


def test_a_run_that_was_widened_is_not_started_as_it_was(store: Store, runner: Engine, finished: str) -> None:
    config = store.runs.get(finished).config
    top_up(store, finished, replicates=2)
    with pytest.raises(ConfigError, match="not the one"):
        runner.start(finished, config)


def test_pace_and_limit_may_change_with_a_top_up(store: Store, finished: str) -> None:
    config = small_config(replicate_count=2, max_concurrent_requests=3, max_cost=1.0, max_attempts=2)
    store.runs.widen(finished, wanted(store.runs.plan(finished).benchmark, config, limit=2))
    assert store.runs.get(finished).config == config


def test_only_one_of_two_top_ups_at_once_succeeds(store: Store, finished: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process widens the run between our reading and our writing."""
    stale = store.runs.get(finished)
    top_up(store, finished, replicates=2)
    monkeypatch.setattr(store.runs, "get", lambda run_id: stale)
    with pytest.raises(InputError, match="under way"):
        top_up(store, finished, replicates=3)


@pytest.mark.parametrize("of_the_day", [False, True], ids=["of the run", "of the day"])
def test_limits_hold_for_what_is_added(
    store: Store, runner: Engine, monkeypatch: pytest.MonkeyPatch, of_the_day: bool
) -> None:
    """Every answer costs half a dollar; two are paid before, and one more fits."""
    config = small_config(max_concurrent_requests=1, **({} if of_the_day else {"max_cost": 1.5}))
    run_id = store.runs.create(wanted(small_benchmark(2), config))
    carry_out(runner, run_id)
    if of_the_day:
        monkeypatch.setenv("KARENINA_DAILY_BUDGET", "1.5")
    top_up(store, run_id, replicates=3)
    runner.start(run_id)
    progress = runner.wait(run_id, PATIENCE)
    assert (progress.status, progress.done, progress.cost) == ("interrupted", 3, 1.5)
    assert "of at most $1.50" in progress.message


def test_a_reverified_run_is_not_topped_up(store: Store, finished: str) -> None:
    copy = store.runs.create(store.runs.plan(finished), parent_run=finished)
    with pytest.raises(InputError, match="re-verification"):
        top_up(store, copy, replicates=2)
