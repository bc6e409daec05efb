"""Damaged files: noticed, named and left as they are."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.errors import CheckpointError, StoreError
from karenina_core.runs import Store, wanted
from tests.faults.road import islands
from tests.runs.fakes import full_result, small_benchmark, small_config

PAGE = 4096
RESULTS = 200


@pytest.fixture
def database(path: Path) -> Path:
    """A closed database with two hundred results."""
    with Store.open(path) as store:
        run_id = store.runs.create(wanted(small_benchmark(RESULTS), small_config()), "Two hundred")
        numbers = range(1, RESULTS + 1)
        store.results.save(run_id, [full_result(f"q{number}", "It is 42. " * 100) for number in numbers])
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
                for run in store.runs.all():
                    store.results.all(run.id)
        except StoreError as error:
            assert error.next or error.why


def test_damage_that_opening_does_not_see_is_named_when_it_is_met(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.runs.store.database.CHECKED_BYTES", 0)
    overwrite_results(database, 30)
    with Store.open(database) as store:
        (run,) = store.runs.all()
        with pytest.raises(StoreError, match="damaged"):
            store.results.all(run.id)


def test_text_that_is_no_text_is_named(database: Path) -> None:
    foreign_text(database)
    with Store.open(database) as store, pytest.raises(StoreError, match=r"damaged|cannot be read"):
        store.results.all(store.runs.all()[0].id)


def test_a_cut_off_file_is_named(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(StoreError, match="damaged or not a database"):
        Store.open(database)


def test_a_database_that_cannot_be_decoded_at_all_keeps_its_file(database: Path) -> None:
    before = overwrite(database, 0, 1, b"\xff")
    with pytest.raises(StoreError):
        Store.open(database)
    assert database.read_bytes() == before


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
