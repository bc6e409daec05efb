"""The workload of the benchmarks: one answer call, one judge call, three deterministic checks, for each question.

A question carries its own payload between `<<` and `>>`, which the provider repeats. So every evaluation must pass.
"""

from __future__ import annotations

import datetime
import json
from typing import Any

from karenina_core import Benchmark
from karenina_core.schemas import ModelConfig

TARGETS = ("BCL2", "KRAS", "EGFR", "TP53", "BRAF", "ALK", "MET", "RET", "HER2", "CDK4", "JAK2", "FLT3", "IDH1", "MTOR")
FIELDS = {
    "target": "The protein target named in the response",
    "count": "The number of patients given in the response",
    "approved": "The approval date, as YYYY-MM-DD",
}
SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "integer" if name == "count" else "string", "description": text} for name, text in FIELDS.items()
    },
    "required": list(FIELDS),
    "additionalProperties": False,
}


def truths(count: int) -> list[dict[str, Any]]:
    """Return the truth of every question."""
    first = datetime.date(2001, 1, 1)
    return [
        {
            "target": TARGETS[number % len(TARGETS)],
            "count": 100 + (number * 37) % 9000,
            "approved": (first + datetime.timedelta(days=(number * 13) % 9000)).isoformat(),
        }
        for number in range(count)
    ]


def question(number: int, truth: dict[str, Any]) -> str:
    """Return the text of a question."""
    return (
        f"Question {number}: which protein does compound C-{number:05d} bind, how many patients were in its pivotal "
        f"trial and when was it approved? <<{json.dumps(truth, separators=(',', ':'))}>>"
    )


def template(truth: dict[str, Any]) -> str:
    """Return the answer template of a question."""
    return f'''
class Answer(BaseAnswer):
    target: str = VerifiedField(
        description="{FIELDS["target"]}", ground_truth="{truth["target"]}",
        verify_with=ExactMatch(normalize=["lowercase", "strip"]),
    )
    count: int = VerifiedField(
        description="{FIELDS["count"]}", ground_truth={truth["count"]}, verify_with=NumericExact()
    )
    approved: str = VerifiedField(
        description="{FIELDS["approved"]}", ground_truth="{truth["approved"]}", verify_with=DateMatch()
    )
'''


def benchmark(count: int) -> Benchmark:
    """Return a benchmark with that many questions, each with a template of its own."""
    made = Benchmark.create(name="Performance")
    for number, truth in enumerate(truths(count)):
        made.add_question(question(number, truth), raw_answer=truth["target"], answer_template=template(truth))
    return made


def model(port: int, **settings: Any) -> ModelConfig:
    """Return the provider on this port as a model."""
    address = f"http://127.0.0.1:{port}/v1"
    return ModelConfig.model_validate(
        {"interface": "openai_endpoint", "model_name": "mock", "endpoint_base_url": address, **settings}
    )
