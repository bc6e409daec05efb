"""Recording a run of real models, here played by a provider on the loopback interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_config
from karenina_core.demo.record import record
from karenina_core.errors import InputError
from karenina_core.models import Recording
from karenina_core.runs import Store, run_verification
from karenina_core.schemas import (
    MetricRubricTrait,
    ModelConfig,
    Rubric,
    RubricTrait,
    VerificationConfig,
    VerificationResultSet,
)
from tests.faults.openai_server import OpenAIServer, Reply, failing

TEMPLATE = """class Answer(BaseAnswer):
    organs: int = VerifiedField(
        description="The number of organs that the response names", ground_truth=2, verify_with=NumericExact()
    )
"""
RUBRIC = Rubric(
    traits=[
        RubricTrait(name="Polite", kind="binary"),
        MetricRubricTrait(name="Organs", metrics=["recall"], tp_instructions=["liver", "kidney"]),
        MetricRubricTrait(name="Glands", metrics=["recall"], tp_instructions=["thyroid"]),
    ]
)
REPLIES = {
    "organs": {"organs": 2},
    "polite": {"polite": {"reason": "It is matter-of-fact.", "value": True}},
    "items": {"items": [{"item": "liver", "matches": "liver"}]},
    "abstained": {"reasoning": "It names organs.", "abstained": False},
}


def provider(sent: dict[str, Any]) -> Reply:
    """Answer in plain text, judge in the form that the request's schema asks for."""
    schema = json.dumps(sent.get("response_format") or {})
    return Reply(next((json.dumps(REPLIES[key]) for key in REPLIES if f'"{key}"' in schema), "Liver and kidney."))


@pytest.fixture
def benchmark() -> Benchmark:
    made = Benchmark.create(name="Organs")
    made.add_question("Name two organs.", "liver, kidney", answer_template=TEMPLATE, rubric=RUBRIC)
    return made


@pytest.fixture
def config(openai_server: OpenAIServer) -> VerificationConfig:
    openai_server.script = provider
    model = {"interface": "openai_endpoint", "endpoint_base_url": openai_server.url}
    return VerificationConfig(
        answering_models=[ModelConfig(id="tested", model_name="gpt-a", **model)],
        parsing_models=[ModelConfig(id="judging", model_name="gpt-j", max_retries=1, **model)],
        abstention_enabled=True,
        max_attempts=1,
    )


def replayed(recording: dict[str, Any], benchmark: Benchmark, folder: Path) -> VerificationResultSet:
    path = folder / "organs.json"
    path.write_text(json.dumps(recording), encoding="utf-8")
    entries = Recording.load(str(path))
    config = VerificationConfig(
        answering_models=[_entry(path, name) for name in entries.entries("answer")],
        parsing_models=[_entry(path, "judging")],
        abstention_enabled=True,
    )
    with Store.open(folder / "replay.db") as store:
        return run_verification(benchmark, config, store=store)


def _entry(path: Path, name: str) -> ModelConfig:
    return ModelConfig(interface="recorded", model_name=f"{path}/{name}")


def test_a_recorded_run_can_be_replayed(config: VerificationConfig, benchmark: Benchmark, tmp_path: Path) -> None:
    recording = record(config, benchmark, "organs", "Organs")
    (result,) = replayed(recording, benchmark, tmp_path)
    assert (result.verdict, result.rubric.scores) == ("pass", {"Polite": True})
    assert result.rubric.metrics == {"Organs": {"recall": 0.5}, "Glands": {"recall": 0.0}}


def test_what_was_sent_and_used_is_kept(config: VerificationConfig, benchmark: Benchmark) -> None:
    answer = next(call for call in record(config, benchmark, "organs", "")["calls"] if call["purpose"] == "answer")
    assert answer["messages"] == [{"role": "user", "content": "Name two organs."}]
    assert (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]) == (11, 7)


def test_provenance_names_models_and_parameters(config: VerificationConfig, benchmark: Benchmark) -> None:
    recording = record(config, benchmark, "organs", "Organs", note="A test.")
    tested = recording["provenance"]["models"]["tested"]
    assert (recording["kind"], recording["note"], recording["title"]) == ("recording", "A test.", "Organs")
    assert (tested["model"], tested["parameters"]) == ("gpt-a", {"temperature": 0.1, "max_tokens": 16_384})
    assert recording["provenance"]["recorded"].startswith("20")


def test_a_judge_that_never_replied_json_is_recorded_as_it_was(
    config: VerificationConfig, benchmark: Benchmark, openai_server: OpenAIServer, tmp_path: Path
) -> None:
    openai_server.script = [Reply("I would say that it is right.")]
    recording = record(config, benchmark, "organs", "Organs")
    (result,) = replayed(recording, benchmark, tmp_path)
    assert result.failure and result.failure.category == "parsing"


def test_a_judge_that_was_asked_again_is_recorded_with_its_last_reply(
    config: VerificationConfig, benchmark: Benchmark, openai_server: OpenAIServer, tmp_path: Path
) -> None:
    def hesitant(sent: dict[str, Any]) -> Reply:
        first = "response_format" in sent and len(sent["messages"]) == 2
        return Reply("Let me think.") if first else provider(sent)

    openai_server.script = hesitant
    (result,) = replayed(record(config, benchmark, "organs", "Organs"), benchmark, tmp_path)
    assert result.verdict == "pass"


def test_a_call_that_failed_is_not_recorded(
    config: VerificationConfig, benchmark: Benchmark, openai_server: OpenAIServer
) -> None:
    openai_server.script = [failing(500)]
    assert record(config, benchmark, "organs", "Organs")["calls"] == []


def test_replays_are_not_recorded_again(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="cannot be recorded"):
        record(demo_config(), benchmark, "again", "Again")
