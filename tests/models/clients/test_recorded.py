from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from karenina_core.errors import ConfigError, InputError, ModelError
from karenina_core.models import CallServices, MemoryLedger, ModelCaller, NullLedger, Recording, bundled_recordings
from karenina_core.models.clients.recorded import RecordedClient, split_name
from karenina_core.schemas import ModelConfig
from tests.models.fakes import ask, count_of, judge

CALLS: list[dict[str, Any]] = [
    {"purpose": "answer", "model": "careful", "question_id": "q1", "reply": "Eight."},
    {"purpose": "answer", "model": "careful", "question_id": "q1", "replicate": 2, "reply": "8"},
    {"purpose": "parse", "model": "judge", "answering_model": "careful", "question_id": "q1", "reply": {"count": 8}},
    {
        "purpose": "rubric",
        "model": "judge",
        "answering_model": "careful",
        "question_id": "q1",
        "part": "Clarity",
        "reply": {"reason": "short", "value": True},
        "usage": {"input_tokens": 5, "output_tokens": 2, "cost": 0.5},
    },
]


def content(calls: list[dict[str, Any]] = CALLS, **changes: Any) -> str:
    head = {
        "format": "karenina-recording-1",
        "name": "demo",
        "title": "Demo",
        "kind": "sample",
        "note": "Hand-written.",
    }
    return json.dumps({**head, "provenance": {"made": "2026"}, "calls": calls, **changes})


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "demo.json"
    path.write_text(content(), encoding="utf-8")
    return path


def model(path: Path, entry: str) -> ModelConfig:
    return ModelConfig(interface="recorded", model_name=f"{path}/{entry}")


def test_an_answer_is_replayed(recording: Path) -> None:
    reply = asyncio.run(RecordedClient(model(recording, "careful")).complete(ask()))
    assert (reply.text, reply.source, reply.usage.cost) == ("Eight.", "recording", 0.0)
    assert reply.provenance == {"recording": "demo", "kind": "sample", "made": "2026"}


def test_replicates_are_apart(recording: Path) -> None:
    assert asyncio.run(RecordedClient(model(recording, "careful")).complete(ask(replicate=2))).text == "8"


@pytest.mark.parametrize("label", ["careful", "demo/careful", "some/folder/demo.json/careful"])
def test_the_model_under_test_is_found_by_any_of_its_labels(recording: Path, label: str) -> None:
    reply = asyncio.run(RecordedClient(model(recording, "judge")).complete(judge(answering_model=label)))
    assert reply.text == '{"count": 8}'


def test_calls_about_one_trait_are_found_by_its_name(recording: Path) -> None:
    reply = asyncio.run(RecordedClient(model(recording, "judge")).complete(ask(purpose="rubric", part="Clarity")))
    assert json.loads(reply.text) == {"reason": "short", "value": True}
    assert (reply.usage.input_tokens, reply.usage.cost) == (5, 0.0)


@pytest.mark.parametrize("changes", [{"question_id": "q2"}, {"replicate": 3}, {"purpose": "abstention"}])
def test_what_was_not_recorded_is_said_to_be_missing(recording: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="no such reply") as caught:
        asyncio.run(RecordedClient(model(recording, "careful")).complete(ask(**changes)))
    assert caught.value.category == "missing_recording"


def test_a_recorded_judge_is_not_asked_again(recording: Path) -> None:
    def never(data: Any) -> int:
        raise InputError("no")

    async def extract() -> None:
        await ModelCaller(CallServices(NullLedger())).complete_json(model(recording, "judge"), judge(), never)

    with pytest.raises(ModelError, match="asked once"):
        asyncio.run(extract())


def test_a_changed_recording_is_not_hidden_by_the_ledger(recording: Path) -> None:
    ledger, request = MemoryLedger(), judge()

    def extracted() -> int:
        return asyncio.run(
            ModelCaller(CallServices(ledger)).complete_json(model(recording, "judge"), request, count_of)
        )[0]

    assert extracted() == 8
    recording.write_text(content([{**CALLS[2], "reply": {"count": 6, "note": "corrected"}}]), encoding="utf-8")
    assert extracted() == 6


def test_entries_are_listed_by_what_they_do(recording: Path) -> None:
    loaded = Recording.load(str(recording))
    assert (loaded.entries(), loaded.entries("parse")) == (["careful"], ["judge"])


def test_an_unknown_entry_is_refused_with_those_there_are(recording: Path) -> None:
    with pytest.raises(ConfigError, match="careful, judge"):
        RecordedClient(model(recording, "careless"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a recording"),
        (content(format="other"), "not a recording"),
        (content(kind="truth"), "kind"),
        (content([{**CALLS[0], "replicate": 0}]), "replicate"),
        (content([CALLS[0], CALLS[0]]), "twice"),
        (content().replace("Eight.", "\\ud800"), "not valid JSON"),
    ],
)
def test_other_files_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Recording.from_json(text)


@pytest.mark.parametrize("name", ["nosuch", "../demo", "no/such.json", ""])
def test_an_unknown_recording_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        Recording.load(name)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("demo/careful", ("demo", "careful")),
        ("demo/openai/gpt-4.1", ("demo", "openai/gpt-4.1")),
        ("/a/b.json/openai/gpt", ("/a/b.json", "openai/gpt")),
    ],
)
def test_a_name_is_a_recording_and_an_entry(text: str, parts: tuple[str, str]) -> None:
    assert split_name(text) == parts


@pytest.mark.parametrize("text", ["demo", "demo/", "/careful", "/a/b.json"])
def test_a_name_without_an_entry_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        split_name(text)


@pytest.mark.parametrize("name", bundled_recordings())
def test_bundled_recordings_are_whole(name: str) -> None:
    recording = Recording.load(name)
    assert recording.name == name
    assert recording.note and recording.entries()
