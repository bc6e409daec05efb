"""The whole road of a stranger's file: bytes, benchmark, check, run, store, tables and exports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karenina_core.analysis import (
    calls_frame,
    fields_frame,
    left_out_sentences,
    model_sentences,
    read_results,
    results_frame,
    to_csv,
    to_json,
    traits_frame,
)
from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.models import ChatRequest
from karenina_core.runs import Store, wanted
from karenina_core.schemas import VerificationConfig, VerificationResult
from tests.pipeline.scripted import ANSWERER, JUDGE, evaluate

QUESTION = "What does venetoclax target?"
DECLARATIVE = """class Answer(BaseAnswer):
    target: str = VerifiedField(description="The target", ground_truth="BCL2", verify_with=ExactMatch())
"""


def own_code(*lines: str, before: str = "", granular: str = "") -> str:
    """Return a template with one field and the given lines as its `verify`."""
    more = f"\n    def verify_granular(self):\n        return {granular}\n" if granular else "\n"
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"{before}\nclass Answer(BaseAnswer):\n    x: str = Field(description='d')\n    def verify(self):\n{body}{more}"
    )


def file_of(template: str | None = DECLARATIVE, question: str = QUESTION, **properties: Any) -> bytes:
    """Return the bytes of a benchmark file with one question whose template is `template`, however bad."""
    made = Benchmark.create("Stranger")
    made.add_question(question, "B-cell lymphoma 2", answer_template=DECLARATIVE)
    document = json.loads(made.to_json())
    item = document["dataFeedElement"][0]["item"]
    item["hasPart"]["text"] = template
    item["additionalProperty"] += [
        {"@type": "PropertyValue", "name": name, "value": value} for name, value in properties.items()
    ]
    return json.dumps(document).encode()


def script(**replies: Any) -> Callable[[ChatRequest], Any]:
    """Reply by purpose."""
    table = {"answer": "It targets BCL2.", "parse": {"target": "BCL2", "x": "a"}, **replies}
    return lambda request: table[request.purpose]


@dataclass
class Arrival:
    """What came out at the end of the road."""

    benchmark: Benchmark
    result: VerificationResult
    csv: str
    json: bytes


def travel(data: bytes, folder: Path, replies: Callable[[ChatRequest], Any] | None = None, **settings: Any) -> Arrival:
    """Take a file all the way; what is stored and exported is read back."""
    benchmark, _ = load_checkpoint(data)
    benchmark.check()
    seen = asyncio.run(evaluate(benchmark, replies or script(), **settings))
    config = VerificationConfig(answering_models=[ANSWERER], parsing_models=[JUDGE])
    with Store.open(folder / "road.db") as store:
        run_id = store.runs.create(wanted(benchmark, config))
        store.results.save(run_id, [seen])
        [result] = store.results.all(run_id)
    for frame in (results_frame, fields_frame, traits_frame, calls_frame):
        frame([result])
    model_sentences([result])
    left_out_sentences([result])
    exported = to_json([result])
    assert len(read_results(exported)) == 1
    return Arrival(benchmark, result, to_csv([result]).decode("utf-8-sig"), exported)


def assert_not_scored(result: VerificationResult, category: str, line: int | None = None) -> None:
    """Fail when an error counts as a right or wrong answer, or does not say where it is."""
    assert (result.verdict, result.verify_result) == ("not_evaluated", None)
    assert result.failure is not None
    assert result.failure.category == category
    assert result.failure.reason
    if line is not None:
        assert result.failure.line == line
