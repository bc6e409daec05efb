from __future__ import annotations

import pytest

from tests.analysis.grounding.looking import found


@pytest.mark.parametrize(
    ("value", "how", "places"),
    [
        ("cyclooxygenase-1", "fuzzy", ["Cyclooxigenase-1"]),
        ("Venetocla", "fuzzy", ["Venetoclax"]),
        ("aspirin", "nowhere", []),
    ],
)
def test_what_is_written_nearly_so_is_similar(value: object, how: str, places: list[str]) -> None:
    assert found(value) == (how, places)


@pytest.mark.parametrize(
    ("value", "how"),
    [
        ("patients with twenty-three pairs lived", "fuzzy"),
        ("Of 1,234 patients with pairs", "fuzzy"),
        ("inhibited hazard ratio was 12.5", "nowhere"),
        ("lived patients of", "nowhere"),
    ],
)
def test_a_value_that_leaves_out_a_few_words_is_found(value: str, how: str) -> None:
    assert found(value)[0] == how


def test_the_words_left_out_lie_within_what_is_marked() -> None:
    assert found("the hazard was 0.74") == ("fuzzy", ["the hazard ratio was 0.74"])
