"""Two choices never look alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pages.components.labels import distinct


def test_equal_labels_are_numbered() -> None:
    assert list(distinct("abc", lambda name: "same" if name in "ab" else name).values()) == ["same", "same (2)", "c"]


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b"]), max_size=12))
def test_labels_are_all_different_and_in_order(texts: list[str]) -> None:
    labels = distinct(range(len(texts)), texts.__getitem__)
    assert list(labels) == list(range(len(texts)))
    assert len(set(labels.values())) == len(texts)
    assert all(labels[place].startswith(text) for place, text in enumerate(texts))
