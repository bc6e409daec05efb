from __future__ import annotations

import pytest

from karenina_core.analysis.grounding import ground
from tests.analysis.grounding.looking import found


@pytest.mark.parametrize(
    ("value", "how", "places"),
    [
        ("1234", "normalised", ["1,234"]),
        (1234, "normalised", ["1,234"]),
        (23, "normalised", ["twenty-three"]),
        (0.45, "normalised", ["45"]),
        (0.74, "exact", ["0.74"]),
    ],
)
def test_a_number_is_found_however_it_is_written(value: object, how: str, places: list[str]) -> None:
    assert found(value) == (how, places)


def test_digits_within_a_longer_number_do_not_count() -> None:
    assert found(12) == ("nowhere", [])


def test_a_number_of_many_digits_is_no_trouble() -> None:
    assert found(10**5000, "It is large.")[0] == "nowhere"


def test_a_number_nobody_means_is_no_error() -> None:
    assert ground({"a": 5}, "1" + ",111" * 3000 + "x")[0].how == "nowhere"
