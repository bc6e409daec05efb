from __future__ import annotations

import pytest
from pydantic import ValidationError

from karenina_core.schemas import GuardPart, Usage, built


def test_what_is_built_unchecked_equals_what_is_checked() -> None:
    checked = GuardPart(performed=True, detected=False, reasoning="It answers.", call=None)
    unchecked = built(GuardPart, performed=True, detected=False, reasoning="It answers.", call=None)
    assert unchecked == checked
    assert unchecked.model_dump_json() == checked.model_dump_json()


def test_what_was_built_can_be_copied_with_changes() -> None:
    usage = built(Usage, input_tokens=1, output_tokens=2, cost=None, calls=1, cached_calls=0)
    assert usage.model_copy(update={"calls": 2}) == Usage(input_tokens=1, output_tokens=2, calls=2)
    assert usage.calls == 1


def test_a_part_has_no_keys_it_does_not_know() -> None:
    with pytest.raises(ValidationError):
        Usage.model_validate({"calls": 1, "dollars": 3})
