"""A template made usable: judge's form, verdict, evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.demo import demo_benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas.primitives import SemanticMatch
from karenina_core.templates import Sandbox, Template, read_template
from karenina_core.templates.models import build_reply, judge_schema

DRUG = """
class Answer(BaseAnswer):
    target: str = VerifiedField(
        description="Protein target",
        ground_truth="BCL2-TRUTH",
        verify_with=ExactMatch(),
        extraction_hint="A gene symbol.",
    )
    phase: Literal["I", "II", "III"] = VerifiedField(
        description="Clinical phase", ground_truth="III", verify_with=LiteralMatch(), weight=2
    )
    cites_trial: bool = VerifiedField(
        description="Cites a trial", ground_truth=True, verify_with=TraceRegex(pattern=r"NCT\\d{8}")
    )
"""
MEANING = """
class Answer(BaseAnswer):
    rationale: str = VerifiedField(
        description="Rationale", ground_truth="Targets BCL2", verify_with=SemanticMatch(threshold=0.8)
    )
    phase: str = VerifiedField(description="Phase", ground_truth="III", verify_with=ExactMatch())
"""


@pytest.fixture
def drug() -> Template:
    return read_template(DRUG)


def test_a_declarative_template_says_what_it_is(drug: Template) -> None:
    assert (drug.style, drug.badge, drug.needs_judge) == ("declarative", "built-in checks", True)
    assert drug.composition_strategy == "all_of"
    assert drug.extraction_hints == {"target": "A gene symbol."}
    assert (drug.line_of("target"), drug.line_of("phase"), drug.line_of("nothing")) == (3, 9, None)


def test_the_same_text_is_read_once(drug: Template) -> None:
    assert read_template(DRUG) is drug


def test_the_judge_schema_is_complete_and_closed(drug: Template) -> None:
    assert drug.judge_schema() == {
        "type": "object",
        "properties": {
            "target": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Protein target"},
            "phase": {
                "anyOf": [{"enum": ["I", "II", "III"], "type": "string"}, {"type": "null"}],
                "description": "Clinical phase",
            },
        },
        "required": ["target", "phase"],
        "additionalProperties": False,
    }


def test_the_judge_schema_never_holds_the_truth(drug: Template) -> None:
    sent = json.dumps(drug.judge_schema())
    for word in ("TRUTH", "ground_truth", "verify_with", "ExactMatch", "NCT", "cites_trial", "weight", '"id"'):
        assert word not in sent


def test_defaults_and_class_docstrings_do_not_reach_the_judge() -> None:
    template = read_template("""
class Answer(BaseAnswer):
    '''The answer is BCL2.'''
    target: str = Field(default="BCL2", description="Protein target", min_length=2)

    def verify(self):
        return self.target == "BCL2"
""")
    assert "BCL2" not in json.dumps(template.judge_schema())
    assert template.judge_schema()["properties"]["target"]["anyOf"][0] == {"type": "string", "minLength": 2}


def test_a_changed_schema_does_not_change_the_template(drug: Template) -> None:
    drug.judge_schema()["properties"].clear()
    assert drug.judge_schema()["required"] == ["target", "phase"]
    assert drug.judge_schema()["properties"]


def test_the_reply_becomes_typed_values(drug: Template) -> None:
    reply = {"target": 7, "phase": None, "cites_trial": False, "reasoning": "because"}
    assert drug.validate_reply(reply) == {"target": "7", "phase": None}


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ([], "must be one JSON object"),
        ({"phase": "I"}, "target is missing. Use null where the response does not say."),
        ({"target": "a", "phase": "IV"}, "phase: Input should be 'I', 'II' or 'III', not \"IV\""),
        ({"target": ["a"], "phase": None}, 'target must be text, not ["a"]'),
    ],
)
def test_a_reply_that_does_not_fit_is_explained_to_the_judge(drug: Template, reply: Any, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        drug.validate_reply(reply)
    assert complaint in str(caught.value)
    assert "TRUTH" not in str(caught.value)


@pytest.mark.parametrize("word", ["false", "FALSE", "no", "0"])
def test_words_for_a_truth_value_are_read_as_one(word: str) -> None:
    template = read_template(
        "class Answer(BaseAnswer):\n"
        "    uses: bool = VerifiedField(description='d', ground_truth=False, verify_with=BooleanMatch())\n"
    )
    assert template.validate_reply({"uses": word}) == {"uses": False}
    assert template.evaluate({"uses": word}, "").verdict
    assert template.verdict({"uses": word}, "")


def test_numbers_that_are_not_finite_are_no_reply() -> None:
    template = read_template(
        "class Answer(BaseAnswer):\n"
        "    n: float = VerifiedField(description='n', ground_truth=1, verify_with=NumericRange(min=0))\n"
    )
    with pytest.raises(InputError, match="finite"):
        template.validate_reply({"n": float("nan")})


def test_every_field_leaves_evidence(drug: Template) -> None:
    outcome = drug.evaluate({"target": " bcl2-truth", "phase": "II"}, "see NCT02005471")
    target, phase, trial = outcome.fields
    assert (target.result, target.expected, target.extracted) == (True, "BCL2-TRUTH", " bcl2-truth")
    assert target.rule == {"type": "ExactMatch", "normalize": ["lowercase", "strip"]}
    assert ("strip", '" bcl2-truth"', '"bcl2-truth"') in target.steps
    assert (phase.result, phase.weight, bool(phase.reason)) == (False, 2.0, True)
    assert (trial.result, trial.extracted, trial.is_trace) == (True, True, True)
    assert (outcome.verdict, outcome.granular) == (False, 0.5)
    assert outcome.expected == {"target": "BCL2-TRUTH", "phase": "III", "cites_trial": True}


def test_a_null_extraction_never_passes(drug: Template) -> None:
    outcome = drug.evaluate({"target": None, "phase": "III"}, "NCT02005471")
    assert outcome.results == {"target": None, "phase": True, "cites_trial": True}
    assert outcome.fields[0].reason == "The judge found nothing in the response."
    assert (outcome.verdict, outcome.granular) == (False, 0.75)


def test_trace_fields_are_decided_from_the_response_alone(drug: Template) -> None:
    values = {"target": "BCL2-TRUTH", "phase": "III", "cites_trial": True}
    assert drug.evaluate(values, "no trial").verdict is False
    assert drug.evaluate({**values, "cites_trial": None}, "NCT02005471").verdict is True


def test_absence_is_tested_with_a_ground_truth_of_false() -> None:
    template = read_template(
        "class Answer(BaseAnswer):\n"
        "    b: bool = VerifiedField(description='b', ground_truth=False, "
        "verify_with=TraceContains(substring='Venclexta'))\n"
    )
    assert template.evaluate({}, "venetoclax").verdict is True
    assert template.evaluate({}, "Venclexta").verdict is False


def test_a_template_of_trace_fields_needs_no_judge() -> None:
    template = read_template(
        "class Answer(BaseAnswer):\n"
        "    b: bool = VerifiedField(description='b', ground_truth=True, "
        "verify_with=TraceLength(min=1, unit='words'))\n"
    )
    assert not template.needs_judge
    assert template.judge_schema()["properties"] == {}
    assert template.validate_reply({}) == {}


def test_the_answer_class_works_by_itself(drug: Template) -> None:
    parsed = drug.answer_class(target="BCL2-TRUTH", phase="III", cites_trial=False)
    parsed._raw_trace = "NCT02005471"
    assert drug.answer_class.__name__ == "Answer"
    assert parsed.verify()
    assert parsed.verify_granular() == 1.0
    assert parsed.correct == {"target": "BCL2-TRUTH", "phase": "III", "cites_trial": True}


def test_semantic_fields_wait_for_the_embedding_check() -> None:
    template = read_template(MEANING)
    waiting = template.evaluate({"rationale": "Inhibits BCL2", "phase": "III"}, "")
    assert template.semantic_fields == ("rationale",)
    assert (waiting.verdict, waiting.granular, waiting.pending) == (None, None, ("rationale",))

    decided = template.complete(waiting, {"rationale": (True, 0.91)})
    assert (decided.verdict, decided.granular, decided.pending) == (True, 1.0, ())
    assert (decided.fields[0].result, decided.fields[0].similarity) == (True, 0.91)
    assert decided.fields[0].reason == SemanticMatch(threshold=0.8).explain_similarity(0.91).reason

    assert template.complete(waiting, {"rationale": (False, 0.2)}).verdict is False
    assert template.complete(waiting, {}) == waiting


def test_completing_what_waits_for_nothing_changes_nothing(drug: Template) -> None:
    for values in ({"target": "bcl2-truth", "phase": "III"}, {"target": "other", "phase": None}):
        done = drug.evaluate(values, "NCT02005471")
        assert drug.complete(done, {}) == done


def test_a_semantic_field_the_judge_found_nothing_for_is_decided() -> None:
    outcome = read_template(MEANING).evaluate({"rationale": None, "phase": "III"}, "")
    assert (outcome.pending, outcome.verdict, outcome.granular) == ((), False, 0.5)


def test_field_results_are_composed_as_the_template_says() -> None:
    template = read_template("""
class Answer(BaseAnswer):
    a: str = VerifiedField(description="a", ground_truth="1", verify_with=ExactMatch())
    b: str = VerifiedField(description="b", ground_truth="1", verify_with=ExactMatch())
    c: str = VerifiedField(description="c", ground_truth="1", verify_with=ExactMatch())

    class VerificationStrategy:
        verify_strategy = AnyOf([AllOf(conditions=[FieldCheck("a"), FieldCheck(field_name="b")]), FieldCheck("c")])
""")
    assert template.composition_strategy == "any_of"
    assert template.evaluate({"a": "1", "b": "1", "c": "0"}, "").verdict is True
    assert template.evaluate({"a": "1", "b": "0", "c": "0"}, "").verdict is False
    assert template.evaluate({"a": "1", "b": "0", "c": "0"}, "").granular == 0.5
    assert template.answer_class(a="0", b="0", c="1").verify()


def test_at_least_n_is_named_with_its_number() -> None:
    template = read_template("""
class Answer(BaseAnswer):
    a: str = VerifiedField(description="a", ground_truth="1", verify_with=ExactMatch())
    b: str = VerifiedField(description="b", ground_truth="1", verify_with=ExactMatch())

    class VerificationStrategy:
        verify_strategy = AtLeastN(1, [FieldCheck("a"), FieldCheck("b")])
""")
    assert template.composition_strategy == "at_least_n(1)"
    assert template.evaluate({"a": "1", "b": "0"}, "").verdict is True


def test_nested_models_keep_their_definitions_in_the_schema() -> None:
    template = read_template("""
class Answer(BaseAnswer):
    drug: "Drug" = Field(description="The drug")
    name: str = VerifiedField(description="Name", ground_truth="a", verify_with=ExactMatch())

class Drug(BaseModel):
    '''A drug and its dose.'''
    name: str = Field(description="Its name", default="secret")
    dose: float | None = Field(description="Dose in mg", ge=0)
""")
    schema = template.judge_schema()
    assert schema["properties"]["drug"] == {
        "anyOf": [{"$ref": "#/$defs/Drug"}, {"type": "null"}],
        "description": "The drug",
    }
    assert schema["$defs"]["Drug"] == {
        "type": "object",
        "description": "A drug and its dose.",
        "properties": {
            "name": {"type": "string", "description": "Its name"},
            "dose": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}], "description": "Dose in mg"},
        },
        "required": ["name", "dose"],
        "additionalProperties": False,
    }
    values = template.validate_reply({"drug": {"name": "venetoclax", "dose": None}, "name": "a"})
    outcome = template.evaluate(values, "")
    assert outcome.fields[0].extracted == {"name": "venetoclax", "dose": None}
    assert outcome.verdict is True


def test_a_nested_answer_class_is_a_model_and_other_answer_classes_are_ignored(sandbox: Sandbox) -> None:
    template = read_template(
        "class Dose(BaseAnswer):\n    amount: Decimal = Field(description='Amount')\n"
        "    def grams(self):\n        return self.amount / 1000\n"
        "class Unused(BaseAnswer):\n"
        "    x: str = VerifiedField(description='d', ground_truth='a', verify_with=ExactMatch())\n"
        "class Answer(BaseAnswer):\n    doses: list[Dose] = Field(description='Doses')\n"
        "    def verify(self):\n        return str(self.doses[0].grams()) == '0.0015'\n"
    )
    assert template.warnings == ("Answer classes beside Answer are ignored.",)
    values = template.validate_reply({"doses": [{"amount": "1.5"}]})
    assert template.evaluate(values, "", sandbox=sandbox).verdict is True


def test_dates_are_text_for_date_rules_and_dates_for_own_code(sandbox: Sandbox) -> None:
    template = read_template("""
from datetime import date

class Answer(BaseAnswer):
    approved: str = VerifiedField(description="d", ground_truth="2016-04-11", verify_with=DateMatch())
    withdrawn: date = Field(description="d")

    def verify(self):
        return self.withdrawn.year == 2020 and self.field_results()["approved"]
""")
    assert template.spec.fields[0].type == "date"
    values = template.validate_reply({"approved": "April 11, 2016", "withdrawn": "2020-01-01"})
    outcome = template.evaluate(values, "", sandbox=sandbox)
    assert outcome.verdict is True
    assert outcome.fields[1].extracted == "2020-01-01"


def test_a_pattern_that_takes_too_long_is_an_error_with_its_line() -> None:
    template = read_template(
        "class Answer(BaseAnswer):\n"
        "    b: bool = VerifiedField(description='b', ground_truth=True, verify_with=TraceRegex(pattern=r'(a|aa)+$'))\n"
    )
    with pytest.raises(TemplateError) as caught:
        template.evaluate({}, "a" * 40 + "b")
    assert (caught.value.code, caught.value.line) == ("timeout", 2)


PATTERN = """
class Answer(BaseAnswer):
    gene: str = VerifiedField(description="The gene", ground_truth="BCL2", verify_with=ExactMatch())

    def model_post_init(self, __context):
        self.regex = {"cited": {"pattern": "NCT", "expected": "NCT", "match_type": "contains"}}
"""
SOURCES = [question.answer_template or "" for question in demo_benchmark().get_all_questions()] + [PATTERN]
ANSWERS = ["", "See NCT01234567 [1].", "I do not know."]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("found", ["the truth", "nothing", "something else"])
def test_the_bare_verdict_is_that_of_the_evaluation(source: str, answer: str, found: str) -> None:
    template = read_template(source)
    values = found_by_the_judge(source, found)
    assert template.verdict(values, answer) == template.evaluate(values, answer).verdict


def test_both_verdicts_occur_among_them() -> None:
    verdicts = {
        read_template(source).verdict(found_by_the_judge(source, "the truth"), answer)
        for source in SOURCES
        for answer in ANSWERS
    }
    assert {True, False} <= verdicts


def found_by_the_judge(source: str, found: str) -> dict[str, Any]:
    truth = {item.name: item.ground_truth for item in read_template(source).spec.judged}
    other = {name: [value] if isinstance(value, list) else f"not {value}" for name, value in truth.items()}
    return {"the truth": truth, "nothing": {}, "something else": other}[found]


TYPES = [
    "bool",
    "int",
    "float",
    "str",
    "Any",
    "list",
    "list[str]",
    "set[int]",
    "dict[str, float]",
    "tuple[int, ...]",
    "Optional[int]",
    "int | str",
    "Literal['a', 'b', None]",
    "Literal[1, 2]",
    "Literal[True]",
    "date",
]
VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=True) | st.sampled_from(["a", "1", "x"])
DATA = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.sampled_from(["k", "l"]), VALUES, max_size=2)


def template(first: str, second: str) -> Template:
    return read_template(f"""
class Answer(BaseAnswer):
    first: {first} = Field(description="The first")
    second: {second}

    def verify(self):
        return True
""")


@pytest.mark.parametrize("annotation", TYPES)
def test_the_schema_is_that_of_the_class(annotation: str) -> None:
    found = template(annotation, "str")
    assert found.judge_schema() == judge_schema(build_reply(found.spec, {}))


@given(st.sampled_from(TYPES), st.sampled_from(TYPES), DATA, DATA)
def test_a_reply_is_taken_as_the_class_takes_it(first: str, second: str, one: Any, other: Any) -> None:
    found, data = template(first, second), {"first": one, "second": other, "more": 1}
    form = build_reply(found.spec, {})
    try:
        wanted = form.model_validate(data)
    except ValueError:
        with pytest.raises(InputError, match="does not fit"):
            found.validate_reply(data)
    else:
        assert repr(found.validate_reply(data)) == repr({"first": wanted.first, "second": wanted.second})  # type: ignore[attr-defined]
