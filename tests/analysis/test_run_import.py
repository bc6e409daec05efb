"""An export of results becomes a run again: the same verdicts, beside the questions they belong to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from karenina_core.analysis import import_run, to_json
from karenina_core.analysis.upstream import to_upstream
from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.errors import InputError, StoreError
from karenina_core.runs import Store, run_verification
from karenina_core.schemas import Annotation, VerificationConfig, VerificationResult


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "other.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def config() -> VerificationConfig:
    return demo_config().model_copy(update={"embedding_check_enabled": False})


@pytest.fixture(scope="module")
def results(config: VerificationConfig, tmp_path_factory: pytest.TempPathFactory) -> list[VerificationResult]:
    with Store.open(tmp_path_factory.mktemp("first") / "first.db") as first:
        return list(run_verification(demo_benchmark(), config, store=first))


def exported(results: list[VerificationResult], config: VerificationConfig | None = None) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(to_json(results, config))
    return document


def verdicts(results: list[VerificationResult]) -> dict[Any, str]:
    return {result.key: result.verdict for result in results}


def test_a_run_is_the_same_after_a_journey_through_a_file(
    store: Store, results: list[VerificationResult], config: VerificationConfig
) -> None:
    run_id = import_run(store, exported(results, config), "Brought along")
    run = store.runs.get(run_id)
    assert (run.name, run.status, run.done, run.total) == ("Brought along", "completed", 42, 42)
    assert verdicts(store.results.all(run_id)) == verdicts(results)
    assert [model.id for model in run.config.answering_models] == [model.id for model in config.answering_models]


def test_it_belongs_to_the_benchmark_that_has_its_questions(store: Store, results: list[VerificationResult]) -> None:
    store.benchmarks.save(Benchmark.create("Another"))
    benchmark_id = store.benchmarks.save(demo_benchmark())
    run = store.runs.get(import_run(store, exported(results), "Brought along"))
    assert run.benchmark_id == benchmark_id
    assert run.benchmark_name == demo_benchmark().name


def test_without_such_a_benchmark_it_brings_its_questions_along(
    store: Store, results: list[VerificationResult]
) -> None:
    run_id = import_run(store, exported(results), "Brought along")
    assert store.runs.get(run_id).benchmark_id is None
    carried = store.runs.plan(run_id).benchmark
    assert {question.question for question in carried} == {question.question for question in demo_benchmark()}


def test_a_part_of_a_run_is_not_called_complete(store: Store, results: list[VerificationResult]) -> None:
    run = store.runs.get(import_run(store, exported(results[:40]), "Part"))
    assert (run.status, run.done, run.total) == ("interrupted", 40, 42)


def test_a_configuration_that_does_not_fit_is_replaced_by_the_names_alone(
    store: Store, results: list[VerificationResult]
) -> None:
    document = exported(results)
    document["config"] = {"answering_models": "no"}
    run = store.runs.get(import_run(store, document, "Foreign"))
    assert {model.id for model in run.config.answering_models} == {result.answering_model for result in results}


def test_results_of_the_upstream_project_open_too(
    store: Store, results: list[VerificationResult], config: VerificationConfig
) -> None:
    run_id = import_run(store, json.loads(to_upstream(results, config)), "Upstream")
    assert sorted(verdicts(store.results.all(run_id)).values()) == sorted(verdicts(results).values())


@pytest.mark.parametrize("write", [to_json, to_upstream])
def test_reviews_come_along_with_their_history(
    store: Store, results: list[VerificationResult], config: VerificationConfig, write: Callable[..., bytes]
) -> None:
    about = {"run_id": "elsewhere", "result_id": results[3].result_id, "author": "ann", "at": "2026-03-01T12:00:00Z"}
    reviews = [
        Annotation(**about, agrees=False, cause="rule_too_strict", note="case only", field="target"),
        Annotation(**about, agrees=True, undone=True),
        Annotation(**about | {"result_id": "of no result here"}, agrees=True),
    ]
    document = json.loads(write(results, config, annotations=reviews))
    for name in ("first", "again"):
        run_id = import_run(store, document, name)
        read = store.annotations.all(run_id, undone=None)
        told = [item.model_dump(exclude={"id", "run_id"}) for item in read]
        assert sorted(told, key=str) == sorted(
            (item.model_dump(exclude={"id", "run_id"}) for item in reviews[:2]), key=str
        )


def test_an_export_without_results_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="holds no results"):
        import_run(store, exported([]), "Empty")
    assert store.runs.all() == []


def test_results_that_cannot_be_stored_leave_no_run_behind(
    store: Store, results: list[VerificationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store.results, "save", full)
    with pytest.raises(StoreError):
        import_run(store, exported(results), "Lost")
    assert store.runs.all() == []
