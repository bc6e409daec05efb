"""What is written as a table is read back as it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.benchmark import DELIMITERS, Benchmark, apply, suggest_mapping
from karenina_core.benchmark.tables.readers import read_delimited
from karenina_core.sheets import Sheet, csv_cell, csv_text, xlsx_bytes
from tests.benchmark.samples import small_benchmark
from tests.benchmark.tables.files import read

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufffe\uffff"), max_size=40)
FILLED = TEXTS.filter(lambda text: bool(text.strip()))
ROWS = st.lists(st.tuples(FILLED, TEXTS), min_size=1, max_size=6)
# Workbooks keep sixteen digits.
FLOATS = st.floats(-1e9, 1e9).map(lambda number: float(f"{number:.6g}"))
NUMBERS = st.one_of(st.integers(-(2**53), 2**53), FLOATS, st.booleans())


@given(ROWS)
def test_csv(rows: list[tuple[str, str]]) -> None:
    data = csv_text(("Question", "Answer"), rows).encode("utf-8-sig")
    table = read_delimited(data, delimiter=",")
    assert [row.cells for row in table.rows] == [tuple(map(csv_cell, row)) for row in rows]


@given(ROWS, st.sampled_from(list(DELIMITERS)), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_text_of_any_delimiter_and_encoding(rows: list[tuple[str, str]], sign: str, encoding: str) -> None:
    def quoted(cells: tuple[str, ...]) -> str:
        return sign.join('"' + cell.replace('"', '""') + '"' for cell in cells)

    data = "\n".join(map(quoted, [("Question", "Answer"), *rows])).encode(encoding)
    assert [row.cells for row in read_delimited(data, delimiter=sign).rows] == rows


@settings(max_examples=25)
@given(st.lists(st.tuples(FILLED, TEXTS, NUMBERS), min_size=1, max_size=4))
def test_workbooks(rows: list[tuple[str, str, Any]]) -> None:
    table = read(xlsx_bytes({"T": Sheet(("Question", "Answer", "Number"), rows)}), "t.xlsx")
    expected = [(csv_cell(question), csv_cell(answer) or None, number) for question, answer, number in rows]
    assert [row.cells for row in table.rows] == expected


def imported(data: bytes, name: str) -> Benchmark:
    table = read(data, name)
    found = apply(table, suggest_mapping(table))
    assert not found.left_out
    made = Benchmark.create("Again")
    found.add_to(made)
    return made


def test_a_benchmark_as_a_workbook_is_read_back_with_what_a_sheet_can_hold() -> None:
    before = small_benchmark()
    before.update_question("target", sources=[{"url": "https://a.org"}, {"name": "Smith"}], answer_notes="=n")
    before.update_question("lungs", workspace_path="task", keywords=["a; b", "c"], custom_metadata={"n": 2, "l": [1]})
    after = imported(before.to_xlsx(), "b.xlsx")
    for old, new in zip(before, after, strict=True):
        assert (new.id, new.question, new.raw_answer, new.finished) == (
            old.id,
            old.question,
            old.raw_answer,
            old.finished,
        )
        assert (new.keywords, new.sources, new.answer_notes) == (old.keywords, old.sources, old.answer_notes)
        assert (new.answer_template, new.workspace_path) == (old.answer_template, old.workspace_path)
        assert (new.author or {}).get("name") == (old.author or {}).get("name")
    assert after["target"].custom_metadata == {"difficulty": "hard"}


def test_the_upstream_table_of_a_benchmark_is_read_back() -> None:
    after = imported(small_benchmark().to_csv().encode("utf-8-sig"), "b.csv")
    assert [question.question for question in after] == [question.question for question in small_benchmark()]
    assert [question.finished for question in after] == [True, True, False]
