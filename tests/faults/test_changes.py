"""Editing between runs: a run keeps what it was made with, and a paid call serves again only where nothing differs."""

from __future__ import annotations

import pytest

from karenina_core.errors import ConfigError
from karenina_core.runs import wanted
from tests.faults.openai_server import failing
from tests.faults.road import TEMPLATE, Road, always, config, honest, islands, model, verdicts


def models_asked(road: Road) -> list[str]:
    return sorted({name for name, _ in road.calls})


def test_the_same_run_again_asks_nothing(road: Road) -> None:
    road.run(3)
    road.server.requests.clear()
    assert verdicts(road.run(3)) == ["pass"] * 3
    assert road.calls == []


@pytest.mark.parametrize(
    "change", [{"temperature": 0.7}, {"max_tokens": 100}, {"system_prompt": "Be brief."}, {"extra_kwargs": {"seed": 1}}]
)
def test_whatever_changes_an_answer_asks_for_it_again(road: Road, change: dict[str, object]) -> None:
    road.run(3)
    road.server.requests.clear()
    road.run(3, answering_models=[model(road.server, **change)])
    assert road.calls.count(("answerer", 1)) == 1


@pytest.mark.parametrize("change", [{"request_timeout": 7}, {"max_concurrent_requests": 2}, {"max_attempts": 2}])
def test_how_fast_it_goes_changes_no_answer(road: Road, change: dict[str, object]) -> None:
    road.run(3)
    road.server.requests.clear()
    road.run(3, **change)
    assert road.calls == []


def test_another_replicate_is_another_call(road: Road) -> None:
    road.run(2)
    road.server.requests.clear()
    road.run(2, replicate_count=2)
    assert sorted(road.calls) == [(name, number) for name in ("answerer", "judge") for number in (1, 2)]


def test_resuming_with_another_configuration_is_refused(road: Road) -> None:
    road.server.script = always(failing(500), question=2)
    run_id = road.begin(2, max_attempts=1)
    road.finish(run_id)
    with pytest.raises(ConfigError, match="not the one this run was made with"):
        road.runner.start(run_id, config(road.server, replicate_count=2))


def test_a_run_keeps_its_templates_when_the_benchmark_is_edited(road: Road) -> None:
    benchmark = islands(2)
    benchmark_id = road.store.benchmarks.save(benchmark)
    road.server.script = always(failing(500), question=2)
    run_id = road.store.runs.create(
        wanted(benchmark, config(road.server, max_attempts=1)), "Before", benchmark_id=benchmark_id
    )
    road.runner.start(run_id)
    road.finish(run_id)
    benchmark.add_answer_template("q2", TEMPLATE.replace("S{number}", "S7"))
    road.store.benchmarks.save(benchmark, benchmark_id)
    road.server.script = honest
    assert verdicts(road.resume(run_id)) == ["pass", "pass"]


def test_a_new_truth_judges_anew_without_asking_the_model_again(road: Road) -> None:
    road.run(2)
    road.server.requests.clear()
    other = TEMPLATE.replace("S{number}", "S7")
    assert verdicts(road.run(2, template=other)) == ["fail", "fail"]
    assert road.calls == [], "neither question nor field changed, so neither model was asked"


def test_a_new_field_asks_the_judge_again_and_not_the_model(road: Road) -> None:
    road.run(2)
    road.server.requests.clear()
    other = TEMPLATE.replace("The sign that is named", "The sign, as it is written")
    assert verdicts(road.run(2, template=other)) == ["pass", "pass"]
    assert models_asked(road) == ["judge"]
