"""What the rules say of an answer, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core import patterns
from karenina_core.authoring import StoredAnswer, explain, steps_in_line
from karenina_core.errors import TemplateError
from karenina_core.schemas import FieldEvidence
from karenina_core.templates import FieldSpec, TemplateSpec

RESPONSE = "The MURANO trial (NCT02005471) showed it."


def field(kind: str, truth: Any, rule: str, **parameters: Any) -> FieldSpec:
    literal = ["I", "II", "III"] if kind == "literal" else []
    return FieldSpec(
        name="x",
        type=kind,
        description="d",
        ground_truth=truth,
        verify_with={"type": rule, **parameters},
        literal_values=literal,
    )


SYNONYMS = ["lowercase", "strip", {"mapping": {"bcl-2": "bcl2"}}]
LINES = [
    (field("str", "BCL2", "ExactMatch", normalize=SYNONYMS), "Bcl-2",
     '"Bcl-2" → lowercase → "bcl-2" → synonym → "bcl2" ✓', '"bcl2" equals the expected "bcl2".'),
    (field("str", "BCL2", "ExactMatch"), " KRAS", '" KRAS" → lowercase → " kras" → strip → "kras" ✗',
     '"kras" differs from the expected "bcl2".'),
    (field("bool", True, "BooleanMatch"), "yes", "True ✓",
     "True equals the expected True."),
    (field("str", "N/A", "ContainsAll", substrings=["A", "B"]), "A only", '"A only" → found → "A" ✗',
     'The text does not contain "B".'),
    (field("int", 23, "NumericExact"), "1,000,000", '"1,000,000" → read as a number → 1000000 → difference → 999977 ✗',
     "1000000 is not 23."),
    (field("float", 0.72, "NumericTolerance", tolerance=0.05, mode="absolute"), 0.77, "0.77 → difference → 0.05 ✓",
     "0.77 is within 0.05 of 0.72."),
    (field("float", 0, "NumericRange", min=0.0, max=0.05), 0.1, "0.1 ✗", "0.1 is not between 0 and 0.05."),
    (field("list_str", ["CLL", "SLL"], "SetContainment", mode="superset"), ["CLL"],
     '["CLL"] → shared → "CLL" → missing → "SLL" ✗', 'The lists differ (missing: "SLL").'),
    (field("list_str", ["A", "B"], "OrderedMatch"), ["a", "b"], '["a", "b"] ✓', "All 2 elements agree, in order."),
    (field("literal", "III", "LiteralMatch"), "II", '"II" ✗', None),
    (field("date", "2016-04-11", "DateTolerance", tolerance=30), "April 25, 2016",
     '"April 25, 2016" → read as a date → 2016-04-25 → distance → 14 days ✓',
     "2016-04-25 is within 30 days of the expected 2016-04-11."),
    (field("bool", True, "TraceRegex", pattern=r"NCT\d{8}"), None,
     'the response → matches → "NCT02005471" ✓', None),
    (field("bool", False, "TraceContains", substring="MURANO"), None, "the response ✗",
     '"MURANO" occurs 1 time in the response.'),
]  # fmt: skip


def explained(item: FieldSpec, value: Any, **known: Any) -> FieldEvidence:
    return explain(TemplateSpec(fields=[item]), StoredAnswer({"x": value}, RESPONSE, **known)).fields[0]


@pytest.mark.parametrize(("item", "value", "line", "reason"), LINES)
def test_the_way_to_a_result_in_one_line(item: FieldSpec, value: Any, line: str, reason: str | None) -> None:
    evidence = explained(item, value)
    assert steps_in_line(evidence) == line and reason in (None, evidence.reason)


def test_the_way_of_the_truth() -> None:
    evidence = explained(field("str", "BCL2", "ExactMatch"), "x")
    assert steps_in_line(evidence, of_truth=True) == '"BCL2" → lowercase → "bcl2"'


def test_nothing_extracted_never_passes() -> None:
    evidence = explained(field("str", "none", "ExactMatch"), None)
    assert (steps_in_line(evidence), evidence.result) == ("nothing …", None)


def test_similarity_is_decided_once_it_is_known() -> None:
    item = field("str", "frees other proteins", "SemanticMatch", threshold=0.8)
    results = [explained(item, "a", similarities=known).result for known in ({}, {"x": 0.9}, {"x": 0.5})]
    assert results == [None, True, False]


def test_a_search_that_takes_too_long_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "BUDGET_SECONDS", 0.02)
    with pytest.raises(TemplateError, match="took too long"):
        explained(field("str", "N/A", "RegexMatch", pattern="(a|aa)+$"), "a" * 100 + "b")


OWN = """\
class Near(VerificationPrimitive):
    def check(self, extracted, expected):
        return extracted.lower() == expected.lower()


class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=Near())
    note: str = Field(description="A remark")
"""


def test_rules_of_the_template_itself_are_run() -> None:
    evaluation = explain(OWN, StoredAnswer({"gene": "bcl2", "note": "x"}))
    gene, note = evaluation.fields
    assert evaluation.verdict is True and steps_in_line(gene) == '"bcl2" ✓' and note.result is None
