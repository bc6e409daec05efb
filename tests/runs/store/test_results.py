"""Stored results: evidence, columns, fields and trait values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from karenina_core.errors import InputError, StoreError
from karenina_core.runs import Store, wanted
from karenina_core.runs.store import Outcome
from karenina_core.runs.store.database import clean
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import FieldEvidence, VerificationResult
from tests.runs.fakes import (
    failure_of,
    fill_disk,
    full_result,
    plain_result,
    small_benchmark,
    small_config,
    stored_fields,
    stored_scores,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.fixture
def run_id(any_store: Store) -> str:
    return any_store.runs.create(wanted(small_benchmark(3), small_config(2, 2, replicate_count=2)))


@pytest.fixture(scope="module")
def kept_open(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    with Store.open(tmp_path_factory.mktemp("store") / "karenina.db") as store:
        yield store, store.runs.create(wanted(small_benchmark(1), small_config()))


def test_a_result_comes_back_with_all_its_evidence(any_store: Store, run_id: str) -> None:
    result = full_result()
    any_store.results.save(run_id, [result])
    assert any_store.results.all(run_id) == [result]
    assert any_store.results.get(run_id, result.result_id) == result


def test_rows_that_could_not_be_stored_can_be_handed_in_again(any_store: Store, run_id: str) -> None:
    result = full_result()
    result.question.keywords = ["chemistry", "noble"]
    rows = rows_of(run_id, result)
    with pytest.raises(RuntimeError), any_store.writing() as connection:
        any_store.results.insert(connection, run_id, [rows])
        raise RuntimeError("The disk is full.")
    assert any_store.runs.get(run_id).done == 0
    with any_store.writing() as connection:
        any_store.results.insert(connection, run_id, [rows, rows])
    assert [row["keywords"] for row in any_store.results.rows(run_id)] == [["chemistry", "noble"]]
    assert any_store.runs.get(run_id).done == 1


def test_a_replaced_result_counts_once_and_with_its_new_verdict(any_store: Store, run_id: str) -> None:
    first, second = full_result(), full_result()
    first.verdict, second.verdict = "fail", "pass"
    any_store.results.save(run_id, [first])
    any_store.results.save(run_id, [second])
    run = any_store.runs.get(run_id)
    assert (run.done, run.passed, run.failed) == (1, 1, 0)


@settings(max_examples=40, deadline=None)
@given(
    text=any_text,
    extracted=st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.lists(any_text, max_size=3),
    trait=any_text.filter(bool),
    similarity=st.floats() | st.none(),
)
def test_whatever_models_say_comes_back_cleaned(
    kept_open: tuple[Store, str], text: str, extracted: Any, trait: str, similarity: float | None
) -> None:
    store, run_id = kept_open
    result = full_result(text=text)
    assert result.template is not None
    result.template.fields.append(FieldEvidence(name=trait, extracted=extracted, similarity=similarity))
    result.rubric.regex[trait] = True
    store.results.save(run_id, [result])
    assert store.results.all(run_id) == [VerificationResult.model_validate(clean(result.model_dump()))]
    assert clean(trait) in {row["name"] for row in stored_fields(store, run_id)}


def test_nul_and_surrogates_are_stored_on_every_database(any_store: Store, run_id: str) -> None:
    any_store.results.save(run_id, [full_result(text="a\0b\ud800", warnings=["\0"])])
    (loaded,) = any_store.results.all(run_id)
    assert (loaded.raw_llm_response, loaded.warnings) == ("a\ufffdb\ufffd", ["\ufffd"])


def test_results_come_in_the_order_of_the_benchmark(any_store: Store, run_id: str) -> None:
    keys = list(product(("q1", "q2", "q3"), ("lab/model-1", "lab/model-2"), ("lab/judge-1", "lab/judge-2"), (1, 2)))
    any_store.results.save(run_id, [plain_result(*key) for key in reversed(keys)])
    assert [tuple(result.key) for result in any_store.results.all(run_id)] == keys
    assert [row["question_id"] for row in any_store.results.rows(run_id)] == [key[0] for key in keys]


def test_pages_are_invisible(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.runs.store.results.PAGE", 3)
    run_id = store.runs.create(wanted(small_benchmark(10), small_config()))
    store.results.save(run_id, [plain_result(f"q{number}") for number in range(1, 11)])
    assert [result.question_id for result in store.results.iterate(run_id)] == [f"q{number}" for number in range(1, 11)]


def test_results_are_filtered_by_columns(any_store: Store, run_id: str) -> None:
    any_store.results.save(
        run_id,
        [plain_result("q1"), plain_result("q2", verdict="fail"), plain_result("q3", failure=failure_of("timeout"))],
    )
    assert [r.question_id for r in any_store.results.all(run_id, verdict="fail")] == ["q2"]
    assert [r.question_id for r in any_store.results.all(run_id, failure_category="timeout")] == ["q3"]
    assert [row["question_id"] for row in any_store.results.rows(run_id, question_id=["q1", "q3"])] == ["q1", "q3"]
    with pytest.raises(InputError, match="'colour'"):
        any_store.results.all(run_id, colour="red")


def test_rows_carry_what_charts_need(any_store: Store, run_id: str) -> None:
    result = full_result()
    any_store.results.save(run_id, [result])
    (row,) = any_store.results.rows(run_id)
    assert row == {
        "result_id": result.result_id,
        "question_id": "q1",
        "answering_model": "lab/model-1",
        "parsing_model": "lab/judge-1",
        "replicate": 1,
        "status": "completed",
        "verdict": "pass",
        "failure_category": None,
        "failure_stage": None,
        "granular": 0.5,
        "seconds": 1.5,
        "cost": 0.75,
        "answer_cost": 0.25,
        "input_tokens": 30,
        "output_tokens": 9,
        "timestamp": result.timestamp,
        "question": "Question q1?",
        "keywords": [],
        "answer_seconds": 0.0,
        "flagged": False,
        "unguarded": False,
    }


def test_fields_keep_null_apart_from_false(any_store: Store, run_id: str) -> None:
    any_store.results.save(run_id, [full_result()])
    assert {row["name"]: row["result"] for row in stored_fields(any_store, run_id)} == {"value": True, "unit": None}


def test_every_kind_of_trait_becomes_a_score(any_store: Store, run_id: str) -> None:
    any_store.results.save(run_id, [full_result()])
    scores = stored_scores(any_store, run_id)
    assert {(row["trait"], row["metric"]): (row["kind"], row["value"], row["label"]) for row in scores} == {
        ("Clarity", ""): ("score", 4.0, None),
        ("Polite", ""): ("binary", 1.0, None),
        ("Tone", ""): ("literal", 1.0, "dry"),
        ("Cites", ""): ("regex", 0.0, None),
        ("Organs", "precision"): ("metric", 0.5, None),
        ("Organs", "recall"): ("metric", 1.0, None),
        ("Organs", "f1"): ("metric", None, None),
        ("Depth", ""): ("error", None, None),
    }


def test_an_undefined_metric_has_no_value(any_store: Store, run_id: str) -> None:
    result = full_result()
    result.rubric.metrics["Organs"]["precision"] = math.nan
    any_store.results.save(run_id, [result])
    values = {row["metric"]: row["value"] for row in stored_scores(any_store, run_id) if row["trait"] == "Organs"}
    assert values["precision"] is None
    assert any_store.results.all(run_id)[0].rubric.metrics["Organs"] == {"recall": 1.0}


def test_the_run_counts_what_is_stored(any_store: Store, run_id: str) -> None:
    any_store.results.save(
        run_id,
        [plain_result("q1"), plain_result("q2", verdict="fail"), plain_result("q3", failure=failure_of("timeout"))],
    )
    run = any_store.runs.get(run_id)
    assert (run.done, run.passed, run.failed, run.not_evaluated, run.errors) == (3, 1, 1, 1, 1)


def test_writing_a_row_again_replaces_it_and_all_that_belongs_to_it(any_store: Store, run_id: str) -> None:
    any_store.results.save(run_id, [full_result("q1"), plain_result("q2", failure=failure_of("timeout"))])
    any_store.results.save(run_id, [plain_result("q1", verdict="fail"), full_result("q2")])
    run = any_store.runs.get(run_id)
    assert (run.done, run.passed, run.failed, run.not_evaluated, run.errors) == (2, 1, 1, 0, 0)
    assert {row["question_id"] for row in stored_fields(any_store, run_id) + stored_scores(any_store, run_id)} == {"q2"}
    with any_store.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM payload")).scalar() == 2


def test_the_last_of_equal_rows_in_one_batch_counts(any_store: Store, run_id: str) -> None:
    any_store.results.save(run_id, [plain_result("q1"), plain_result("q1", verdict="fail")])
    assert any_store.runs.get(run_id).done == 1
    assert any_store.results.all(run_id)[0].verdict == "fail"


def test_a_batch_is_stored_whole_or_not_at_all(any_store: Store, run_id: str) -> None:
    with pytest.raises(InputError, match="does not belong"):
        any_store.results.save(run_id, [plain_result("q1"), plain_result("stranger")])
    assert any_store.results.rows(run_id) == []
    any_store.results.save(run_id, [])
    assert any_store.runs.get(run_id).done == 0


def test_outcomes_tell_what_became_of_every_row(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(3), small_config()))
    store.results.save(
        run_id, [plain_result("q1"), plain_result("q2"), plain_result("q3", failure=failure_of("timeout"))]
    )
    passed = Outcome(0, "lab/model-1", "completed", "pass", None)
    failed = Outcome(0, "lab/model-1", "failed", "not_evaluated", "timeout")
    assert dict(store.results.outcome_counts(run_id)) == {passed: 2, failed: 1}
    assert [outcome._replace(position=0) for outcome in store.results.outcomes(run_id)] == [passed, passed, failed]


def test_an_unknown_result_is_named(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(), small_config()))
    with pytest.raises(InputError, match="'feed'"):
        store.results.get(run_id, "feed")


def test_a_payload_nobody_can_read_is_an_error_in_words(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(), small_config()))
    store.results.save(run_id, [plain_result("q1")])
    with store.writing() as connection:
        connection.execute(text("""UPDATE payload SET json = '{"future": 1}'"""))
    with pytest.raises(StoreError, match="cannot be read"):
        store.results.all(run_id)


def test_a_full_disk_undoes_the_batch_and_says_so(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(3), small_config()))
    store.results.save(run_id, [plain_result("q1")])
    fill_disk(store)
    with pytest.raises(StoreError, match="disk is full"):
        store.results.save(run_id, [plain_result("q2"), full_result("q3", text="x" * 1_000_000)])
    assert [row["question_id"] for row in store.results.rows(run_id)] == ["q1"]
    assert store.runs.get(run_id).done == 1


# Questions about many results


def test_failures_count_verdicts_by_question_and_model(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(3), small_config(2, 1, replicate_count=2)))
    any_store.results.save(
        run_id,
        [
            plain_result("q1", "lab/model-1", verdict="fail"),
            plain_result("q1", "lab/model-1", replicate=2),
            plain_result("q1", "lab/model-2"),
            plain_result("q2", "lab/model-1"),
            plain_result("q3", "lab/model-1", failure=failure_of("timeout")),
            plain_result("q3", "lab/model-2", verdict="not_evaluated"),
        ],
    )
    assert any_store.results.failures(run_id) == {"q1": {"lab/model-1": (1, 2), "lab/model-2": (0, 1)}}
