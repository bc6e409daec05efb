"""Columns that a database joins to long texts are, value by value, what is stored."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from karenina_core.analysis import stored_columns, stored_fields, stored_results
from karenina_core.analysis.bulk_columns import Kind
from karenina_core.analysis.stored_columns import read_columns
from karenina_core.runs import Store, score, wanted
from karenina_core.schemas import VerificationResult
from tests.runs.fakes import failure_of, full_result, plain_result, small_benchmark, small_config

KINDS: dict[str, Kind] = {
    **dict.fromkeys(("question_id", "trait", "label"), "text"),
    "replicate": "integer",
    **dict.fromkeys(("value", "tp"), "number"),
}
LETTERS = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
TEXTS = st.sampled_from(["", "=", "NULL", "a", "it's", "ä 🧬"]) | st.text(LETTERS, max_size=4)
ROWS = st.fixed_dictionaries(
    {
        "trait": st.sampled_from(["Tone", "Depth"]),
        "question_id": TEXTS,
        "replicate": st.integers(1, 3),
        "label": st.none() | TEXTS,
        "value": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "tp": st.none() | st.integers(0, 2**31 - 1),
    }
)


@pytest.fixture
def store(any_store: Store) -> Store:
    return any_store


@pytest.fixture
def run_id(store: Store) -> str:
    return store.runs.create(wanted(small_benchmark(3), small_config(2)), "Columns")


def fill(store: Store, run_id: str, rows: list[dict[str, Any]]) -> None:
    key = {"run_id": run_id, "answering_model": "m", "parsing_model": "j", "metric": "", "kind": "score"}
    with store.writing() as connection:
        connection.execute(delete(score).where(score.c.run_id == run_id))
        for row in rows:
            connection.execute(score.insert().values(**key, **row))


def read(store: Store, run_id: str) -> list[tuple[Any, ...]]:
    columns = {
        name: pd.Series(values).astype(object) for name, values in read_columns(store, score, KINDS, run_id).items()
    }
    values = [column.where(column.notna(), None) for column in columns.values()]
    return sorted(zip(*values, strict=True), key=str)


def unique(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({(row["trait"], row["question_id"], row["replicate"]): row for row in rows}.values())


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, max_size=8).map(unique))
def test_every_value_is_read_exactly(rows: list[dict[str, Any]], store: Store, run_id: str) -> None:
    fill(store, run_id, rows)
    expected = [tuple(row[name] for name in KINDS) for row in rows]
    assert read(store, run_id) == sorted(expected, key=str)


def test_a_text_with_the_separator_in_it_is_read_row_by_row(store: Store, run_id: str) -> None:
    row = {"trait": "Tone", "question_id": "a\x1fb", "replicate": 1, "label": None, "value": math.pi, "tp": 2}
    fill(store, run_id, [row])
    assert read(store, run_id) == [tuple(row[name] for name in KINDS)]


def test_the_same_is_read_row_by_row(store: Store, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"trait": "Tone", "question_id": "a", "replicate": 1, "label": "x", "value": 0.1 + 0.2, "tp": None}]
    fill(store, run_id, rows)
    joined = read(store, run_id)
    monkeypatch.setattr(stored_columns, "bulk_columns", lambda *_: None)
    assert read(store, run_id) == joined == [tuple(row[name] for name in KINDS) for row in rows]


def test_a_number_too_large_to_be_one_is_read_row_by_row(store: Store, run_id: str) -> None:
    row = {"trait": "Tone", "question_id": "a", "replicate": 1, "label": None, "value": math.inf, "tp": None}
    fill(store, run_id, [row])
    assert read(store, run_id) == [tuple(row[name] for name in KINDS)]


@pytest.fixture
def results(store: Store, run_id: str) -> list[VerificationResult]:
    broken = plain_result("q2", failure=failure_of("timeout"))
    written = [full_result("q1"), broken, plain_result("q3", "lab/model-2", verdict="fail")]
    store.results.save(run_id, written)
    return written


def tables(store: Store, run_id: str) -> list[pd.DataFrame]:
    read_results = stored_results(store, run_id)
    return [read_results, stored_fields(store, run_id, read_results)]


def test_the_tables_of_a_run_are_the_same_row_by_row(
    store: Store, run_id: str, results: list[VerificationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = tables(store, run_id)
    assert joined[0]["result_id"].tolist() == [row["result_id"] for row in store.results.rows(run_id)]
    monkeypatch.setattr(stored_columns, "bulk_columns", lambda *_: None)
    for first, second in zip(joined, tables(store, run_id), strict=True):
        pd.testing.assert_frame_equal(first, second)


def test_postgresql_hands_over_no_single_rows(
    store: Store, run_id: str, results: list[VerificationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    def single_rows(*_: object) -> None:
        pytest.fail("rows were read one by one")

    monkeypatch.setattr(stored_columns, "_pages", single_rows)
    if store.engine.dialect.name == "sqlite":
        # There the results of a run lie among those of others; its fields and scores lie together.
        assert len(read(store, run_id)) == len(store.results.scores(run_id)) > 0
    else:
        assert len(tables(store, run_id)[0]) == len(results)
