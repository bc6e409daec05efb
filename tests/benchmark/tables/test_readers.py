"""Files of text, lists of objects, and how the kind of a file is determined."""

from __future__ import annotations

import datetime
import decimal
import io
import json
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from karenina_core.benchmark import Benchmark, Opened, TableError, open_file, read_table
from karenina_core.benchmark.tables.readers import decode, find_delimiter, find_list, read_delimited
from karenina_core.errors import CheckpointError
from tests.benchmark.tables.files import HEADER, csv_file, parquet_file, read, workbook, zipped

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


TEXT = "Frage;Antwort;Größe\nWas?;Ja – „so“;1,5\nWie?;Nein;2,5\n"


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "Read as UTF-8."),
        ("utf-8-sig", "Read as UTF-8."),
        ("utf-16", "Read as UTF-16."),
        ("utf-16-le", "Read as UTF-16."),
        ("utf-16-be", "Read as UTF-16."),
        ("utf-32", "Read as UTF-32."),
        ("cp1252", "The file is not UTF-8; it is read as Windows-1252"),
    ],
)
def test_the_encoding_is_found_and_said_aloud(encoding: str, said: str) -> None:
    table = read_delimited(TEXT.encode(encoding))
    assert table.columns == ("Frage", "Antwort", "Größe")
    assert table.rows[0].cells == ("Was?", "Ja – „so“", "1,5")
    assert table.notes[0].startswith(said)


def test_an_encoding_can_be_chosen() -> None:
    data = "Вопрос,Ответ\nЧто?,Да".encode("cp1251")
    assert read_delimited(data, encoding="cp1251").columns == ("Вопрос", "Ответ")
    with pytest.raises(TableError, match="not UTF-8") as caught:
        read_delimited(data, encoding="utf-8")
    assert caught.value.code == "encoding"


def test_utf_16_without_a_mark_can_be_chosen() -> None:
    assert decode("é,ü".encode("utf-16-be"), "utf-16")[0] == "é,ü"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(TableError) as caught:
        read_delimited(b"\0\0\0\0abc\0\0\0")
    assert caught.value.code == "binary"


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(sign: str) -> None:
    lines = [["Question", "Answer", "Notes"], ["What, and why?", "a; b", ""], ["How | when?", "c", "d"]]
    text = "\n".join(sign.join(f'"{cell}"' if cell else "" for cell in line) for line in lines)
    assert find_delimiter(text) == sign
    assert read_delimited(text.encode()).rows[0].cells[:2] == ("What, and why?", "a; b")


def test_the_hint_of_a_spreadsheet_is_taken_and_counted() -> None:
    table = read_delimited(b"sep=;\r\nQuestion;Answer\r\na,b;c\r\n")
    assert table.columns == ("Question", "Answer")
    assert (table.rows[0].number, table.rows[0].cells) == (3, ("a,b", "c"))


def test_cells_may_hold_line_breaks_quotes_and_delimiters() -> None:
    table = read(b'Question,Answer\r\n"a\r\nb, ""c""",d\r\ne,f\r\n', "t.csv")
    assert [(row.number, row.cells) for row in table.rows] == [(2, ('a\r\nb, "c"', "d")), (3, ("e", "f"))]


def test_an_open_quotation_is_told_with_its_row() -> None:
    with pytest.raises(TableError, match=r"^Row 3: ") as caught:
        read(b'Question,Answer\na,b\n"c,d\ne,f\n', "t.csv")
    assert (caught.value.code, caught.value.row) == ("quotes", 3)


def test_quotation_marks_in_a_tab_table_that_do_not_pair_are_text() -> None:
    table = read(b'Question\tAnswer\n"Now" or never?\t5" pipe\n', "t.tsv")
    assert table.rows[0].cells == ('"Now" or never?', '5" pipe')
    assert "Quotation marks are read as part of the text." in table.notes


def test_blank_rows_are_counted_and_row_numbers_stay() -> None:
    table = read(b"Question,Answer\na,b\n,\n\nc,d\n", "t.csv")
    assert [row.number for row in table.rows] == [2, 5]
    assert "2 blank rows were passed over." in table.notes


def test_a_title_above_the_table_is_passed_over_and_said() -> None:
    table = read(b"My questions,,\n,,\nQuestion,Answer,Notes\na,b,c\n", "t.csv")
    assert table.columns == ("Question", "Answer", "Notes")
    assert "Column names are taken from row 3." in table.notes


def test_the_header_can_be_chosen() -> None:
    assert read(b"x,y\nQuestion,Answer\na,b\n", "t.csv", header_row=2).columns == ("Question", "Answer")
    with pytest.raises(TableError, match="no column names"):
        read(b"x,y\n\na,b\n", "t.csv", header_row=9)


def test_repeated_and_missing_names_are_made_different() -> None:
    table = read(b"Answer,Answer,,Question\n1,2,3,4\n", "t.csv")
    assert table.columns == ("Answer", "Answer (2)", "Column 3", "Question")


def test_cells_beyond_the_header_are_kept_and_marked() -> None:
    table = read(b"Question,Answer\na,b\nc,d,e\n", "t.csv")
    assert table.columns == ("Question", "Answer", "Column 3")
    assert table.rows[1].marks[2].kind == "extra"


def test_a_cell_of_many_characters_is_read() -> None:
    assert len(read(b"Question,Answer\na," + b"x" * 300_000, "t.csv").rows[0].cells[1]) == 300_000


@pytest.mark.parametrize("data", [b",".join([b"c"] * 300) + b"\na", b"a,b\n" + b"c,d\n" * 100_001])
def test_too_many_columns_or_rows_are_refused(data: bytes) -> None:
    with pytest.raises(TableError) as caught:
        read(data, "t.csv")
    assert caught.value.code in ("columns", "rows")


ROWS = [{"question": "What?", "answer": "BCL2"}, {"question": "Why?", "keywords": ["a", "b"]}]


def test_a_list_of_objects_is_a_table_of_all_their_names() -> None:
    table = read(json.dumps(ROWS).encode(), "t.json")
    assert table.columns == ("question", "answer", "keywords")
    assert [(row.number, row.cells) for row in table.rows] == [
        (1, ("What?", "BCL2", None)),
        (2, ("Why?", None, ["a", "b"])),
    ]


def test_an_object_with_one_list_is_read_and_the_rest_is_named() -> None:
    table = read(json.dumps({"license": "CC0", "data": ROWS}).encode(), "t.json")
    assert len(table.rows) == 2
    assert table.notes == ("Read from the list 'data'.", "Besides it the file holds license; not read.")


def test_a_list_of_lists_has_its_names_in_the_first() -> None:
    table = read(b'[["Question", "Answer"], ["a", 1]]', "t.json")
    assert (table.columns, table.rows[0].cells) == (("Question", "Answer"), ("a", 1))


@pytest.mark.parametrize("document", [[1, 2], ["a"], [{"a": 1}, 2], [[1], {"a": 1}]])
def test_a_list_of_anything_else_is_refused_with_its_row(document: Any) -> None:
    with pytest.raises(TableError, match="Row") as caught:
        read(json.dumps(document).encode(), "t.json")
    assert caught.value.code == "json"


@pytest.mark.parametrize("document", [[], [{}], [{"a": ""}]])
def test_a_list_of_nothing_is_empty(document: Any) -> None:
    with pytest.raises(TableError) as caught:
        read(json.dumps(document).encode(), "t.json")
    assert caught.value.code == "empty"


@pytest.mark.parametrize(
    "document", [{}, {"a": ROWS, "b": ROWS}, {"@type": "DataFeed", "x": ROWS}, {"checkpoint": ROWS}]
)
def test_a_benchmark_or_an_object_of_several_lists_is_no_table(document: Any) -> None:
    assert find_list(document) is None


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json", "t"])
def test_json_lines_are_read_whatever_the_file_is_called(name: str) -> None:
    data = "\n".join(json.dumps(row) for row in ROWS).encode() + b"\n\n"
    assert [row.number for row in read(data, name).rows] == [1, 2]


def test_a_bad_line_is_told_with_its_number() -> None:
    with pytest.raises(TableError, match=r"^Row 3: The file is not valid JSON") as caught:
        read(b'{"question": "a"}\n\n{"question": \n', "t.jsonl")
    assert caught.value.row == 3


def test_a_parquet_file_is_a_table() -> None:
    table = read(
        parquet_file(
            question=["What?", "When?"],
            answer=[decimal.Decimal("1.50"), None],
            day=[datetime.date(2024, 3, 1), datetime.date(2024, 3, 2)],
            keywords=[["a"], []],
            score=[float("nan"), 2.5],
        ),
        "t.parquet",
    )
    assert table.columns == ("question", "answer", "day", "keywords", "score")
    assert [(row.number, row.cells) for row in table.rows] == [
        (1, ("What?", "1.50", "2024-03-01", ["a"], None)),
        (2, ("When?", None, "2024-03-02", [], 2.5)),
    ]


@pytest.mark.parametrize("cut", [4, 8, 40, 200])
def test_a_damaged_parquet_file_is_refused(cut: int) -> None:
    data = parquet_file(question=["What?"] * 50)
    with pytest.raises(TableError) as caught:
        read(data[:-cut], "t.parquet")
    assert caught.value.code == "parquet"


def test_a_small_parquet_file_of_very_many_rows_is_refused() -> None:
    with pytest.raises(TableError) as caught:
        read(parquet_file(question=["x"] * 200_000), "t.parquet")
    assert caught.value.code == "rows"


def test_a_small_parquet_file_of_very_long_texts_is_refused() -> None:
    with pytest.raises(TableError) as caught:
        read(parquet_file(question=[f"{number}" + "x" * 30_000_000 for number in range(8)]), "t.parquet")
    assert caught.value.code == "zip_bomb"


def result(question: str, model: str, text: str | None) -> dict[str, Any]:
    return {
        "question": {"id": question, "question": f"{question}?", "raw_answer": "r", "keywords": ["k"]},
        "answering_model": model,
        "answer": None if text is None else {"text": text},
    }


def test_exported_results_give_one_row_for_every_answer() -> None:
    results = [result("q", "A", "x"), result("q", "A", "x"), result("q", "B", "y"), result("r", "A", None)]
    table = read(json.dumps({"format": "karenina-results-1", "results": results}).encode(), "t.json")
    assert table.columns == ("id", "question", "raw_answer", "keywords", "answering_model", "response")
    assert [row.cells[4:] for row in table.rows] == [("A", "x"), ("B", "y"), ("A", None)]
    assert "4 evaluations hold 3 different answers; the verdicts are not read." in table.notes


@pytest.mark.parametrize("results", [None, {}, [1], [{"question": "x"}]])
def test_damaged_results_are_refused(results: Any) -> None:
    with pytest.raises(TableError):
        read(json.dumps({"format": "karenina-results-1", "results": results}).encode(), "t.json")


UPSTREAM = {
    "metadata": {"question_id": "q", "question_text": "What?", "answering": {"provider": "lab", "model_name": "small"}},
    "template": {"raw_llm_response": "BCL2", "verify_result": True},
}


def test_results_of_the_upstream_project_give_questions_and_answers() -> None:
    document = {"format_version": "2.2", "results": [UPSTREAM, UPSTREAM]}
    table = read(json.dumps(document).encode(), "t.json")
    [row] = [dict(zip(table.columns, row.cells, strict=True)) for row in table.rows]
    assert (row["id"], row["question"], row["answering_model"], row["response"]) == ("q", "What?", "lab/small", "BCL2")


def test_upstream_results_of_one_level_are_read_too() -> None:
    flat = {"question_id": "q", "question_text": "What?", "answering_model": "lab/old", "raw_llm_response": "x"}
    table = read(json.dumps({"format_version": "2.0", "results": [flat]}).encode(), "t.json")
    assert [dict(zip(table.columns, row.cells, strict=True))["answering_model"] for row in table.rows] == ["lab/old"]


def test_an_upstream_result_without_its_question_is_named() -> None:
    document = {"format_version": "2.2", "results": [UPSTREAM, {"metadata": {}}]}
    with pytest.raises(TableError, match="Row 2: It holds no question"):
        read(json.dumps(document).encode(), "t.json")


def test_parquet_columns_of_every_shape() -> None:
    texts = [f"{'x' * 30}{number}?" for number in range(2_500)]
    columns = {
        "question": texts,
        "list": [["a", "b"]] * 2_500,
        "object": [{"a": "z", "b": 1}] * 2_500,
        "pairs": arrow.array([[("k", "v")]] * 2_500, arrow.map_(arrow.string(), arrow.string())),
        "nothing": arrow.nulls(2_500),
    }
    table = read(parquet_file(**columns), "t.parquet")
    assert [row.cells[0] for row in table.rows] == texts
    assert table.rows[2_400].cells[1:] == (["a", "b"], {"a": "z", "b": 1}, [["k", "v"]], None)


def test_parquet_texts_stored_as_differences_are_refused() -> None:
    made = io.BytesIO()
    table = arrow.table({"question": ["x" * 1_000] * 9})
    parquet.write_table(table, made, use_dictionary=False, column_encoding={"question": "DELTA_BYTE_ARRAY"})
    with pytest.raises(TableError, match="DELTA_BYTE_ARRAY"):
        read(made.getvalue(), "t.parquet")
