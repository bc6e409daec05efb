"""The whole road of a run: store, runner, pipeline, transport, and a provider on the loopback interface."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Engine, Progress, Store, wanted
from karenina_core.schemas import ModelConfig, VerificationConfig, VerificationResult
from tests.faults.openai_server import OpenAIServer, Reply

PATIENCE = 60  # seconds a test waits before it fails; a busy machine is no failure
Role = Literal["answerer", "judge"]
Call = tuple[str, int]
"""What a request asks: the name of the model, the number of the question."""

TEMPLATE = """
class Answer(BaseAnswer):
    sign: str = VerifiedField(description="The sign that is named", ground_truth="S{number}", verify_with=ExactMatch())
"""
_NUMBER = re.compile(r"(?:island|sign S)\D*(\d+)")


def islands(questions: int = 3, template: str = TEMPLATE) -> Benchmark:
    """Questions 1, 2, 3 and so on, whose answers are S1, S2, S3."""
    benchmark = Benchmark.create("Islands")
    for number in range(1, questions + 1):
        source = template.replace("{number}", str(number))
        benchmark.add_question(f"Which sign has island {number}?", f"S{number}", source, question_id=f"q{number}")
    return benchmark


def call_of(request: dict[str, Any]) -> Call:
    """Return what a request asks."""
    found = _NUMBER.search("\n".join(message["content"] for message in request["messages"]))
    assert found, request
    return request["model"], int(found.group(1))


def honest(request: dict[str, Any]) -> Reply:
    """Answer rightly, and judge rightly."""
    model, number = call_of(request)
    if model.startswith("judge"):
        return Reply(json.dumps({"sign": f"S{number}"}))
    return Reply(f"The island has the sign S{number}.")


def first(*faults: Reply, of: str = "answerer", question: int | None = None) -> Callable[[dict[str, Any]], Reply]:
    """Fail the first requests to one model, about one question or any, then be honest."""
    waiting = list(faults)

    def reply(request: dict[str, Any]) -> Reply:
        model, number = call_of(request)
        if waiting and model == of and question in (None, number):
            return waiting.pop(0)
        return honest(request)

    return reply


def always(fault: Reply, of: str = "answerer", question: int | None = None) -> Callable[[dict[str, Any]], Reply]:
    """Fail every request to one model, about one question or all."""

    def reply(request: dict[str, Any]) -> Reply:
        model, number = call_of(request)
        return fault if model == of and question in (None, number) else honest(request)

    return reply


def model(server: OpenAIServer | str, name: str = "answerer", **settings: Any) -> ModelConfig:
    """Return a model that a server plays; its name is what the server sees."""
    url = server if isinstance(server, str) else server.url
    return ModelConfig.model_validate(
        {"id": name, "interface": "openai_endpoint", "model_name": name, "endpoint_base_url": url, **settings}
    )


def config(server: OpenAIServer, **settings: Any) -> VerificationConfig:
    """Return a configuration with one answerer and one judge, both played by the server."""
    models = {"answering_models": [model(server)], "parsing_models": [model(server, "judge")]}
    return VerificationConfig.model_validate({**models, "request_timeout": 20, **settings})


class Road:
    """Runs over one store, with one provider."""

    def __init__(self, store: Store, runner: Engine, server: OpenAIServer) -> None:
        self.store = store
        self.runner = runner
        self.server = server

    def begin(self, questions: int = 3, template: str = TEMPLATE, **settings: Any) -> str:
        """Start a run and return its id."""
        run_id = self.create(questions, template, **settings)
        self.runner.start(run_id)
        return run_id

    def create(self, questions: int = 3, template: str = TEMPLATE, **settings: Any) -> str:
        """Plan a run and return its id."""
        return self.store.runs.create(wanted(islands(questions, template), config(self.server, **settings)), "Islands")

    def finish(self, run_id: str) -> Progress:
        """Wait for the end of a run."""
        seen = self.runner.wait(run_id, PATIENCE)
        assert not seen.active, f"still {seen.status}: {seen}"
        return seen

    def run(self, questions: int = 3, template: str = TEMPLATE, **settings: Any) -> list[VerificationResult]:
        """Carry a run out and return its results, one for every wanted row."""
        run_id = self.begin(questions, template, **settings)
        seen = self.finish(run_id)
        results = self.store.results.all(run_id)
        assert (seen.status, seen.percent, len(results)) == ("completed", 100.0, seen.total), seen
        return results

    def resume(self, run_id: str) -> list[VerificationResult]:
        """Resume a run and return its results when it has ended."""
        self.runner.resume(run_id)
        self.finish(run_id)
        return self.store.results.all(run_id)

    def wait_for(self, run_id: str, status: str) -> Progress:
        """Wait until a run has a status."""
        for _ in range(PATIENCE * 20):
            seen = self.runner.wait(run_id, 0.05)
            if seen.status == status:
                return seen
        raise AssertionError(f"never {status}: {seen}")

    @property
    def calls(self) -> list[Call]:
        """Everything that was asked, in order of arrival."""
        return [call_of(request) for request in self.server.requests]


def wait_until(condition: Callable[[], object]) -> None:
    """Return when something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


def verdicts(results: Sequence[VerificationResult]) -> list[str]:
    """Return the verdicts in order, for rows without one the category of their failure."""
    return [result.failure.category if result.failure else result.verdict for result in results]
