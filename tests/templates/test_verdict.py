"""The bare verdict is the verdict of the whole evaluation."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.demo import demo_benchmark
from karenina_core.templates import read_template

PATTERN = """
class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=ExactMatch())

    def model_post_init(self, __context):
        self.regex = {"cited": {"pattern": "NCT", "expected": "NCT", "match_type": "contains"}}
"""
SOURCES = [question.answer_template or "" for question in demo_benchmark().get_all_questions()] + [PATTERN]
ANSWERS = ["", "See NCT01234567 [1].", "I do not know."]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("found", ["the truth", "nothing", "something else"])
def test_the_bare_verdict_is_that_of_the_evaluation(source: str, answer: str, found: str) -> None:
    template = read_template(source)
    values = found_by_the_judge(source, found)
    assert template.verdict(values, answer) == template.evaluate(values, answer).verdict


def test_both_verdicts_occur_among_them() -> None:
    verdicts = {
        read_template(source).verdict(found_by_the_judge(source, "the truth"), answer)
        for source in SOURCES
        for answer in ANSWERS
    }
    assert {True, False} <= verdicts


def found_by_the_judge(source: str, found: str) -> dict[str, Any]:
    truth = {item.name: item.ground_truth for item in read_template(source).spec.judged}
    other = {name: [value] if isinstance(value, list) else f"not {value}" for name, value in truth.items()}
    return {"the truth": truth, "nothing": {}, "something else": other}[found]
