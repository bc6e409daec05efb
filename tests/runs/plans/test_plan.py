from __future__ import annotations

from karenina_core.runs import wanted
from karenina_core.runs.plans.plan import Generation, config_hash
from tests.runs.fakes import small_benchmark, small_config


def test_every_finished_question_model_judge_and_replicate_is_wanted() -> None:
    plan = wanted(small_benchmark(5), small_config(2, 2, replicate_count=3))
    assert (plan.answers, plan.rows) == (30, 60)


def test_answers_come_question_by_question() -> None:
    config = small_config(2, replicate_count=2)
    first, second = config.answering_models
    plan = wanted(small_benchmark(2), config)
    assert list(plan.generations())[:5] == [
        Generation("q1", first, 1),
        Generation("q1", first, 2),
        Generation("q1", second, 1),
        Generation("q1", second, 2),
        Generation("q2", first, 1),
    ]


def test_unfinished_questions_are_left_out_with_the_reason() -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q2")
    plan = wanted(benchmark, small_config())
    assert plan.question_ids == ("q1", "q3")
    assert plan.skipped == (("q2", "not marked finished"),)


def test_asking_for_an_unfinished_question_by_id_does_not_bring_it_in() -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q2")
    plan = wanted(benchmark, small_config(), ["q3", "q2", "q9", "q1", "q1"])
    assert plan.question_ids == ("q1", "q3")
    assert plan.skipped == (("q2", "not marked finished"), ("q9", "not in this benchmark"))
    assert plan.note == "Left out: 1 question not marked finished, 1 question not in this benchmark."


def test_nothing_left_out_needs_no_note() -> None:
    assert wanted(small_benchmark(), small_config()).note == ""


def test_a_limit_takes_the_first_questions() -> None:
    assert wanted(small_benchmark(5), small_config(), limit=2).question_ids == ("q1", "q2")


def test_the_hash_follows_what_is_asked_and_not_how_fast() -> None:
    plain = config_hash(small_config())
    assert config_hash(small_config(max_concurrent_requests=50, request_timeout=5, max_attempts=1)) == plain
    assert config_hash(small_config(replicate_count=2)) != plain
    assert config_hash(small_config(answering_models=[{"model_name": "lab/model-1", "temperature": 1}])) != plain
