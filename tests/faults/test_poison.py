"""Templates whose code loops, raises or searches for ever: an error row for that question, and the run goes on."""

from __future__ import annotations

import pytest

from karenina_core.runs import wanted
from karenina_core.templates import Sandbox
from tests.faults.openai_server import Reply
from tests.faults.road import TEMPLATE, Road, call_of, config, honest, islands, verdicts
from tests.security.conftest import impatient, quick_sandbox

__all__ = ["impatient", "quick_sandbox"]  # every template here runs in a sandbox that gives up early

OWN_CODE = """
class Answer(BaseAnswer):
    sign: str = Field(description="The sign that is named")

    def model_post_init(self, __context):
        self.correct = {"sign": "S2"}

    def verify(self) -> bool:
BODY
"""
PATTERN = TEMPLATE.replace("sign: str", "found: bool").replace(
    'ground_truth="S{number}", verify_with=ExactMatch()',
    'ground_truth=True, verify_with=TraceRegex(pattern=r"(a|aa)+$")',
)
POISON = {
    "loops": ["while True: pass"],
    "raises": ["raise ValueError('no')"],
    "recurses": ["return self.verify()"],
    "eats memory": ["return len('x' * 10**9) > 0"],
    "returns no verdict": ["return 'yes'"],
    "divides by zero": ["return 1 / 0 > 0"],
    "reads what is not there": ["return self.correct['typo'] == self.sign"],
}


def run_with(road: Road, template: str) -> list[str]:
    benchmark = islands(3)
    benchmark.add_answer_template("q2", template)
    run_id = road.store.runs.create(wanted(benchmark, config(road.server)), "Poison")
    road.runner.start(run_id)
    road.finish(run_id)
    return verdicts(road.store.results.all(run_id))


@pytest.mark.parametrize("body", POISON.values(), ids=POISON)
def test_poison_spoils_one_row(road: Road, body: list[str]) -> None:
    source = OWN_CODE.replace("BODY", "\n".join(f"        {line}" for line in body))
    assert run_with(road, source) == ["pass", "template_execution", "pass"]


def test_own_code_that_is_well_decides(road: Road) -> None:
    body = "        return self.sign == self.correct['sign']"
    assert run_with(road, OWN_CODE.replace("BODY", body)) == ["pass", "pass", "pass"]


def test_a_pattern_that_searches_for_ever_spoils_one_row(road: Road) -> None:
    def long_answer(request: dict[str, object]) -> Reply:
        reply = honest(request)
        return Reply(f"{reply.text} {'a' * 60}!") if call_of(request) == ("answerer", 2) else reply

    road.server.script = long_answer
    assert run_with(road, PATTERN) == ["pass", "template_execution", "pass"]


def test_a_dead_sandbox_process_is_replaced(road: Road, quick_sandbox: Sandbox) -> None:
    quick_sandbox.close()
    body = "        return self.sign == self.correct['sign']"
    assert run_with(road, OWN_CODE.replace("BODY", body)) == ["pass", "pass", "pass"]
