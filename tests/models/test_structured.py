from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import InputError
from karenina_core.models import ChatReply, ask_for_correction, read_reply, read_whole_reply, structured
from karenina_core.models.structured import json_objects
from tests.models.fakes import SCHEMA, count_of, judge

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON, max_size=4)


@given(OBJECTS, st.text(alphabet="abc .\n", max_size=20))
def test_an_object_is_found_among_chatter(value: dict[str, Any], chatter: str) -> None:
    text = f"{chatter}{json.dumps(value)}{chatter}"
    assert next(json_objects(text)) == value


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    for value in json_objects(text):
        assert isinstance(value, dict)


@pytest.mark.parametrize(
    "reply",
    [
        '{"count": 8}',
        '```json\n{"count": 8}\n```',
        'Here you are:\n```\n{"count": 8}\n```\nAnything else?',
        '<think>{"count": 9}? No.</think>{"count": 8}',
        'The schema {"type": "object"} asks for {"count": 8}',
        '{"count": 8,}',
        "{'count': 8}",
        '{"count": 8',
    ],
)
def test_the_object_that_fits_is_read_however_it_is_wrapped(reply: str) -> None:
    assert read_reply(reply, count_of) == 8


def test_a_text_without_json_says_so() -> None:
    with pytest.raises(InputError, match="holds no JSON object"):
        read_reply("Eight.", count_of)


def test_the_complaint_of_the_first_object_is_reported() -> None:
    with pytest.raises(InputError, match="whole number"):
        read_reply('{"count": "eight"} {}', count_of)


def test_not_a_number_is_not_json() -> None:
    assert {"count": float("nan")} not in list(json_objects('{"count": NaN}'))


def test_a_cut_off_reply_is_never_read_as_a_whole_one() -> None:
    with pytest.raises(InputError, match="cut off"):
        read_whole_reply(ChatReply('{"count": 8}', finish_reason="length"), count_of)


@pytest.mark.parametrize("bad", ["{" * 50_000, '{"a":' * 30_000, '{"a": "' + "[" * 40_000, "```json\n{" * 5_000])
def test_a_hostile_reply_is_read_from_a_few_places_and_never_repaired(
    bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[int] = []
    read = structured._decoder.raw_decode

    def counted(text: str, place: int) -> tuple[Any, int]:
        places.append(place)
        return read(text, place)

    monkeypatch.setattr(structured._decoder, "raw_decode", counted)
    monkeypatch.setattr("json_repair.loads", lambda *_, **__: pytest.fail("it was repaired"))
    assert list(json_objects(bad)) == []
    assert 0 < len(places) <= 2 * structured.MAX_STARTS


def test_the_judge_is_shown_its_reply_the_complaint_and_the_schema() -> None:
    again = ask_for_correction(judge(), "Eight.", "count must be a whole number")
    assert [message.role for message in again.messages] == ["user", "assistant", "user"]
    assert again.messages[1].content == "Eight."
    assert "count must be a whole number" in again.messages[2].content
    assert json.dumps(SCHEMA) in again.messages[2].content
