"""What the rules say of an answer, step by step, and how fields make the verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core import patterns
from karenina_core.authoring import explain, explain_field, explain_verdict
from karenina_core.schemas import AllOf, AnyOf, AtLeastN, FieldCheck
from karenina_core.schemas.primitives import VerificationPrimitive, _register_primitive
from karenina_core.schemas.primitives.base import REGISTRY
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
from tests.templates.test_writer import specs

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
    (field("str", "é", "ExactMatch", normalize=[]), "e\u0301", '"e\u0301" → Unicode NFC → "é" ✓',
     '"é" equals the expected "é".'),
    (field("bool", True, "BooleanMatch"), "yes", '"yes" → read as a truth value → True ✓',
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
     'the response of 41 characters → matches → "NCT02005471" ✓', None),
    (field("bool", False, "TraceContains", substring="MURANO"), None, "the response of 41 characters ✗",
     '"MURANO" occurs 1 time in the response. It must not hold.'),
]  # fmt: skip


@pytest.mark.parametrize(("item", "value", "line", "reason"), LINES)
def test_the_way_to_a_verdict_in_one_line(item: FieldSpec, value: Any, line: str, reason: str | None) -> None:
    steps = explain_field(item, value, RESPONSE)
    assert str(steps) == line and reason in (None, steps.reason)


def test_the_steps_are_data() -> None:
    steps = explain_field(field("str", "BCL2", "ExactMatch", normalize=SYNONYMS), "bcl-2")
    assert [(link.name, link.output, link.changed) for link in steps.found.links] == [
        ("lowercase", '"bcl-2"', False),
        ("strip", '"bcl-2"', False),
        ("synonym", '"bcl2"', True),
    ]
    assert str(steps.expected) == '"BCL2" → lowercase → "bcl2"'
    assert steps.rule.startswith("ExactMatch(normalize=[") and steps.reason.endswith(".")


def test_nothing_extracted_never_passes() -> None:
    steps = explain_field(field("str", "none", "ExactMatch"), None)
    assert (str(steps), steps.result) == ("nothing …", None)
    assert "never passes" in steps.reason


def test_similarity_is_decided_once_it_is_known() -> None:
    item = field("str", "frees other proteins", "SemanticMatch", threshold=0.8)
    spec = TemplateSpec(fields=[item])
    assert explain(spec, {"x": "a"})[0].result is None
    (passed,), (failed,) = (explain(spec, {"x": "a"}, similarities={"x": value}) for value in (0.9, 0.5))
    assert str(passed) == '"a" → similarity → 0.900 ✓' and str(failed) == '"a" → similarity → 0.500 ✗'


def test_a_search_that_takes_too_long_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "BUDGET_SECONDS", 0.02)
    item = field("str", "N/A", "RegexMatch", pattern="(a|aa)+$")
    steps = explain_field(item, "a" * 100 + "b")
    assert steps.result is None and "took too long" in steps.reason


def test_a_custom_rule_is_explained_by_itself() -> None:
    class Longer(VerificationPrimitive):
        def check(self, extracted: Any, expected: Any) -> bool:
            return len(extracted) > len(expected)

    _register_primitive(Longer)
    try:
        steps = explain_field(field("str", "ab", "Longer"), "abc")
    finally:
        del REGISTRY["Longer"]
    assert str(steps) == '"abc" ✓' and "'abc' matches 'ab'" in steps.reason


OWN = """\
class Near(VerificationPrimitive):
    def check(self, extracted, expected):
        return extracted.lower() == expected.lower()


class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=Near())
    note: str = Field(description="A remark")
"""


def test_rules_of_the_template_itself_are_run() -> None:
    gene, note = explain(OWN, {"gene": "bcl2", "note": "x"})
    assert str(gene) == '"bcl2" ✓'
    assert note.result is None and "No rule decides" in note.reason


def pair(strategy: Any) -> TemplateSpec:
    items = [
        field("int", number, "NumericExact").model_copy(update={"name": name}) for name, number in (("a", 1), ("b", 2))
    ]
    return TemplateSpec(fields=items, verify_strategy=strategy)


A, B = FieldCheck(field_name="a"), FieldCheck(field_name="b")


@pytest.mark.parametrize(
    ("strategy", "line"),
    [
        (None, "all of (a ✓, b ✗) ✗"),
        (AnyOf(conditions=[A, B]), "any of (a ✓, b ✗) ✓"),
        (AtLeastN(n=1, conditions=[AllOf(conditions=[A, B]), A]), "at least 1 of (all of (a ✓, b ✗) ✗, a ✓) ✓"),
        (B, "b ✗"),
    ],
)
def test_how_fields_make_the_verdict(strategy: Any, line: str) -> None:
    spec = pair(strategy)
    assert str(explain_verdict(spec, explain(spec, {"a": 1, "b": 3}))) == line


def test_a_verdict_that_waits_for_a_similarity() -> None:
    similar = field("str", "t", "SemanticMatch").model_copy(update={"name": "s"})
    spec = TemplateSpec(fields=[*pair(None).fields, similar])
    assert explain_verdict(spec, explain(spec, {"a": 1, "b": 2, "s": "x"})).result is None
    assert explain_verdict(spec, explain(spec, {"a": 1, "b": 3, "s": "x"})).result is False


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=3), max_size=3)


@given(specs(), st.data())
def test_the_explanation_never_disagrees_with_the_verdict(spec: TemplateSpec, data: st.DataObject) -> None:
    values = {item.name: data.draw(VALUES) for item in spec.judged}
    template = read_template(write_template(spec))
    steps = explain(template, values, RESPONSE)
    evaluation = template.evaluate(values, RESPONSE)
    assert {item.field: item.result for item in steps if item.rule} == evaluation.results
    if not evaluation.pending:
        assert explain_verdict(template, steps).result == evaluation.verdict
