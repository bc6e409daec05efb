"""Lists of objects: JSON, JSON Lines, Parquet, exported results."""

from __future__ import annotations

import datetime
import decimal
import io
import json
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from karenina_core.benchmark import TableError
from karenina_core.benchmark.tables.readers import find_list
from tests.benchmark.tables.files import read

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


def parquet_file(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()


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
