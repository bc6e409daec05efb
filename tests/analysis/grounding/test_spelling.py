from __future__ import annotations

import pytest

from tests.analysis.grounding.looking import found


@pytest.mark.parametrize("value", ["bcl 2", "bcl2", "BCL 2", "bCl--2"])
def test_case_punctuation_and_blanks_do_not_count(value: str) -> None:
    assert found(value) == ("normalised", ["BCL-2", "Bcl-2"])


def test_words_written_together_still_begin_and_end_where_words_do() -> None:
    assert found("bcl2", "Abcl-2 and BCL-23") == ("nowhere", [])


@pytest.mark.parametrize("value", ["", " ", "?!"])
def test_what_has_no_letters_stands_nowhere(value: str) -> None:
    assert found(value, "It is short.") == ("nowhere", [])
