from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import ConfigError, InputError, ModelError
from karenina_core.models import CallServices, MemoryLedger, ModelCaller, parse_answers, read_answers
from karenina_core.models.clients.manual import ManualClient
from karenina_core.schemas import ModelConfig
from tests.models.fakes import ask, judge


def model(answers: dict[str, str] | None) -> ModelConfig:
    return ModelConfig(interface="manual", model_name="gpt-elsewhere", manual_traces=answers)


@pytest.mark.parametrize("key", ["q1", "How many legs has a spider?"])
def test_an_answer_is_found_by_id_or_by_text(key: str) -> None:
    reply = asyncio.run(ManualClient(model({key: "Eight."})).complete(ask()))
    assert (reply.text, reply.source, reply.usage.cost) == ("Eight.", "manual", 0.0)


@pytest.mark.parametrize("answers", [{}, {"q2": "Six."}, {"q1": " "}])
def test_a_question_without_an_answer_is_missing(answers: dict[str, str]) -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(ManualClient(model(answers)).complete(ask()))
    assert caught.value.category == "missing_recording"


def test_prepared_answers_cannot_judge() -> None:
    with pytest.raises(ConfigError, match="cannot judge"):
        asyncio.run(ManualClient(model({"q1": "Eight."})).complete(judge()))


def test_answers_are_known_later_by_the_stored_configuration() -> None:
    ledger = MemoryLedger()

    def answer(config: ModelConfig) -> str:
        return asyncio.run(ModelCaller(CallServices(ledger)).complete(config, ask()))[0].text

    first, second = model({"q1": "Six."}), model({"q1": "Eight."})
    assert [answer(first), answer(second)] == ["Six.", "Eight."]
    # Stored without the answers; each finds those of its own file, though both have the same label.
    assert [answer(ModelConfig.model_validate(given.model_dump())) for given in (first, second)] == ["Six.", "Eight."]


def test_given_answers_are_not_filled_up_from_an_earlier_run() -> None:
    ledger = MemoryLedger()
    asyncio.run(ModelCaller(CallServices(ledger)).complete(model({"q1": "Six."}), ask()))
    with pytest.raises(ModelError, match="has no answer"):
        asyncio.run(ModelCaller(CallServices(ledger)).complete(model({"q2": "Eight."}), ask()))


def test_a_json_object_holds_answers_by_question(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text('{"q1": "Eight.", "q2": "Six."}', encoding="utf-8")
    assert read_answers(path) == {"manual": {"q1": "Eight.", "q2": "Six."}}


def test_a_json_object_may_hold_several_models() -> None:
    assert parse_answers(b'{"a": {"q1": "8"}, "b": {"q1": "6"}}', "x.json") == {"a": {"q1": "8"}, "b": {"q1": "6"}}


def test_a_table_holds_answers_by_model(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes('\ufeffQuestion,Answer,Model\r\n"How many, really?","Eight,\r\nI think",a\r\nq2,6,\r\n'.encode())
    assert read_answers(path) == {"a": {"How many, really?": "Eight,\r\nI think"}, "manual": {"q2": "6"}}


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_seen(delimiter: str) -> None:
    table = f"question_id{delimiter}answer\nq1{delimiter}Eight, or so"
    assert parse_answers(table.encode(), "a.csv") == {"manual": {"q1": "Eight, or so"}}


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"question,reply\nq1,8", "a.csv", "lacks a column"),
        (b"question,answer\n", "a.csv", "no answers"),
        (b"question,answer\nq1,8\nq1,9", "a.csv", "Line 3 answers 'q1' a second time"),
        (b"question,answer\n,8", "a.csv", "Line 2 has no question"),
        (b"question,answer\nq1", "a.csv", "Line 2 has no answer"),
        (b'question,answer\nq1,"8', "a.csv", "cannot be read"),
        ("question,answer\nq1,acht Füße".encode("latin-1"), "a.csv", "UTF-8"),
        (b'["8"]', "a.json", "JSON object"),
        (b'{"q1": 8}', "a.json", "not a text"),
        (b"{", "a.json", "JSON"),
        (b"{}", "a.json", "no answers"),
    ],
)
def test_other_files_are_refused_with_the_place(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_answers(data, name)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_answers(tmp_path / "none.csv")


@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.json"]))
def test_no_file_breaks_the_reader(data: bytes, name: str) -> None:
    try:
        answers = parse_answers(data, name)
    except InputError:
        return
    assert all(isinstance(text, str) for texts in answers.values() for text in texts.values())
