from __future__ import annotations

import pytest

from karenina_core.models import being_loaded
from karenina_core.models.weights import loading


def test_a_model_is_named_while_it_is_loaded() -> None:
    with loading("second"), loading("first"):
        assert being_loaded() == ["first", "second"]
    assert being_loaded() == []


def test_a_model_that_two_wait_for_is_named_once_until_both_have_it() -> None:
    with loading("model"):
        with loading("model"):
            assert being_loaded() == ["model"]
        assert being_loaded() == ["model"]


def test_a_model_that_could_not_be_loaded_is_named_no_longer() -> None:
    with pytest.raises(OSError), loading("model"):
        raise OSError
    assert being_loaded() == []
