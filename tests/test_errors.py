"""What does not fit is named in words for people, which are as useful to a judge that is asked again."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.errors import validation_message
from karenina_core.pipeline.metrics import ExtractedItems


def message(data: Any, form: Any = ExtractedItems, **options: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        form.model_validate(data)
    return validation_message(caught.value, **options)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (["gold"], 'It must be one JSON object, not ["gold"]'),
        ({"found": []}, "items is missing"),
        ({"items": "gold"}, 'items must be a list, not "gold"'),
        ({"items": [{"item": "gold"}, {"item": 5}]}, "item of entry 2 of items must be text, not 5"),
        (
            {"items": [{"item": "gold", "class": "metal"}]},
            "class of entry 1 of items: Input should be 'positive' or 'negative', not \"metal\"",
        ),
        ({"items": [{"item": "x"}] * 501}, "items has more than 500 entries"),
    ],
)
def test_a_message_names_the_place_and_what_must_stand_there(data: Any, expected: str) -> None:
    assert message(data, values=True) == expected


def test_values_are_quoted_only_where_asked_for_and_only_in_part() -> None:
    assert message({"items": "gold"}) == "items must be a list"
    assert len(message({"items": "gold " * 100}, values=True)) < 120


def test_of_many_problems_the_first_are_named_and_the_others_counted() -> None:
    problems = {"items": [{"item": number} for number in range(7)]}
    assert message(problems).count("must be text") == 5
    assert message(problems).endswith("; and 2 more")
    assert message(problems, most=1) == "item of entry 1 of items must be text"


def test_another_error_is_its_own_text() -> None:
    assert validation_message(ValueError("The file is odd.")) == "The file is odd."
