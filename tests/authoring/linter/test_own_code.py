"""What is said of methods without running them."""

from __future__ import annotations

import pytest

from karenina_core.authoring import Finding, lint, repaired
from karenina_core.templates import read_template

SOUND = """\
class Answer(BaseAnswer):
    target: str = Field(description="The protein target of the drug named in the response")

    def model_post_init(self, __context):
        self.correct = {"target": "BCL2"}

    def verify(self) -> bool:
        return self.target.strip().upper() == self.correct["target"].upper()
"""


def findings(source: str) -> dict[str, Finding]:
    return {finding.code: finding for finding in lint(source)}


def test_a_sound_classic_template_has_no_finding() -> None:
    assert findings(SOUND) == {}


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        (
            'return self.target.strip().upper() == self.correct["target"].upper()',
            "return True",
            "own_verdict_constant",
            7,
        ),
        (
            'return self.target.strip().upper() == self.correct["target"].upper()',
            'return "yes"',
            "own_verdict_not_bool",
            7,
        ),
        (
            'return self.target.strip().upper() == self.correct["target"].upper()',
            "self.target",
            "own_verdict_missing",
            7,
        ),
        ("self.target.strip", "self.targe.strip", "own_unknown_field", 8),
        ('self.correct["target"].upper', 'self.correct["gene"].upper', "own_unknown_truth", 8),
    ],
)
def test_a_slip_in_a_method(old: str, new: str, code: str, line: int) -> None:
    finding = findings(SOUND.replace(old, new))[code]
    assert finding.severity == "error" and finding.line == line


def test_a_field_that_no_method_reads() -> None:
    more = SOUND.replace(
        "    def model_post", '    dose: str = Field(description="The dose named in it")\n\n    def model_post'
    )
    assert findings(more)["own_field_unused"].field == "dose"
    whole = more.replace("return ", "return bool(self.model_dump()) and ")
    assert "own_field_unused" not in findings(whole)


def test_a_truth_in_the_code_that_the_description_gives_away() -> None:
    source = SOUND.replace("named in the response", "such as BCL2")
    finding = findings(source)["description_leaks_truth"]
    fixed = repaired(source, finding)
    assert "description_leaks_truth" not in findings(fixed)
    assert fixed.splitlines()[3:] == source.splitlines()[3:]


def test_a_comparison_in_which_case_counts() -> None:
    source = SOUND.replace(
        'self.target.strip().upper() == self.correct["target"].upper()', 'self.target == self.correct["target"]'
    )
    finding = findings(source)["own_case_counts"]
    fixed = repaired(source, finding)
    assert 'self.target.strip().lower() == self.correct["target"].strip().lower()' in fixed
    assert "own_case_counts" not in findings(fixed)
    assert read_template(fixed).evaluate({"target": " bcl2"}, "").verdict


def test_a_decimal_number_compared_exactly() -> None:
    source = SOUND.replace("target: str", "target: float").replace(
        'self.target.strip().upper() == self.correct["target"].upper()', 'self.correct["target"] == self.target'
    )
    assert findings(source)["own_decimal_exactly"].severity == "hint"


def test_rules_for_fields_hold_beside_methods_too() -> None:
    source = SOUND.replace(
        "    def model_post",
        '    dose: float = VerifiedField(description="The dose", ground_truth=1, verify_with=NumericExact())\n'
        "\n    def model_post",
    )
    assert findings(source)["description_repeats_name"].field == "dose"


def test_returns_of_helpers_inside_are_not_the_verdict() -> None:
    source = SOUND.replace("return self.target", 'def name():\n            return "a"\n        return self.target')
    assert findings(source) == {}
