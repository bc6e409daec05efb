"""Files made to break the reader: each is refused with a code, or read."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.errors import CheckpointError
from karenina_core.models import Recording, parse_answers
from tests.security.road import QUESTION, file_of, script, travel


def zipped(member: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return made.getvalue()


REFUSED: dict[str, tuple[Any, str]] = {
    "empty": (b"", "empty"),
    "blank": (b" \r\n\t ", "empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "empty"),
    "truncated": (b'{"@type": "DataFeed", "name"', "json"),
    "trailing garbage": (b"{} {}", "json"),
    "ten million brackets": (lambda: b"[" * 10_000_000, "too_complex"),
    "five thousand deep": (b"[" * 5_000 + b"]" * 5_000, "json"),
    "deep objects": (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "json"),
    "twenty megabytes of empty lists": (lambda: b"[" + b"[]," * 6_600_000 + b"[]]", "too_complex"),
    "twenty-one megabytes": (lambda: b'"' + b"x" * 21_000_000 + b'"', "too_large"),
    "NaN": (b'{"name": NaN}', "json"),
    "Infinity": (b'{"name": -Infinity}', "json"),
    "a number beyond all floats": (b'{"name": 1e999}', "json"),
    "a million digits": (lambda: b'{"name": ' + b"9" * 1_000_000 + b"}", "json"),
    "half a surrogate pair": (b'{"name": "\\ud800"}', "json"),
    "half a surrogate pair as a key": (b'{"\\udfff": 1}', "json"),
    "raw surrogate bytes": (b'{"name": "\xed\xa0\x80"}', "encoding"),
    "latin-1": ('{"name": "Größe"}'.encode("latin-1"), "encoding"),
    "UTF-16": ('{"name": "x"}'.encode("utf-16"), "encoding"),
    "UTF-7": (b'{"name": "+ADw-script"', "json"),
    "a zip": (zipped("benchmark.jsonld", b"{}"), "zip"),
    "a zip bomb": (lambda: zipped("benchmark.jsonld", b"\0" * 150_000_000), "zip"),
    "a zip that climbs": (zipped("../../evil", b"x"), "zip"),
    "a damaged zip": (zipped("a", b"x")[:20], "zip"),
    "one text of 300 KB": (lambda: json.dumps({"name": "x" * 300_000}).encode(), "text_too_long"),
    "a control character in a text": (b'{"name": "\x01"}', "json"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "encoding"),
    "a pickle": (b"\x80\x04\x95\x1e\x00\x00\x00", "encoding"),
    "Python instead of JSON": (b"__import__('os').system('id')", "json"),
    "a list of benchmarks": (b"[]", "checkpoint"),
    "a bare text": (b'"DataFeed"', "checkpoint"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_with_its_reason(name: str) -> None:
    data, code = REFUSED[name]
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(data() if callable(data) else data)
    assert caught.value.code == code or code == "checkpoint"
    assert caught.value.what


def test_broken_json_is_located_by_line_and_column() -> None:
    with pytest.raises(CheckpointError, match=r"line 2 column \d+"):
        load_checkpoint(b'{"name": 1,\n "b": x}')


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    assert travel(b"\xef\xbb\xbf" + file_of(), tmp_path).result.verdict == "pass"


def test_the_last_of_repeated_keys_counts() -> None:
    data = file_of().replace(b'"name": "Stranger"', b'"name": "First", "name": "Last"')
    assert load_checkpoint(data)[0].name == "Last"


def test_more_than_twenty_thousand_questions_are_refused_in_words() -> None:
    document = json.loads(file_of())
    document["dataFeedElement"] *= 20_001
    with pytest.raises(CheckpointError, match="20,001 questions") as caught:
        load_checkpoint(json.dumps(document).encode())
    assert caught.value.code == "too_many_questions"


def test_two_questions_with_the_same_id_both_stay() -> None:
    document = json.loads(file_of())
    twin = json.loads(json.dumps(document["dataFeedElement"][0]).replace(QUESTION, "Another?"))
    document["dataFeedElement"].append(twin)
    benchmark, repairs = load_checkpoint(json.dumps(document).encode())
    assert len(set(benchmark.get_question_ids())) == len(benchmark) == 2
    assert repairs


@pytest.mark.parametrize(
    "value", [None, 7, [], {}, [[]], {"a": None}, True, "", "\0", "x" * 1000], ids=lambda value: repr(value)[:20]
)
@pytest.mark.parametrize("place", ["dataFeedElement", "rating", "name", "creator", "version", "additionalProperty"])
def test_a_value_of_the_wrong_kind_is_repaired_or_refused(place: str, value: Any) -> None:
    document = json.loads(file_of())
    document[place] = value
    try:
        benchmark, _ = load_checkpoint(json.dumps(document).encode())
    except CheckpointError as error:
        assert error.what
    else:
        benchmark.check()
        assert Benchmark.from_json(benchmark.to_json()).to_json() == benchmark.to_json()


@pytest.mark.parametrize("name", ["__class__", "__init__", "__proto__", "constructor", "model_config", "../../x"])
def test_names_that_mean_something_to_programs_are_just_names(name: str, tmp_path: Path) -> None:
    arrival = travel(file_of(**{name: {"__reduce__": "x"}}), tmp_path)
    assert arrival.result.verdict == "pass"
    assert name in arrival.benchmark.to_json()


def test_a_question_of_control_and_bidi_characters_goes_all_the_way(tmp_path: Path) -> None:
    text = "\u202egpj.exe \x07\x1b[31m\u2066\U000e0041 What?"
    assert travel(file_of(question=text), tmp_path).result.question.question == text


@pytest.mark.parametrize("data", [b"\0" * 100, b"PK\x03\x04", b"[1]", b'{"a": {"b": 1}}', b'{"a": ["x"]}', b"\xff\xfe"])
def test_prepared_answers_that_are_none_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_answers(data, "answers.json")


@pytest.mark.parametrize("data", [b"a,b\n1,2", b"question,answer\n" + b'"' * 99_999, b"\0\0\0", b"\xff\xfeq"])
def test_a_damaged_table_of_answers_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_answers(data, "answers.csv")


@pytest.mark.parametrize("data", [b"{}", b"[" * 10**6, b'{"format": "x"}', b'{"calls": [{"reply": 1}]}'])
def test_a_recording_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Recording.from_json(data)


def test_answers_by_hand_reach_the_page_only_as_text(tmp_path: Path) -> None:
    arrival = travel(file_of(), tmp_path, script(answer="<img src=x onerror=alert(1)>"))
    assert arrival.result.answer is not None
    assert arrival.result.answer.text == "<img src=x onerror=alert(1)>"
