from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import CheckpointError
from karenina_core.files import (
    MAX_TEXT,
    json_bytes,
    read_bytes,
    read_json,
    read_json_file,
    write_atomic,
)


def code_of(data: bytes | str, **options: int) -> str:
    with pytest.raises(CheckpointError) as caught:
        read_json(data, **options)
    return caught.value.code


@pytest.mark.parametrize("data", [b"", b" \n ", ""])
def test_an_empty_file_is_refused(data: bytes | str) -> None:
    assert code_of(data) == "empty"


@pytest.mark.parametrize("data", [b'{"a": 1', b"{} x", b"[1,]", b"{'a': 1}"])
def test_broken_json_is_refused(data: bytes) -> None:
    assert code_of(data) == "json"


def test_ten_million_brackets_are_refused_without_parsing() -> None:
    assert code_of(b"[" * 10_000_000) == "too_complex"


def test_many_small_values_are_refused_without_parsing() -> None:
    assert code_of(b"[" + b"[]," * 6_600_000 + b"[]]") == "too_complex"


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(CheckpointError, match="nested deeper than 200") as caught:
        read_json(b"[" * 5_000 + b"]" * 5_000)
    assert caught.value.code == "json"


def test_a_file_above_the_limit_is_refused() -> None:
    assert code_of(b'"' + b"x" * 21_000_000 + b'"') == "too_large"
    assert code_of(b"[1, 2, 3]", limit=5) == "too_large"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 1_000_000])
def test_numbers_json_does_not_know_are_refused(number: str) -> None:
    assert code_of(f'{{"a": [{number}]}}') == "json"


@pytest.mark.parametrize("data", [b'"\\ud800"', '"\ud800"'])
def test_half_a_surrogate_pair_is_refused(data: bytes | str) -> None:
    assert code_of(data) == "json"


@pytest.mark.parametrize(
    ("encoding", "named"), [("latin-1", "Latin-1"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-32", "UTF-32")]
)
def test_another_encoding_is_refused_and_named(encoding: str, named: str) -> None:
    with pytest.raises(CheckpointError, match=named) as caught:
        read_json('{"name": "Größe"}'.encode(encoding))
    assert caught.value.code == "encoding"


def test_a_byte_order_mark_is_accepted() -> None:
    assert read_json('{"name": "Größe"}'.encode("utf-8-sig")) == {"name": "Größe"}


def test_a_zip_archive_is_refused() -> None:
    assert code_of(b"PK\x03\x04 and so on") == "zip"


def test_one_overlong_text_is_refused() -> None:
    assert code_of('{"a": ["' + "x" * (MAX_TEXT + 1) + '"]}') == "text_too_long"
    assert read_json('["' + "x" * MAX_TEXT + '"]') == ["x" * MAX_TEXT]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="No such file") as caught:
        read_json_file(tmp_path / "nothing.json")
    assert caught.value.code == "unreadable"


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b"[1, 2, 3]")
    with pytest.raises(CheckpointError, match="At most"):
        read_bytes(path, limit=5)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_what_is_written_is_read_back(value: object) -> None:
    assert read_json(json_bytes(value)) == value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"a": float("nan")}, "json"),
        ({"a": float("inf")}, "json"),
        ("\ud800", "json"),
        (object(), "json"),
        ("x" * (MAX_TEXT + 1), "text_too_long"),
        ({"a": [10**4_300]}, "json"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(value: object, code: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        json_bytes(value)
    assert caught.value.code == code


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"old")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"old")

    def disk_full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(CheckpointError, match="No space left") as caught:
        write_atomic(path, b"new")
    assert caught.value.code == "write"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_file_is_written_piece_by_piece(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.json", (piece for piece in (b"one ", b"two ", b"three")))
    assert (tmp_path / "a.json").read_bytes() == b"one two three"


def test_an_error_between_two_pieces_leaves_the_old_file(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise CheckpointError("There is no more.")

    write_atomic(tmp_path / "a.json", b"old")
    with pytest.raises(CheckpointError, match="no more"):
        write_atomic(tmp_path / "a.json", pieces())
    assert (tmp_path / "a.json").read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX systems")
def test_links_and_permissions_survive(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_too_large_to_be_read_back_is_not_written() -> None:
    with pytest.raises(CheckpointError) as caught:
        json_bytes(["x" * 100], limit=50)
    assert caught.value.code == "too_large"
