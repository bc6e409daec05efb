"""Excel workbooks."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from openpyxl import Workbook

from karenina_core.benchmark import Opened, TableError, apply, open_file, read_table, suggest_mapping
from karenina_core.benchmark.tables.archive import Archive
from karenina_core.benchmark.tables.excel import sheet_names
from karenina_core.benchmark.tables.table import Mark
from karenina_core.errors import InputError
from tests.benchmark.tables.files import HEADER, members, read, repacked, saved, workbook, zipped

moment = datetime.datetime.fromisoformat


def first_row(*cells: Any) -> Any:
    header = [f"C{number}" for number in range(len(cells))]
    return read(workbook([header, list(cells)]), "t.xlsx").rows[0]


def test_a_sheet_is_a_table() -> None:
    table = read(workbook([HEADER, ("What?", "BCL2"), (None, None), ("Why?", 23)]), "t.xlsx")
    assert table.columns == HEADER
    assert [(row.number, row.cells) for row in table.rows] == [(2, ("What?", "BCL2")), (4, ("Why?", 23))]


def test_numbers_truth_values_and_texts_keep_their_kind() -> None:
    assert first_row(3, 2.5, True, "0012", "x").cells == (3, 2.5, True, "0012", "x")


def test_dates_are_iso_texts_and_marked() -> None:
    row = first_row(datetime.date(2024, 3, 1), moment("2024-03-01T12:30"), datetime.time(8, 5))
    assert row.cells == ("2024-03-01", "2024-03-01 12:30:00", "08:05:00")
    assert {mark.kind for mark in row.marks.values()} == {"date"}


def test_dates_that_count_from_1904_are_right() -> None:
    book = Workbook()
    book.epoch = moment("1904-01-01")
    book.active.append(["Question", "Day"])
    book.active.append(["When?", datetime.date(2024, 3, 1)])
    assert read(saved(book), "t.xlsx").rows[0].cells[1] == "2024-03-01"


def test_a_sheet_is_chosen_by_its_title() -> None:
    data = workbook([HEADER, ("a", "b")], [HEADER, ("c", "d")])
    opened = open_file(data, "t.xlsx")
    assert isinstance(opened, Opened)
    assert opened.sheets == ("Sheet 1", "Sheet 2")
    assert read(data, "t.xlsx", sheet="Sheet 2").rows[0].cells == ("c", "d")
    with pytest.raises(TableError, match="no sheet 'Sheet 9'"):
        read(data, "t.xlsx", sheet="Sheet 9")


def test_a_formula_is_never_computed() -> None:
    row = first_row("=1+1", "x")
    assert row.cells == (None, "x")
    assert row.marks[0] == Mark("uncached")


def test_the_stored_value_of_a_formula_is_read_and_marked() -> None:
    data = workbook([HEADER, ("=1+1", "x")])
    xml = next(part for name, part in members(data).items() if name.endswith("sheet1.xml"))
    stored = xml.replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>").replace(b"<f>1+1</f><v/>", b"<f>1+1</f><v>2</v>")
    assert stored != xml
    table = read(repacked(data, sheet1=stored), "t.xlsx")
    assert (table.rows[0].cells[0], table.rows[0].marks[0].kind) == (2, "formula")
    assert "Formulas are not computed; the values stored with them are read." in table.notes


def test_an_error_value_is_marked() -> None:
    assert first_row("#N/A", "x").marks[0].kind == "error"


def test_a_cell_merged_downwards_knows_the_value_shown_across_it() -> None:
    table = read(workbook([HEADER, ("What?", "BCL2"), (None, "MCL1")], merged=["A2:A3"]), "t.xlsx")
    assert table.rows[1].cells[0] is None
    assert table.rows[1].marks[0] == Mark("merged", "What?")


def test_a_cell_merged_sideways_is_marked_and_given_no_value() -> None:
    table = read(workbook([(*HEADER, "N"), ("What?", None, "n")], merged=["A2:B2"]), "t.xlsx")
    assert table.rows[0].marks[1] == Mark("merged", None)


def test_hidden_characters_written_by_excel_are_read() -> None:
    assert first_row("a_x000D_b_x0007_", "_x005F_x0041_").cells == ("a\rb\x07", "_x0041_")


def test_the_stated_size_of_a_sheet_is_not_believed() -> None:
    data = workbook([HEADER, ("a", "b")])
    xml = next(part for name, part in members(data).items() if name.endswith("sheet1.xml"))
    lying = xml.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"')
    assert lying != xml
    assert len(read(repacked(data, sheet1=lying), "t.xlsx").rows) == 1


def test_a_cell_far_to_the_right_is_refused_or_left_alone() -> None:
    with pytest.raises(TableError, match="more than 200 columns"):
        read(workbook([[f"c{number}" for number in range(300)], ["x"]]), "t.xlsx")


def test_a_cell_far_below_is_reached_without_looking_at_all_between() -> None:
    book = Workbook()
    book.active.append([f"c{number}" for number in range(200)])
    book.active.cell(1_048_576, 1, "last")
    [row] = read(saved(book), "t.xlsx").rows
    assert (row.number, row.cells[0]) == (1_048_576, "last")


def with_part(name: str, content: bytes) -> bytes:
    parts = members(workbook([HEADER, ("a", "b")]))
    assert name in parts
    return zipped({**parts, name: content})


@pytest.mark.parametrize(
    "beginning",
    [
        '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
        "<!DOCTYPE x>",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_and_entities_are_refused(beginning: str, encoding: str) -> None:
    xml = f'<?xml version="1.0" encoding="{encoding}"?>{beginning}<sst>&b;</sst>'.encode(encoding)
    parts = {**members(workbook([HEADER, ("a", "b")])), "xl/extra.xml": xml}
    with pytest.raises(TableError) as caught:
        open_file(zipped(parts), "t.xlsx")
    assert caught.value.code == "entities"


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("xl/workbook.xml", b"<nothing/>"),
        ("xl/workbook.xml", b"no xml"),
        ("xl/worksheets/sheet1.xml", b"<worksheet"),
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/_rels/workbook.xml.rels", b"<Relationships/>"),
    ],
)
def test_a_damaged_workbook_is_refused_in_words(part: str, content: bytes) -> None:
    with pytest.raises(TableError) as caught:
        read(with_part(part, content), "t.xlsx")
    assert caught.value.code in ("xlsx", "empty", "sheet")
    assert caught.value.what
    assert caught.value.next
    assert "Error" not in str(caught.value)
    assert "None" not in str(caught.value)


def with_shared_strings(*cells: int) -> bytes:
    """Return a workbook whose texts stand apart from the sheet, as Excel writes it."""
    parts = members(workbook([HEADER, ("a", "b")]))
    row = "".join(f'<c r="{column}3" t="s"><v>{number}</v></c>' for column, number in zip("AB", cells, strict=True))
    sheet = parts["xl/worksheets/sheet1.xml"].replace(b"</sheetData>", f'<row r="3">{row}</row></sheetData>'.encode())
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    types = parts["[Content_Types].xml"].replace(
        b"</Types>", f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'.encode()
    )
    strings = (
        b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b"<si><t>one</t></si><si><r><t>t</t></r><r><t>wo</t></r></si></sst>"
    )
    changed = {"xl/worksheets/sheet1.xml": sheet, "[Content_Types].xml": types, "xl/sharedStrings.xml": strings}
    return zipped({**parts, **changed})


def test_texts_that_stand_apart_are_read() -> None:
    assert read(with_shared_strings(0, 1), "t.xlsx").rows[1].cells == ("one", "two")


def test_a_text_that_is_not_there_is_damage() -> None:
    with pytest.raises(TableError, match="damaged"):
        read(with_shared_strings(0, 99), "t.xlsx")


def test_titles_of_sheets_are_listed_in_order() -> None:
    assert sheet_names(Archive(workbook([HEADER], [HEADER], [HEADER]))) == ["Sheet 1", "Sheet 2", "Sheet 3"]


def test_progress_is_told_and_can_stop_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10_000))
    monkeypatch.setattr("karenina_core.benchmark.tables.table.time.monotonic", lambda: next(clock))
    opened = open_file(workbook([HEADER, *[(f"{n}?", "x") for n in range(50)]]), "t.xlsx")
    assert isinstance(opened, Opened)
    told: list[tuple[int, int]] = []
    table = read_table(opened, progress=lambda done, total: told.append((done, total)))
    assert (told[0], told[-1], len(table.rows)) == ((0, 51), (51, 51), 50)
    told.clear()
    apply(table, suggest_mapping(table), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (50, 50)

    def stop(done: int, total: int) -> None:
        raise InputError(f"Stopped at {done} of {total}.")

    with pytest.raises(InputError, match="Stopped at 0 of 51"):
        read_table(opened, progress=stop)
