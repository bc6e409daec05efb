from __future__ import annotations

import pytest

from tests.analysis.grounding.looking import found


def test_a_date_is_found_however_it_is_written() -> None:
    assert found("2016-04-11") == ("normalised", ["11 April 2016"])


@pytest.mark.parametrize("written", ["3 May 2021", "3rd of May 2021", "May 3, 2021", "2021-05-03", "03.05.2021"])
def test_each_way_of_writing_a_date_is_read(written: str) -> None:
    assert found("3rd May 2021", f"It was on {written} in Rome.") == ("normalised", [written])


def test_a_month_is_found_in_its_days_and_not_the_other_way_round() -> None:
    assert found("May 2021", "It was on 2021-05-03.")[0] == "normalised"
    assert found("2021-05-03", "It was in May 2021.")[0] == "nowhere"


def test_another_date_is_nowhere() -> None:
    assert found("2016-04-12") == ("nowhere", [])
