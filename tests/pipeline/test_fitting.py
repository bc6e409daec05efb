"""What does not fit in a judge's reply is said in words."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.errors import InputError
from karenina_core.pipeline.fitting import fitting
from karenina_core.pipeline.metrics import ExtractedItems
from karenina_core.pipeline.stages.abstention_check import AbstentionReply


def complaint(data: Any, form: Any = ExtractedItems) -> str:
    with pytest.raises(InputError) as caught:
        fitting(form)(data)
    return caught.value.why


def test_a_reply_that_fits_is_read() -> None:
    reply = fitting(ExtractedItems)({"items": [{"item": "gold", "matches": None}]})
    assert [item.item for item in reply.items] == ["gold"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (["gold"], 'It must be one JSON object, not ["gold"].'),
        ({"found": []}, 'The field "items" is missing.'),
        ({"items": "gold"}, 'The field "items" must be a list, not "gold".'),
        ({"items": ["gold"]}, 'Entry 1 of "items" must be one JSON object, not "gold".'),
        ({"items": [{"item": "gold"}, {"item": 5}]}, 'The field "item" of entry 2 of "items" must be text, not 5.'),
        (
            {"items": [{"item": "gold", "class": "metal"}]},
            'The field "class" of entry 1 of "items" must be one of the values that are asked for, not "metal".',
        ),
        ({"items": [{"item": "x"}] * 501}, 'The field "items" has more than 500 entries.'),
    ],
)
def test_it_is_said_which_part_does_not_fit_and_what_it_must_be(data: Any, said: str) -> None:
    assert complaint(data) == said


def test_yes_or_no_is_true_or_false() -> None:
    assert complaint({"abstained": "perhaps"}, AbstentionReply) == (
        'The field "abstained" must be true or false, not "perhaps".'
    )


def test_of_many_problems_the_first_are_named_and_the_others_counted() -> None:
    said = complaint({"items": [{"item": number} for number in range(7)]})
    assert said.count("must be text") == 5
    assert said.endswith("There are 2 more problems.")


def test_a_long_value_is_quoted_in_part() -> None:
    assert len(complaint({"items": "gold " * 100})) < 120
