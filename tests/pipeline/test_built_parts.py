"""The parts of a result that are built without a check are what the check would have made of them."""

from __future__ import annotations

import asyncio
import json

from karenina_core.models import CallServices, ChatReply, ChatRequest, ModelCaller, NullLedger
from karenina_core.pipeline import Pipeline
from karenina_core.schemas import ModelConfig, Usage, VerificationConfig, VerificationResult, built
from tests.performance import workload


class Repeating:
    """Answers with the payload of the question, and fills the form with it."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config

    async def complete(self, request: ChatRequest) -> ChatReply:
        truth = workload.truths(1)[0]
        text = "BCL2 in 100 patients, approved on 1 January 2001." if request.schema is None else json.dumps(truth)
        return ChatReply(text, usage=Usage(input_tokens=3, output_tokens=2, calls=1))

    async def aclose(self) -> None:
        """Nothing is held."""


def evaluated() -> VerificationResult:
    benchmark, model = workload.benchmark(1), workload.model(1)
    config = VerificationConfig(answering_models=[model], parsing_models=[model])

    async def work() -> VerificationResult:
        async with ModelCaller(CallServices(NullLedger()), Repeating) as caller:
            pipeline = Pipeline(benchmark, config, caller)
            context = await pipeline.generate(benchmark.get_question_ids()[0], model, 1)
            return await pipeline.judge(context, model)

    return asyncio.run(work())


def test_a_result_of_the_pipeline_is_valid_and_complete() -> None:
    result = evaluated()
    assert result.verdict == "pass"
    checked = VerificationResult.model_validate(result.model_dump())
    assert checked == result
    assert list(result.__dict__) == list(VerificationResult.model_fields)


def test_every_built_part_has_all_fields_in_their_order() -> None:
    result = evaluated()
    assert result.answer is not None and result.answer.call is not None and result.template is not None
    parts = [result.question, result.answer, result.answer.call, result.template, *result.template.fields]
    parts += [*result.template.calls, result.usage, result.answer.call.usage, *result.stages]
    assert all(list(part.__dict__) == list(type(part).model_fields) for part in parts)


def test_a_built_part_can_be_copied_compared_and_written() -> None:
    part = built(Usage, input_tokens=1, output_tokens=2, cost=None, calls=1, cached_calls=0)
    checked = Usage(input_tokens=1, output_tokens=2, calls=1)
    assert part == checked
    assert part.model_copy(update={"calls": 2}) == Usage(input_tokens=1, output_tokens=2, calls=2)
    assert part.model_dump_json() == checked.model_dump_json()
