"""Columns that SQLite joins to long texts are, value by value, what is stored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from karenina_core.analysis import stored_columns
from karenina_core.analysis.bulk_columns import Kind
from karenina_core.analysis.stored_columns import read_columns
from karenina_core.runs import Store, wanted
from karenina_core.runs.store.tables import score
from tests.runs.fakes import small_benchmark, small_config

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
        "tp": st.none() | st.integers(0, 2**40),
    }
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("columns") / "store.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def run_id(store: Store) -> str:
    return store.create_run(wanted(small_benchmark(1), small_config(1)), "Columns")


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


def test_other_databases_are_read_row_by_row(store: Store, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"trait": "Tone", "question_id": "a", "replicate": 1, "label": "x", "value": 0.1 + 0.2, "tp": None}]
    fill(store, run_id, rows)
    joined = read(store, run_id)
    monkeypatch.setattr(stored_columns, "bulk_columns", lambda *_: None)
    assert read(store, run_id) == joined == [tuple(row[name] for name in KINDS) for row in rows]
