"""One door: what a file is follows from its content first, from its name second."""

from __future__ import annotations

import json

import pytest

from karenina_core.benchmark import Benchmark, Opened, open_file, read_table
from karenina_core.errors import CheckpointError
from tests.benchmark.tables.files import HEADER, csv_file, workbook, zipped
from tests.benchmark.tables.test_records import parquet_file

CHECKPOINT = Benchmark.create("B").to_json().encode()
CSV = csv_file("What?,BCL2")


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("a.jsonld", CHECKPOINT, "checkpoint"),
        ("a.json", CHECKPOINT, "checkpoint"),
        ("a.txt.jsonld", CHECKPOINT, "checkpoint"),
        ("a.json", b'{"version": "2.0", "checkpoint": {}}', "checkpoint"),
        ("a.csv", CSV, "csv"),
        ("a.tsv", b"Question\tAnswer\na\tb", "csv"),
        ("a.txt", b"{weird},header\na,b", "csv"),
        ("a", CSV, "csv"),
        ("a.xlsx", workbook([HEADER]), "excel"),
        ("a.csv", workbook([HEADER]), "excel"),
        ("a.json", b'[{"question": "a"}]', "json"),
        ("a", b'[{"question": "a"}]', "json"),
        ("a.jsonl", b'{"question": "a"}', "jsonl"),
        ("a.parquet", parquet_file(question=["a"]), "parquet"),
        ("a.bin", parquet_file(question=["a"]), "parquet"),
        ("a.json", b'{"format": "karenina-results-1", "results": []}', "results"),
        ("a.zip", zipped({"b.csv": CSV}), "csv"),
        ("a.zip", zipped({"x/b.jsonld": CHECKPOINT, "__MACOSX/x/b.jsonld": b"", "x/.hidden.csv": b""}), "checkpoint"),
        ("a.zip", zipped({"b.xlsx": workbook([HEADER]), "read me.md": b""}), "excel"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_format_is_found(name: str, data: bytes, format: str) -> None:
    opened = open_file(data, name)
    assert isinstance(opened, Opened)
    assert opened.format == format


def test_an_archive_of_several_tables_offers_a_choice() -> None:
    data = zipped({"a.csv": CSV, "b.json": CHECKPOINT, "c.png": b""})
    assert open_file(data, "x.zip") == ["a.csv", "b.json"]
    opened = open_file(data, "x.zip", "a.csv")
    assert isinstance(opened, Opened)
    assert read_table(opened).rows[0].cells == ("What?", "BCL2")


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.csv", b"", "empty"),
        ("a.csv", b" \r\n", "empty"),
        ("a.json", b"", "empty"),
        ("a.json", b"{", "json"),
        ("a.json", '{"a": "é"}'.encode("latin-1"), "encoding"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500, "xls"),
        ("a.zip", zipped({"a.png": b""}), "zip"),
        ("a.zip", zipped({"inner.zip": zipped({"a.csv": CSV})}), "zip"),
        ("a.ods", zipped({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b""}), "zip"),
        ("a.xlsb", zipped({"[Content_Types].xml": b"<a/>", "xl/workbook.bin": b""}), "zip"),
        ("a.csv", b"x" * (20 * 2**20 + 1), "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_cannot_be_read_is_refused_with_its_reason(name: str, data: bytes, code: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        open_file(data, name)
    assert caught.value.code == code
    assert caught.value.what


def test_exported_results_with_a_very_long_prompt_are_read() -> None:
    document = {"format": "karenina-results-1", "results": [], "note": "x" * 300_000}
    opened = open_file(json.dumps(document).encode(), "r.json")
    assert isinstance(opened, Opened)
    assert opened.format == "results"


def test_a_benchmark_is_no_table() -> None:
    opened = open_file(CHECKPOINT, "a.jsonld")
    assert isinstance(opened, Opened)
    with pytest.raises(CheckpointError, match="no table"):
        read_table(opened)
