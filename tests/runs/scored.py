"""A stored run whose answers can be scored, and a judge on the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from karenina_core.runs import Store, wanted
from karenina_core.schemas import AnswerPart, ModelConfig, Rubric, RubricPart, RubricTrait, VerificationConfig
from tests.faults.openai_server import OpenAIServer, Reply
from tests.runs.fakes import plain_result, small_benchmark

CLARITY = RubricTrait(name="Clarity", description="How clear?")


def judge(server: OpenAIServer, name: str = "judge") -> ModelConfig:
    server.script = assessing
    return ModelConfig(id=name, interface="openai_endpoint", model_name=name, endpoint_base_url=server.url)


def assessing(sent: dict[str, Any]) -> Reply:
    """Give every score trait a 4, and list the first known item for metric traits."""
    prompt = sent["messages"][0]["content"]
    if "Known items" in prompt:
        item = prompt.split("Known items:\n- ")[1].splitlines()[0]
        return Reply(json.dumps({"items": [{"item": item, "matches": item}]}))
    return Reply(json.dumps({"reason": "Because.", "value": 4}))


def finished_run(
    store: Store,
    judges: Sequence[ModelConfig],
    questions: int = 3,
    rubric: Rubric | None = None,
    models: int = 1,
    rubric_part: RubricPart | None = None,
) -> str:
    """Store a run that has an answer to every question, and nothing else to say of it."""
    benchmark = small_benchmark(questions)
    if rubric is not None:
        benchmark.set_global_rubric(rubric)
    answering = [f"lab/model-{number}" for number in range(1, models + 1)]
    config = VerificationConfig(answering_models=answering, parsing_models=list(judges))
    run_id = store.runs.create(wanted(benchmark, config), "Finished")
    results = [
        plain_result(
            question_id,
            model,
            judged.id,
            answer=AnswerPart(text=f"It is {question_id} by {model}."),
            rubric=rubric_part or RubricPart(),
        )
        for question_id in benchmark.get_question_ids()
        for model in answering
        for judged in judges
    ]
    store.results.save(run_id, results)
    store.runs.set_status(run_id, "completed")
    return run_id
