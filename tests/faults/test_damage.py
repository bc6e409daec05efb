"""Damaged files: noticed, named, left as they are, and what can still be read is saved."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from karenina_core.analysis import read_results, to_json
from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.cli.main import main
from karenina_core.errors import CheckpointError, StoreError
from karenina_core.runs import Store, rescue, wanted
from tests.faults.road import islands
from tests.runs.fakes import full_result, plain_result, small_benchmark, small_config

PAGE = 4096
RESULTS = 200


@pytest.fixture
def database(path: Path) -> Path:
    """A closed database with two hundred results."""
    with Store.open(path) as store:
        run_id = store.create_run(wanted(small_benchmark(RESULTS), small_config()), "Two hundred")
        numbers = range(1, RESULTS + 1)
        store.write_results(run_id, [full_result(f"q{number}", "It is 42. " * 100) for number in numbers])
    return path


def overwrite(path: Path, first: int, pages: int, content: bytes = b"\xa5") -> bytes:
    """Overwrite pages of a file, and return all its bytes."""
    data = bytearray(path.read_bytes())
    data[first * PAGE : (first + pages) * PAGE] = content * (pages * PAGE // len(content))
    path.write_bytes(data)
    return bytes(data)


def overwrite_results(path: Path, pages: int) -> bytes:
    """Overwrite pages that hold evidence of results, in the middle of the file."""
    data = path.read_bytes()
    return overwrite(path, data.index(b"It is 42. It is 42.", len(data) // 2) // PAGE, pages)


def foreign_text(path: Path) -> None:
    """Put bytes that are no UTF-8 where text belongs, leaving the file a valid database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE payload SET json = CAST(x'7b22ff' AS TEXT) WHERE id = 7")
        connection.commit()


def test_overwritten_pages_are_noticed_on_opening_and_nothing_is_changed(database: Path) -> None:
    before = overwrite(database, 10, 20)
    with pytest.raises(StoreError, match="damaged or not a database") as refused:
        Store.open(database)
    assert str(database) in refused.value.what
    assert "left as it is" in refused.value.next
    assert database.read_bytes() == before


def test_any_damage_is_an_error_in_words_never_a_crash(database: Path) -> None:
    chance, whole = random.Random(13), database.read_bytes()
    for _ in range(15):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 30)):
            start = chance.randrange(len(data))
            data[start : start + 200] = chance.randbytes(len(data[start : start + 200]))
        database.write_bytes(data)
        try:
            with Store.open(database) as store:
                for run in store.runs():
                    store.results(run.id)
        except StoreError as error:
            assert error.next or error.why
        rescue(database)


def test_damage_that_opening_does_not_see_is_named_when_it_is_met(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.runs.store.engine.CHECKED_BYTES", 0)
    overwrite_results(database, 30)
    with Store.open(database) as store:
        (run,) = store.runs()
        with pytest.raises(StoreError, match="damaged"):
            store.results(run.id)


def test_text_that_is_no_text_is_named(database: Path) -> None:
    foreign_text(database)
    with Store.open(database) as store, pytest.raises(StoreError, match=r"damaged|cannot be read"):
        store.results(store.runs()[0].id)


def test_what_can_still_be_read_is_saved(database: Path) -> None:
    overwrite_results(database, 12)
    before = database.read_bytes()
    saved = rescue(database)
    results = [result for run in saved.runs for result in run.results]
    assert "Two hundred" in {run.name for run in saved.runs}
    assert RESULTS * 0.7 < len(results) < RESULTS
    assert saved.unreadable >= 1
    whole = {f"q{number}": full_result(f"q{number}", "It is 42. " * 100) for number in range(1, RESULTS + 1)}
    for result in results:
        assert result.model_copy(update={"timestamp": ""}) == whole[result.question_id].model_copy(
            update={"timestamp": ""}
        )
    assert len(read_results(to_json(results))) == len(results)
    assert database.read_bytes() == before


def test_what_a_cut_off_file_still_holds_is_saved(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(StoreError, match="damaged or not a database"):
        Store.open(database)
    results = [result for run in rescue(database).runs for result in run.results]
    assert RESULTS * 0.4 < len(results) < RESULTS
    assert {result.answer.text for result in results if result.answer} == {"It is 42. " * 100}


def test_the_command_line_saves_what_can_be_read(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    foreign_text(database)
    out = database.with_name("saved.json")
    assert main(["rescue", str(database), "--out", str(out)]) == 1
    assert "199 results written" in capsys.readouterr().out
    assert len(read_results(out.read_bytes())) == RESULTS - 1


def test_the_command_line_says_when_nothing_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "saved.json"
    assert main(["rescue", str(tmp_path / "nowhere.db"), "--out", str(out)]) == 2
    assert "No result can be read" in capsys.readouterr().err
    assert not out.exists()


def test_one_unreadable_result_costs_one_result(database: Path) -> None:
    foreign_text(database)
    saved = rescue(database)
    assert (len(saved.runs[0].results), saved.unreadable) == (RESULTS - 1, 1)


def test_an_intact_file_is_saved_whole(database: Path) -> None:
    saved = rescue(database)
    assert (len(saved.runs[0].results), saved.unreadable) == (RESULTS, 0)


@pytest.mark.parametrize("content", [b"", b"my notes\n" * 1000, b"SQLite format 3\0" + b"\xff" * 9000])
def test_nothing_is_saved_from_what_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(content)
    assert rescue(path).runs == ()
    assert path.read_bytes() == content


def test_a_database_that_cannot_be_decoded_at_all_keeps_its_file(database: Path) -> None:
    before = overwrite(database, 0, 1, b"\xff")
    with pytest.raises(StoreError):
        Store.open(database)
    assert rescue(database).runs == ()
    assert database.read_bytes() == before


def test_what_belongs_to_no_run_any_more_is_still_saved(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM run")
        connection.commit()
    saved = rescue(database)
    assert sum(len(run.results) for run in saved.runs) == RESULTS
    assert saved.unreadable == 0


@pytest.mark.parametrize("damage", ["cut", "zeros", "not UTF-8", "empty"])
def test_a_damaged_checkpoint_is_named_and_kept(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "islands.jsonld"
    islands(20).save(path)
    data = path.read_bytes()
    middle = len(data) // 2
    content = {
        "cut": data[:middle],
        "zeros": data[:middle] + b"\0" * 4096,
        "not UTF-8": data[:middle] + b"\xff\xfe" + data[middle:],
        "empty": b"",
    }[damage]
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as refused:
        load_checkpoint(path)
    assert refused.value.what
    assert path.read_bytes() == content
    with pytest.raises(CheckpointError):
        Benchmark.load(path)


def test_a_rescued_result_without_a_row_is_grouped_by_itself(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM result WHERE id = 3")
        connection.commit()
    assert sum(len(run.results) for run in rescue(database).runs) == RESULTS


def test_plain_results_are_saved_too(path: Path) -> None:
    with Store.open(path) as store:
        run_id = store.create_run(wanted(small_benchmark(1), small_config()))
        store.write_results(run_id, [plain_result("q1")])
    assert rescue(path).runs[0].results[0].verdict == "pass"
