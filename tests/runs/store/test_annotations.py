from __future__ import annotations

from datetime import timedelta

import pytest

from karenina_core.errors import InputError
from karenina_core.runs import Store, wanted
from karenina_core.schemas import Annotation
from tests.runs.fakes import plain_result, small_benchmark, small_config


@pytest.fixture
def run_id(any_store: Store) -> str:
    run_id = any_store.runs.create(wanted(small_benchmark(), small_config()))
    any_store.results.save(run_id, [plain_result("q1"), plain_result("q2")])
    return run_id


def results(store: Store, run_id: str) -> list[str]:
    return [row["result_id"] for row in store.results.rows(run_id)]


def review(store: Store, run_id: str, **parts: object) -> Annotation:
    given = {"run_id": run_id, "result_id": results(store, run_id)[0], "agrees": False}
    return Annotation.model_validate(given | parts)


def test_a_review_reads_back_equal(any_store: Store, run_id: str) -> None:
    written = review(any_store, run_id, cause="judge_misread", field="value", note="It says Au.", author="ann@lab.org")
    any_store.annotations.add(written)
    assert any_store.annotations.all(run_id) == [written]
    assert any_store.annotations.all(run_id, written.result_id) == [written]
    assert any_store.annotations.all(run_id, results(any_store, run_id)[1]) == []


def test_a_review_changes_no_result(any_store: Store, run_id: str) -> None:
    before = any_store.results.all(run_id)
    any_store.annotations.add(review(any_store, run_id))
    assert any_store.results.all(run_id) == before


def test_what_is_taken_back_stays_in_the_history(any_store: Store, run_id: str) -> None:
    first, second = review(any_store, run_id), review(any_store, run_id, agrees=True)
    for one in (first, second):
        any_store.annotations.add(one)
    any_store.annotations.undo(first.id)
    assert [one.id for one in any_store.annotations.all(run_id)] == [second.id]
    assert [one.id for one in any_store.annotations.all(run_id, undone=True)] == [first.id]
    assert {one.id for one in any_store.annotations.all(run_id, undone=None)} == {first.id, second.id}
    with pytest.raises(InputError, match="taken back before"):
        any_store.annotations.undo(first.id)


def test_reviews_written_in_several_zones_come_in_their_true_order(any_store: Store, run_id: str) -> None:
    early = review(any_store, run_id, at="2026-03-01T23:30:00+09:00", note="14:30 UTC")
    late = review(any_store, run_id, at="2026-03-01T16:00:00+01:00", note="15:00 UTC")
    for one in (late, early):
        any_store.annotations.add(one)
    assert [one.note for one in any_store.annotations.all(run_id)] == ["14:30 UTC", "15:00 UTC"]
    assert {one.at.utcoffset() for one in any_store.annotations.all(run_id)} == {timedelta(0)}


def test_a_review_of_nothing_is_refused(any_store: Store, run_id: str) -> None:
    with pytest.raises(InputError, match="has no result"):
        any_store.annotations.add(review(any_store, run_id, result_id="0" * 16))


def test_a_text_that_no_database_holds_is_cleaned(any_store: Store, run_id: str) -> None:
    any_store.annotations.add(review(any_store, run_id, note="a\0b"))
    (stored,) = any_store.annotations.all(run_id)
    assert stored.note == "a�b"
