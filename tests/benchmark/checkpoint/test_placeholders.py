from __future__ import annotations

import pytest

from karenina_core.benchmark.checkpoint.questions import is_placeholder
from tests.benchmark.samples import TEMPLATE

PLACEHOLDER = '''class Answer(BaseAnswer):
    """Answer template for: Why?..."""

    response: str = Field(description="The answer response")

    def verify(self) -> bool:
        # A remark
        return False
'''


@pytest.mark.parametrize(
    "source", [PLACEHOLDER, PLACEHOLDER.replace("False", "True"), f"from pydantic import Field\n\n{PLACEHOLDER}"]
)
def test_templates_made_up_for_questions_without_one_are_recognised(source: str) -> None:
    assert is_placeholder(source)


@pytest.mark.parametrize(
    "source",
    [TEMPLATE, "", PLACEHOLDER.replace("return False", "return self.response == 'x'"), PLACEHOLDER + "x = 1\n"],
)
def test_templates_that_decide_something_are_not(source: str) -> None:
    assert not is_placeholder(source)
