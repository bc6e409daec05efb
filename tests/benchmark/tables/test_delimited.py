"""CSV and its relatives."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import TableError
from karenina_core.benchmark.tables.readers import decode, find_delimiter, read_delimited
from tests.benchmark.tables.files import read

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


def test_reading_reports_how_far_it_is() -> None:
    seen: list[int] = []
    read_delimited(b"a,b\n" + b"c,d\n" * 3_000, progress=seen.append)
    assert seen == [1_000, 2_000, 3_000]
