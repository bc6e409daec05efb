"""Spreadsheets and archives made to break things: refused in words on the page, or read as plain text."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pytest
import streamlit as st
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest

from karenina_core.analysis import to_xlsx
from karenina_core.benchmark import Benchmark, apply, suggest_mapping
from karenina_core.errors import CheckpointError
from pages.components import services
from tests.app.looking import labelled
from tests.benchmark.tables.files import HEADER, members, read, workbook, zipped
from tests.security import bombs
from tests.security.road import file_of, travel
from tests.security.test_cells_and_pages import BAIT, BIDI, FORMULAS, INVISIBLE

ROOT = Path(__file__).parents[2]
SHEET = workbook([HEADER, ("What?", "BCL2")])


@pytest.fixture(autouse=True)
def fresh_services() -> Iterator[None]:
    """Let every test have a store and a runner of its own."""
    yield
    services.runner.clear()
    services.store.clear()
    st.cache_data.clear()


def linked() -> bytes:
    info = zipfile.ZipInfo("table.csv")
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return made.getvalue()


def with_entities(encoding: str) -> bytes:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY e0 "lol">{levels}]><x>&e9;</x>'
    return zipped({**members(SHEET), "xl/sharedStrings.xml": bomb.encode(encoding)})


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "zeros.zip": (lambda: zipped({"a.csv": b"\0" * 150_000_000}), "zip_bomb"),
    "zeros.xlsx": (lambda: zipped({**members(SHEET), "xl/worksheets/sheet2.xml": b" " * 150_000_000}), "zip_bomb"),
    "climbs.zip": (lambda: zipped({"../../evil.csv": b"a,b\nc,d"}), "zip_path"),
    "climbs.xlsx": (lambda: zipped({**members(SHEET), "../../evil": b"x"}), "zip_path"),
    "absolute.zip": (lambda: zipped({"/etc/passwd.csv": b"a,b\nc,d"}), "zip_path"),
    "drive.zip": (lambda: zipped({"C:\\x.csv": b"a,b\nc,d"}), "zip_path"),
    "link.zip": (linked, "zip_path"),
    "many.zip": (lambda: zipped({f"{n}.csv": b"a" for n in range(600)}), "zip_files"),
    "many.xlsx": (lambda: zipped({**members(SHEET), **{f"x{n}": b"" for n in range(600)}}), "zip_files"),
    "cut.zip": (lambda: zipped({"a.csv": b"a,b\nc,d"})[:-30], "zip"),
    "cut.xlsx": (lambda: SHEET[: len(SHEET) // 2], "zip"),
    "nested.zip": (lambda: zipped({"b.zip": zipped({"a.csv": b"a,b"})}), "zip"),
    "laughs.xlsx": (lambda: with_entities("utf-8"), "entities"),
    "laughs16.xlsx": (lambda: with_entities("utf-16"), "entities"),
    "old.xls": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "xls"),
    "nul.csv": (lambda: b"\0" * 1_000, "binary"),
    "quote.csv": (lambda: b"Question,Answer\n" + b'"' * 99_999, "quotes"),
    "wide.csv": (lambda: b"," .join([b"c"] * 100_000) + b"\nx", "columns"),
    "tall.csv": (lambda: b"a,b\n" + b"c,d\n" * 200_000, "rows"),
    "parquet.parquet": (lambda: b"PAR1" + b"\xff" * 100 + b"PAR1", "parquet"),
    "brackets.jsonl": (lambda: b'{"a": 1}\n' + b"[" * 100_000, "json"),
    "nan.json": (lambda: b'[{"question": NaN}]', "json"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_with_its_reason(name: str) -> None:
    made, code = HOSTILE[name]
    with pytest.raises(CheckpointError) as caught:
        read(made(), name)
    assert caught.value.code == code
    assert caught.value.what


def test_every_one_leaves_the_page_up_and_explained() -> None:
    app = page()
    for name, (made, _) in HOSTILE.items():
        app = app.file_uploader[0].upload(name, made()).run()
        assert not app.exception, name
        assert app.error, name
        assert not {"table_import", "upload_add"} & {button.key for button in app.button}, name
    app = app.file_uploader[0].upload("good.xlsx", SHEET).run()
    assert "table_import" in [button.key for button in app.button]


def page() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run().switch_page("pages/benchmarks.py").run()


def said(app: AppTest) -> Iterator[str]:
    """Yield every text that is rendered as Markdown, labels included."""
    assert not app.exception, app.exception[0].message
    for element in [*app.markdown, *app.caption, *app.info, *app.warning, *app.error, *app.toast]:
        yield str(element.value)
    for widget in [*app.button, *app.checkbox, *app.selectbox, *app.multiselect, *app.text_input, *app.expander]:
        yield str(widget.label)


def assert_harmless(app: AppTest) -> None:
    for text in said(app):
        assert "![" not in text, text
        assert not INVISIBLE & set(text), text


@pytest.mark.parametrize("name", ["hostile.csv", "![x](http:x).json"])
def test_markup_in_names_of_columns_and_cells_is_shown_as_text(name: str) -> None:
    bait = BAIT + BIDI
    row = {bait: bait, "Question": bait, "Answer": bait, f"Answer: {bait}": bait}
    data = json.dumps([row, row, {**row, "Answer": "other"}]).encode()
    if name.endswith(".csv"):
        cells = [list(row), list(row.values()), list(row.values())]
        data = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in cells).encode()
    app = page().file_uploader[0].upload(name, data).run()
    assert_harmless(app)
    keywords = labelled(app.multiselect, "Keywords")
    app = keywords.set_value([keywords.options[0]]).run()
    app = labelled(app.text_input, "Name of the new benchmark").set_value(BAIT).run()
    assert_harmless(app)
    assert_harmless(app.button(key="table_import").click().run())


def test_a_sheet_title_with_markup_is_shown_as_text() -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "!(x)"
    book.create_sheet("<b>x").append(list(HEADER))
    book.active.append(list(HEADER))
    book.active.append(["a?", "b"])
    made = io.BytesIO()
    book.save(made)
    assert_harmless(page().file_uploader[0].upload("x.xlsx", made.getvalue()).run())


@pytest.mark.parametrize(
    "name", ["a dictionary.parquet", "one text everywhere.xlsx", "many cells.xlsx", "attributes.xlsx", "commas.csv"]
)
def test_what_rows_become_is_counted_before_they_become_it(name: str) -> None:
    reading = bombs.measured(next(bomb for bomb in bombs.BOMBS if bomb.name == name))
    assert bombs.is_within(reading), reading
    assert "should" in reading.outcome or "too l" in reading.outcome


def lying_list(count: int, told: int) -> bytes:
    """Return a Parquet file with a list of `count` zeros, whose description says `told`."""

    def stored(number: int) -> bytes:
        digits = [2 * number >> shift & 0x7F for shift in range(0, 28, 7)]
        return bytes([*(digit | 0x80 for digit in digits[:-1]), digits[-1]])

    data = bombs.columns(question=arrow.array([np.zeros(count, "i8")]))
    at = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:at] + data[at:].replace(stored(count), stored(told))


def test_a_parquet_file_that_lies_about_its_values_is_refused() -> None:
    with pytest.raises(CheckpointError) as caught:
        read(lying_list(10_000_000, 2_000), "lie.parquet")
    assert caught.value.code == "zip_bomb"


def texts(data: bytes) -> list[Any]:
    """Return the cells of all sheets as a spreadsheet program takes them."""
    book = load_workbook(io.BytesIO(data))
    cells = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    return [cell.value for cell in cells]


@pytest.mark.parametrize("formula", FORMULAS, ids=ascii)
def test_a_formula_in_a_file_is_text_in_every_workbook(formula: str, tmp_path: Path) -> None:
    arrival = travel(file_of(question=formula), tmp_path)
    for data in (arrival.benchmark.to_xlsx(), to_xlsx([arrival.result])):
        starts = [text for text in texts(data) if isinstance(text, str) and text.lstrip()[:1] in tuple("=+-@＝﹢")]
        assert starts == []


@pytest.mark.parametrize("cell", ["-3.5", "+1", "1e-5", "-12%", "a=b"])
def test_plain_cells_are_unchanged_in_every_workbook(cell: str, tmp_path: Path) -> None:
    arrival = travel(file_of(question=cell), tmp_path)
    assert cell in texts(arrival.benchmark.to_xlsx())
    assert cell in texts(to_xlsx([arrival.result]))


@pytest.mark.parametrize("formula", ["=1+1", "@SUM(A1)", "\t=1", "\u200b=1"], ids=ascii)
def test_a_formula_from_a_table_stays_guarded_through_import_and_export(formula: str) -> None:
    table = read(json.dumps([{"question": f"{formula} is?", "answer": formula}]).encode(), "t.json")
    made = Benchmark.create("New")
    apply(table, suggest_mapping(table)).add_to(made)
    assert [text for text in texts(made.to_xlsx()) if str(text).startswith(("=", "@", "\t", "\u200b"))] == []


def test_a_template_from_a_table_is_read_and_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    evil = f"class Answer(BaseAnswer):\n    a: str = Field(default=open({str(marker)!r}, 'w'))\n"
    table = read(json.dumps([{"question": "a?", "answer": "b", "template": evil}]).encode(), "t.json")
    found = apply(table, suggest_mapping(table))
    assert "line 2" in next(finding.what for finding in found.findings if finding.code == "template")
    assert found.drafts == ()
    assert not marker.exists()


@pytest.mark.parametrize("path", ["../x", "/etc", "C:\\x", "a/../../b", "~", "con"])
def test_a_workspace_from_a_table_stays_below_its_root(path: str) -> None:
    table = read(json.dumps([{"question": "a?", "answer": "b", "workspace": path}]).encode(), "t.json")
    assert apply(table, suggest_mapping(table)).drafts == ()


def test_names_that_mean_something_to_programs_are_just_names() -> None:
    row = {"question": "a?", "answer": "b", "metadata: __class__": "x", "metadata: __proto__": {"y": 1}}
    table = read(json.dumps([row]).encode(), "t.json")
    made = Benchmark.create("New")
    apply(table, suggest_mapping(table)).add_to(made)
    assert made[0].custom_metadata == {"__class__": "x", "__proto__": {"y": 1}}
    assert Benchmark.from_json(made.to_json()) == made
