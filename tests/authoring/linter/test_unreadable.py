"""Sources that cannot be read, and the slips that a click mends."""

from __future__ import annotations

import pytest

from karenina_core.authoring import lint, repaired
from karenina_core.templates import read_template

RULE = "verify_with=ExactMatch()"
GENE = 'gene: str = VerifiedField(description="The gene symbol named", ground_truth="BCL2", verify_with=ExactMatch())'


def answer(*lines: str) -> str:
    return "".join(["class Answer(BaseAnswer):\n", *(f"    {line}  # kept\n" for line in lines)])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (f"```python\n{answer(GENE)}```\n", "code_fences"),
        (answer(GENE.replace("ExactMatch()", 'RegexMatch(pattern="t(14;18")')), "regex_invalid"),
        (answer(GENE.replace("ExactMatch()", 'TraceContains(substring="NCT")')), "trace_not_bool"),
        (answer(GENE, GENE), "duplicate_field"),
        (answer(GENE.replace('"BCL2"', "true")), "literal_words"),
        (answer(GENE).replace("(BaseAnswer)", ""), "base_missing"),
        (answer(GENE).replace("(BaseAnswer)", "()"), "base_missing"),
        (answer(GENE.replace("ExactMatch()", "ExactMatch(), weight=0")), "weight_zero_on_all"),
        (answer(GENE.replace(": str", "")), "type_missing"),
        ("import os\n" + answer(GENE), "import_unused"),
    ],
)
def test_a_slip_that_a_click_mends(source: str, code: str) -> None:
    (finding,) = lint(source)
    assert (finding.code, finding.severity) == (code, "error")
    fixed = repaired(source, finding)
    assert read_template(fixed).spec.fields[0].name == "gene"
    assert fixed.count("# kept") == source.count("# kept")


def test_the_truth_tells_the_missing_type() -> None:
    source = answer(GENE.replace(": str", "").replace('"BCL2"', "[]").replace("ExactMatch", "SetContainment"))
    assert "gene: list[str] =" in repaired(source, lint(source)[0])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("class Answer(", "source_syntax"),
        ("", "source_no_answer"),
        ("import os\n" + answer(GENE.replace('"BCL2"', "os.name")), "source_import"),
        (answer("gene: str"), "source_no_verify"),
        (answer(GENE.replace("ExactMatch()", "NumericTolerance()")), "source_bad_primitive"),
    ],
)
def test_what_an_author_has_to_mend(source: str, code: str) -> None:
    (finding,) = lint(source)
    assert (finding.code, finding.fix) == (code, None)
    assert finding.why and finding.next.endswith(".")


def test_one_slip_after_the_other() -> None:
    source = answer(GENE.replace('"BCL2"', "true"), GENE.replace("ExactMatch()", 'RegexMatch(pattern="(")')).replace(
        "gene: str", "other: str", 1
    )
    for _ in range(2):
        source = repaired(source, lint(source)[0])
    assert [item.name for item in read_template(source).spec.fields] == ["other", "gene"]
