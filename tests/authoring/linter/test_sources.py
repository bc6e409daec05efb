"""What is told of code without running it: methods, and sources that cannot be read."""

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
    ("old", "new"),
    [("self.target.strip", "self.targe.strip"), ('self.correct["target"].upper', 'self.correct["gene"].upper')],
)
def test_a_name_in_a_method_that_is_not_there(old: str, new: str) -> None:
    finding = findings(SOUND.replace(old, new))["own_unknown_name"]
    assert finding.severity == "error" and finding.line == 8


def test_a_truth_in_the_code_that_the_description_gives_away() -> None:
    source = SOUND.replace("named in the response", "such as BCL2")
    finding = findings(source)["description_leaks_truth"]
    fixed = repaired(source, finding)
    assert "description_leaks_truth" not in findings(fixed)
    assert fixed.splitlines()[3:] == source.splitlines()[3:]


def test_rules_for_fields_hold_beside_methods_too() -> None:
    source = SOUND.replace(
        "    def model_post",
        '    dose: float = VerifiedField(description="The dose", ground_truth=1, verify_with=NumericExact())\n'
        "\n    def model_post",
    )
    assert findings(source)["description_vague"].field == "dose"


GENE = 'gene: str = VerifiedField(description="The gene symbol named", ground_truth="BCL2", verify_with=ExactMatch())'


def answer(*lines: str) -> str:
    return "".join(["class Answer(BaseAnswer):\n", *(f"    {line}  # kept\n" for line in lines)])


@pytest.mark.parametrize(
    ("source", "code"),
    [(f"```python\n{answer(GENE)}```\n", "code_fences"), (answer(GENE.replace('"BCL2"', "true")), "literal_words"),
     (answer(GENE).replace("(BaseAnswer)", ""), "base_missing"),
     (answer(GENE).replace("(BaseAnswer)", "()"), "base_missing"), ("import os\n" + answer(GENE), "import_unused"),
     (answer(GENE).replace("Answer(", "Drug(") + "print(Drug(gene='KRAS').verify())\n", "class_name")],
)  # fmt: skip
def test_a_slip_that_a_click_mends(source: str, code: str) -> None:
    (finding,) = lint(source)
    assert (finding.code, finding.severity) == (code, "error")
    fixed = repaired(source, finding)
    assert read_template(fixed).spec.fields[0].name == "gene"
    assert fixed.count("# kept") == source.count("# kept")


@pytest.mark.parametrize(
    ("source", "code"),
    [("class Answer(", "source_syntax"), ("", "source_no_answer"),
     ("import os\n" + answer(GENE.replace('"BCL2"', "os.name")), "source_import"),
     (answer("gene: str"), "source_no_verify"),
     (answer(GENE.replace("ExactMatch()", "NumericTolerance()")), "source_bad_primitive")],
)  # fmt: skip
def test_what_an_author_has_to_mend(source: str, code: str) -> None:
    (finding,) = lint(source)
    assert (finding.code, finding.fix) == (code, None)
    assert finding.why and finding.next.endswith(".")


def test_one_slip_after_the_other() -> None:
    source = "```\n" + answer(GENE.replace('"BCL2"', "true")) + "```"
    for _ in range(2):
        source = repaired(source, lint(source)[0])
    assert read_template(source).spec.fields[0].ground_truth is True
