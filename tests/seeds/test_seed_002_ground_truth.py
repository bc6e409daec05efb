"""The documented example of ground truth in a template, with only the import root renamed."""

from __future__ import annotations

from pydantic import Field

from karenina_core.schemas.entities import BaseAnswer
from karenina_core.templates import read_template, source_of


def test_ground_truth_is_set_by_a_method_of_that_name() -> None:
    # Example: raw_answer vs structured ground_truth
    class Answer(BaseAnswer):
        target: str = Field(description="The protein target.")

        def ground_truth(self):
            # Derived from raw_answer: "BCL2 (B-cell lymphoma 2)"
            self.correct = {"target": "BCL2"}

        def verify(self) -> bool:
            return self.target.strip().upper() == self.correct["target"]

    assert Answer(target=" bcl2 ").verify()
    assert not Answer(target="KRAS").verify()

    template = read_template(source_of(Answer))
    assert template.evaluate({"target": " bcl2 "}, "").verdict is True
    assert template.evaluate({"target": "KRAS"}, "").verdict is False
    assert template.evaluate({"target": "KRAS"}, "").expected == {"target": "BCL2"}
