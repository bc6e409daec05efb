"""Rows by group are what pandas' own grouping finds, in the order in which groups appear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.analysis import groups
from karenina_core.analysis.groups import grouped, keys, labels

ROWS = st.lists(st.tuples(st.sampled_from(["b", "a", None]), st.integers(-2, 2), st.booleans()), max_size=30)


def table(rows: list[Any]) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=["text", "number", "right"])
    return made.astype({"text": "category", "number": "int64", "right": "bool"})


@given(rows=ROWS)
def test_groups_are_those_of_pandas(rows: list[Any]) -> None:
    frame = table(rows)
    found = keys(frame, ["text", "number"])
    expected = frame.groupby(["text", "number"], sort=False, dropna=False)
    assert found.codes.tolist() == expected.ngroup().tolist()
    assert found.count().tolist() == expected.size().tolist()
    assert found.count(frame["right"].to_numpy()).tolist() == expected["right"].sum().tolist()
    assert found.total(frame["number"]).tolist() == expected["number"].sum().tolist()


def test_every_group_has_the_values_of_its_rows() -> None:
    frame = table([("b", 2, True), ("a", 1, True), ("b", 2, False), (None, 1, True)])
    shown = labels(keys(frame, ["text", "number"]), frame, ["text", "number"])
    assert shown["number"].tolist() == [2, 1, 1]
    assert shown["text"].astype(object).where(shown["text"].notna(), None).tolist() == ["b", "a", None]


def test_without_columns_all_rows_are_one_group() -> None:
    assert len(grouped([], 3)) == 1
    assert grouped([], 3).count().tolist() == [3]
    assert len(grouped([], 0)) == 0


def test_columns_with_too_many_values_to_multiply_are_grouped_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [np.array([5, 6, 5, 6]), np.array([1, 1, 2, 1]), np.array([9, 9, 9, 8])]
    expected = grouped(columns, 4).codes.tolist()
    monkeypatch.setattr(groups, "_MOST", 2)
    assert grouped(columns, 4).codes.tolist() == expected == [0, 1, 2, 3]
