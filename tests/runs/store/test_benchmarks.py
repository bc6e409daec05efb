"""Stored benchmarks, and the earlier versions of their questions."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.runs import BenchmarkChangedError, Store, content_of, question_differences, restore_version
from karenina_core.runs.store import benchmarks
from karenina_core.schemas.entities.question import question_id
from tests.runs.fakes import small_benchmark


def test_a_benchmark_comes_back_as_it_was_saved(any_store: Store) -> None:
    benchmark = small_benchmark()
    benchmark_id = any_store.benchmarks.save(benchmark)
    assert any_store.benchmarks.load(benchmark_id).to_json() == benchmark.to_json()


def test_the_list_knows_counts_without_loading_questions(store: Store) -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q2")
    store.benchmarks.save(benchmark)
    (row,) = store.benchmarks.all()
    assert (row.name, row.question_count, row.finished_count, row.revision) == ("Elements", 3, 2, 1)


def test_saving_under_an_id_replaces(store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark(1))
    assert store.benchmarks.save(small_benchmark(2), benchmark_id) == benchmark_id
    assert [row.question_count for row in store.benchmarks.all()] == [2]


def test_two_editors_notice_each_other(store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark())
    store.benchmarks.save(small_benchmark(), benchmark_id, expected_revision=1)
    with pytest.raises(BenchmarkChangedError, match="changed elsewhere") as caught:
        store.benchmarks.save(small_benchmark(5), benchmark_id, expected_revision=1)
    assert (caught.value.benchmark_id, caught.value.expected, caught.value.revision) == (benchmark_id, 1, 2)
    assert store.benchmarks.row(benchmark_id).question_count == 3


def test_two_editors_see_by_question_what_each_of_them_changed(store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark(4))
    base, mine, theirs = (store.benchmarks.load(benchmark_id) for _ in range(3))
    mine.edit_question("q1", keep_id=True, raw_answer="Mine", keywords=["new"])
    mine.edit_question("q2", keep_id=True, raw_answer="Mine")
    theirs.edit_question("q1", keep_id=True, raw_answer="Theirs")
    theirs.remove_question("q3")
    added = theirs.add_question("What is new?", "This")
    store.benchmarks.save(theirs, benchmark_id, expected_revision=1)
    stored = store.benchmarks.load(benchmark_id)
    about = [(item.question_id, item.changed) for item in question_differences(mine, stored)]
    assert about == [("q1", ("raw_answer", "keywords")), ("q2", ("raw_answer",)), (added, ()), ("q3", ())]
    first, _, new, gone = question_differences(mine, stored)
    assert first.before and first.after
    assert (first.before["raw_answer"], first.after["raw_answer"]) == ("Mine", "Theirs")
    assert (new.before, gone.after) == (None, None)
    both = [{item.question_id for item in question_differences(base, one)} for one in (mine, stored)]
    assert both[0] & both[1] == {"q1"}
    assert question_differences(stored, stored) == []


def test_deleting_can_be_undone(any_store: Store) -> None:
    benchmark_id = any_store.benchmarks.save(small_benchmark())
    any_store.benchmarks.delete(benchmark_id)
    assert any_store.benchmarks.all() == []
    assert [row.id for row in any_store.benchmarks.all(deleted=True)] == [benchmark_id]
    any_store.benchmarks.restore(benchmark_id)
    assert [row.id for row in any_store.benchmarks.all()] == [benchmark_id]


def test_an_unknown_benchmark_is_named(store: Store) -> None:
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.load("nowhere")
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.delete("nowhere")
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.save(small_benchmark(), "nowhere")
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.row("nowhere")


# Earlier versions


@pytest.fixture
def stored(any_store: Store) -> str:
    return any_store.benchmarks.save(small_benchmark(3))


def changed(store: Store, stored: str, name: str, author: str = "", /, **fields: object) -> Benchmark:
    benchmark = store.benchmarks.load(stored)
    benchmark.edit_question(name, **fields)
    store.benchmarks.save(benchmark, stored, author=author)
    return benchmark


def test_a_save_keeps_what_it_replaced(any_store: Store, stored: str) -> None:
    before = any_store.benchmarks.load(stored).get_question("q1")
    changed(any_store, stored, "q1", "ann@example.org", raw_answer="Something else", keywords=["new"])
    (version,) = any_store.benchmarks.versions(stored, "q1")
    assert (version.author, version.changed) == ("ann@example.org", ("raw_answer", "keywords"))
    assert version.content == content_of(before)
    assert version.saved.endswith("+00:00")
    assert any_store.benchmarks.versions(stored, "q2") == []
    assert any_store.benchmarks.versions(any_store.benchmarks.save(small_benchmark(3)), "q1") == []


def test_the_finished_flag_is_part_of_the_history(any_store: Store, stored: str) -> None:
    changed(any_store, stored, "q2", finished=False)
    (version,) = any_store.benchmarks.versions(stored, "q2")
    assert version.changed == ("finished",)
    assert version.content["finished"] is True


def test_the_latest_version_comes_first(any_store: Store, stored: str) -> None:
    for answer in ("one", "two", "three"):
        changed(any_store, stored, "q1", raw_answer=answer)
    answers = [version.content["raw_answer"] for version in any_store.benchmarks.versions(stored, "q1")]
    assert answers[:2] == ["two", "one"]


def test_the_history_follows_a_question_whose_id_changes(any_store: Store, stored: str) -> None:
    changed(any_store, stored, "q1", raw_answer="one")
    changed(any_store, stored, "q1", question="A new text?")
    versions = any_store.benchmarks.versions(stored, question_id("A new text?"))
    assert [version.changed for version in versions] == [("question",), ("raw_answer",)]
    assert [version.content["id"] for version in versions] == ["q1", "q1"]
    assert any_store.benchmarks.versions(stored, "q1") == []


def test_an_id_that_comes_back_brings_its_history_along(any_store: Store, stored: str) -> None:
    benchmark = changed(any_store, stored, "q1", question="A new text?")
    benchmark.give_id(question_id("A new text?"), "q1")
    any_store.benchmarks.save(benchmark, stored)
    assert [version.changed for version in any_store.benchmarks.versions(stored, "q1")] == [("question",)]


def test_a_renaming_counts_once_although_the_same_object_is_saved_again(any_store: Store, stored: str) -> None:
    benchmark = changed(any_store, stored, "q1", question="A new text?")
    benchmark.add_question("Another one", "x", question_id="q1")
    any_store.benchmarks.save(benchmark, stored)
    benchmark.edit_question("q1", raw_answer="y")
    any_store.benchmarks.save(benchmark, stored)
    assert [version.changed for version in any_store.benchmarks.versions(stored, "q1")] == [("raw_answer",)]
    assert len(any_store.benchmarks.versions(stored, question_id("A new text?"))) == 1


def test_deleting_keeps_the_question_and_the_history_of_the_others(any_store: Store, stored: str) -> None:
    changed(any_store, stored, "q2", raw_answer="one")
    benchmark = any_store.benchmarks.load(stored)
    benchmark.remove_question("q1")
    any_store.benchmarks.save(benchmark, stored)
    (deleted,) = any_store.benchmarks.deleted_questions(stored, benchmark.get_question_ids())
    assert (deleted.question_id, deleted.changed) == ("q1", ("deleted",))
    assert len(any_store.benchmarks.versions(stored, "q2")) == 1


def test_a_question_that_came_back_is_not_listed_as_deleted(any_store: Store, stored: str) -> None:
    benchmark = any_store.benchmarks.load(stored)
    removed = benchmark.take_question("q1")
    any_store.benchmarks.save(benchmark, stored)
    benchmark.put_back(removed)
    any_store.benchmarks.save(benchmark, stored)
    assert any_store.benchmarks.deleted_questions(stored, benchmark.get_question_ids()) == []


def test_replacing_all_questions_keeps_their_histories(any_store: Store, stored: str) -> None:
    changed(any_store, stored, "q1", raw_answer="one")
    any_store.benchmarks.save(small_benchmark(1), stored)
    assert [v.changed for v in any_store.benchmarks.versions(stored, "q1")][-1] == ("raw_answer",)
    assert len(any_store.benchmarks.deleted_questions(stored, ["q1"])) == 2


def test_the_oldest_versions_go_first(any_store: Store, stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "KEPT_VERSIONS", 3)
    for number in range(5):
        changed(any_store, stored, "q1", raw_answer=f"answer {number}")
    changed(any_store, stored, "q2", raw_answer="other")
    answers = [version.content["raw_answer"] for version in any_store.benchmarks.versions(stored, "q1")]
    assert answers == ["answer 3", "answer 2", "answer 1"]
    assert len(any_store.benchmarks.versions(stored, "q2")) == 1


def test_texts_no_database_takes_are_kept_legible(any_store: Store, stored: str) -> None:
    changed(any_store, stored, "q1", "a\0b", raw_answer="one")
    (version,) = any_store.benchmarks.versions(stored, "q1")
    assert version.author == "a\ufffdb"


def test_a_save_over_somebody_else_s_keeps_what_was_stored_then(any_store: Store, stored: str) -> None:
    mine = any_store.benchmarks.load(stored)
    changed(any_store, stored, "q1", "ann", raw_answer="hers")
    mine.edit_question("q1", raw_answer="mine")
    any_store.benchmarks.save(mine, stored, author="bob")
    latest, _ = any_store.benchmarks.versions(stored, "q1")
    assert (latest.author, latest.content["raw_answer"]) == ("bob", "hers")


def test_a_version_brings_back_everything(any_store: Store, stored: str) -> None:
    before = content_of(any_store.benchmarks.load(stored).get_question("q1"))
    changed(any_store, stored, "q1", question="New?", keywords=["a"], author={"name": "A"}, answer_template=None)
    (version,) = any_store.benchmarks.versions(stored, question_id("New?"))
    benchmark = any_store.benchmarks.load(stored)
    assert restore_version(benchmark, question_id("New?"), version.content) == "q1"
    assert content_of(benchmark.get_question("q1")) == before
    assert benchmark.get_question_ids() == ["q1", "q2", "q3"]


def test_a_deleted_question_comes_back_from_its_last_version(any_store: Store, stored: str) -> None:
    benchmark = any_store.benchmarks.load(stored)
    benchmark.mark_unfinished("q2")
    before = content_of(benchmark.get_question("q2"))
    any_store.benchmarks.save(benchmark, stored)
    benchmark.remove_question("q2")
    any_store.benchmarks.save(benchmark, stored)
    (deleted,) = any_store.benchmarks.deleted_questions(stored, benchmark.get_question_ids())
    assert restore_version(benchmark, "q2", deleted.content) == "q2"
    assert content_of(benchmark.get_question("q2")) == before


def test_a_version_whose_id_was_given_away_says_so(any_store: Store, stored: str) -> None:
    changed(any_store, stored, "q1", question="New?")
    benchmark = any_store.benchmarks.load(stored)
    benchmark.add_question("Other", "x", question_id="q1")
    (version,) = any_store.benchmarks.versions(stored, question_id("New?"))
    with pytest.raises(InputError, match="taken by another"):
        restore_version(benchmark, question_id("New?"), version.content)
