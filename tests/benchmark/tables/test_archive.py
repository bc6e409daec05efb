"""The one reader of zip archives: what it gives, and what it refuses."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest

from karenina_core.benchmark.tables import archive as archives
from karenina_core.benchmark.tables.archive import Archive
from karenina_core.errors import CheckpointError
from tests.benchmark.tables.files import zipped


def refused(data: bytes) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        Archive(data)
    return caught.value


def with_member(info: zipfile.ZipInfo, content: bytes = b"x") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(info, content)
    return made.getvalue()


def test_its_files_are_listed_and_read() -> None:
    archive = Archive(zipped({"a.csv": b"1", "folder/": b"", "folder/b.csv": b"2"}))
    assert archive.names == ("a.csv", "folder/b.csv")
    assert archive.read("folder/b.csv") == b"2"
    assert "a.csv" in archive and "c.csv" not in archive


def test_a_file_it_does_not_hold_is_named() -> None:
    with pytest.raises(CheckpointError, match=r"'c\.csv'"):
        Archive(zipped({"a.csv": b"1"})).read("c.csv")


@pytest.mark.parametrize(
    "name",
    ["../../evil", "a/../../b", "/etc/passwd", "\\evil", "..\\evil", "C:\\x", "c:x", "C:/x", "a\nb", "\x7f"],
    ids=ascii,
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    assert refused(zipped({name: b"x"})).code == "zip_path"


@pytest.mark.parametrize("name", ["a..b", "..a/b", "a/...", "é.csv", "a b/c"])
def test_an_odd_but_plain_name_is_read(name: str) -> None:
    assert Archive(zipped({name: b"x"})).read(name) == b"x"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_links_and_devices_are_refused(kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    assert refused(with_member(info, b"/etc/passwd")).code == "zip_path"


def test_many_files_are_refused_and_a_few_hundred_are_not() -> None:
    assert refused(zipped({f"f{number}": b"" for number in range(600)})).code == "zip_files"
    assert len(Archive(zipped({f"f{number}": b"" for number in range(400)})).names) == 400


def test_a_directory_of_very_many_entries_is_refused_before_it_is_read() -> None:
    data = zipped({"a": b"x"})
    assert refused(data + b"PK\x01\x02" * 20_000).code == "zip_files"


def test_a_bomb_is_refused() -> None:
    assert refused(zipped({"zeros": b"\0" * 150_000_000})).code == "zip_bomb"


def test_many_members_that_are_a_bomb_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 10_000)
    assert refused(zipped({f"f{number}": b"x" * 400 for number in range(30)})).code == "zip_bomb"
    assert Archive(zipped({f"f{number}": b"x" * 300 for number in range(30)})).names


@pytest.mark.parametrize("told", [10, 2**31])
def test_a_header_that_lies_about_the_size_is_not_believed(told: int) -> None:
    data = bytearray(zipped({"zeros": b"\0" * 50_000_000}))
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + place
        data[at : at + 4] = struct.pack("<I", told)
    assert refused(bytes(data)).code in ("zip_bomb", "zip")


def test_a_locked_archive_is_refused_in_words() -> None:
    data = bytearray(zipped({"a": b"x"}))
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    error = refused(bytes(data))
    assert (error.code, "password" in error.why) == ("zip", True)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(method: int) -> None:
    assert refused(zipped({"a": b"x" * 100}, method)).code == "zip"


@pytest.mark.parametrize("cut", [4, 10, 40, 80])
def test_a_damaged_archive_is_refused(cut: int) -> None:
    assert refused(zipped({"a.csv": b"some content" * 9})[:-cut]).code == "zip"


def test_a_changed_byte_is_noticed() -> None:
    data = bytearray(zipped({"a.csv": b"some content"}, zipfile.ZIP_STORED))
    data[data.index(b"some")] ^= 1
    assert refused(bytes(data)).code == "zip"


def test_two_files_of_one_name_are_refused() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a", b"1")
        archive.writestr("a", b"2")
    assert refused(made.getvalue()).code == "zip"


def test_something_else_is_no_archive() -> None:
    assert refused(b"question,answer").code == "zip"
    assert not archives.is_archive(b"question,answer")
