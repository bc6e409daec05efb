from __future__ import annotations

from textwrap import dedent

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import wanted
from karenina_core.schemas.entities import ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait
from tests.runs.fakes import small_config

JUDGED = dedent(
    """
    from karenina_core.schemas.entities import BaseAnswer, VerifiedField
    from karenina_core.schemas.primitives import NumericExact


    class Answer(BaseAnswer):
        value: int = VerifiedField(description="The number", ground_truth=42, verify_with=NumericExact())
    """
)
TRACED = dedent(
    """
    from karenina_core.schemas.entities import BaseAnswer, VerifiedField
    from karenina_core.schemas.primitives import TraceContains


    class Answer(BaseAnswer):
        cites: bool = VerifiedField(
            description="Cites", ground_truth=True, verify_with=TraceContains(substring="doi")
        )
    """
)
RUBRIC = Rubric(
    traits=[
        RubricTrait(name="Clarity"),
        RubricTrait(name="Depth"),
        ManualRubricTrait(name="Cites", pattern="doi"),
        MetricRubricTrait(name="Organs", metrics=["recall"], tp_instructions=["heart"]),
    ]
)


def benchmark_with(template: str | None, rubric: Rubric | None = None) -> Benchmark:
    benchmark = Benchmark.create("Expected")
    benchmark.add_question("How many?", "42", answer_template=template)
    if rubric:
        benchmark.set_global_rubric(rubric)
    return benchmark


def test_an_answer_is_shared_by_all_judges() -> None:
    plan = wanted(benchmark_with(JUDGED), small_config(2, 3, replicate_count=2))
    assert plan.calls() == {"answer": 4, "parse": 12}


def test_fields_that_read_the_trace_need_no_judge() -> None:
    assert wanted(benchmark_with(TRACED), small_config(sufficiency_enabled=True)).calls() == {"answer": 1}


def test_guards_cost_a_call_for_each_judge() -> None:
    config = small_config(1, 2, abstention_enabled=True, sufficiency_enabled=True)
    calls = wanted(benchmark_with(JUDGED), config).calls()
    assert calls == {"answer": 1, "parse": 2, "abstention": 2, "sufficiency": 2}


@pytest.mark.parametrize(("strategy", "number"), [("batch", 1), ("sequential", 2)])
def test_traits_cost_one_call_or_one_each(strategy: str, number: int) -> None:
    config = small_config(rubric_evaluation_strategy=strategy)
    calls = wanted(benchmark_with(JUDGED, RUBRIC), config).calls()
    assert calls == {"answer": 1, "parse": 1, "rubric": number, "metric": 1}


def test_modes_and_trait_names_leave_calls_out() -> None:
    benchmark = benchmark_with(JUDGED, RUBRIC)
    assert wanted(benchmark, small_config(evaluation_mode="template_only")).calls() == {"answer": 1, "parse": 1}
    only_rubric = small_config(evaluation_mode="rubric_only", rubric_trait_names=["Organs"])
    assert wanted(benchmark, only_rubric).calls() == {"answer": 1, "metric": 1}


def test_a_question_that_nothing_can_decide_costs_nothing() -> None:
    assert wanted(benchmark_with(None), small_config()).calls() == {}
    assert wanted(benchmark_with(None, RUBRIC), small_config()).calls() == {"answer": 1, "rubric": 1, "metric": 1}
