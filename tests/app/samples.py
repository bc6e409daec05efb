"""A small benchmark for the Build pages."""

from __future__ import annotations

from karenina_core.benchmark import Benchmark

TEMPLATE = """from karenina.schemas.entities import BaseAnswer, VerifiedField
from karenina.schemas.primitives import ExactMatch


class Answer(BaseAnswer):
    target: str = VerifiedField(
        description="The protein named as the target",
        ground_truth="BCL2",
        verify_with=ExactMatch(normalize=["lowercase"]),
    )
"""


def small_benchmark() -> Benchmark:
    """Return a benchmark of two questions: one finished with a template, one draft without."""
    benchmark = Benchmark.create("Small", description="Two questions")
    benchmark.add_question("What is the target of venetoclax?", "BCL2", TEMPLATE, keywords=["oncology"])
    benchmark.add_question("How many chromosome pairs?", "23", finished=False)
    return benchmark
