"""What the page says about the fields of a template while it is written."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

OWN_RULE = """class Contains(VerificationPrimitive):
    \"\"\"Pass if the truth is part of the value.\"\"\"

    fold: bool = True

    def check(self, extracted: str, expected: str) -> bool:
        return expected.lower() in extracted.lower()


class Answer(BaseAnswer):
    target: str = VerifiedField(description="d", ground_truth="BCL2", verify_with=Contains(fold=False))
    named: bool = VerifiedField(description="d", ground_truth=False, verify_with=TraceContains(substring="MCL1"))
    dose: float = VerifiedField(description="d", ground_truth=4, verify_with=NumericExact())
    note: str = Field(description="d")
"""
OWN_METHODS = """class Answer(BaseAnswer):
    target: str = Field(description="d")

    def verify(self) -> bool:
        return self.target == "BCL2"
"""


def page(source: str) -> None:
    from pages.components import template_view

    template_view.check(source)


def rows(source: str) -> dict[str, dict[str, Any]]:
    app = AppTest.from_function(page, args=(source,)).run()
    assert not app.exception
    return {row["Field"]: row for row in app.dataframe[0].value.to_dict("records")}


@pytest.mark.parametrize(
    ("field", "truth", "rule"),
    [
        ("target", "BCL2", "Contains(fold=False), own code"),
        ("named", "False", "TraceContains(substring='MCL1'"),
        ("dose", "4", "NumericExact("),
        ("note", "–", "none, it decides nothing"),
    ],
)
def test_a_verified_field_shows_its_truth_and_rule_whoever_wrote_the_rule(field: str, truth: str, rule: str) -> None:
    shown = rows(OWN_RULE)[field]
    assert shown["Truth"] == truth
    assert shown["Rule"].startswith(rule)


def test_a_field_that_methods_decide_has_its_truth_in_the_code() -> None:
    shown = rows(OWN_METHODS)["target"]
    assert (shown["Truth"], shown["Rule"]) == ("in the code", "own code")
