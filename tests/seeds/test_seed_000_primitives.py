"""The documented examples of the verification primitives, with only the import root renamed."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from karenina_core.schemas import VerificationConfig
from karenina_core.schemas.entities import BaseAnswer, VerifiedField
from karenina_core.schemas.entities.normalizers import SynonymMap
from karenina_core.schemas.primitives import (
    BooleanMatch,
    ContainsAll,
    ContainsAny,
    DateMatch,
    DateRange,
    DateTolerance,
    ExactMatch,
    LiteralMatch,
    NumericExact,
    NumericRange,
    NumericTolerance,
    OrderedMatch,
    RegexMatch,
    SemanticMatch,
    SetContainment,
    TraceContains,
    TraceLength,
    TracePrimitive,
    TraceRegex,
    VerificationPrimitive,
    _register_primitive,
)


def test_walkthrough_from_response_to_verdict() -> None:
    class Answer(BaseAnswer):
        pair_count: int = VerifiedField(
            description="The number of chromosome pairs in a normal human somatic cell",
            ground_truth=23,
            verify_with=NumericExact(),
        )

    assert NumericExact().check(23, 23) is True
    parsed = Answer(pair_count=23)
    assert parsed.verify() is True
    parsed_wrong = Answer(pair_count=46)
    assert parsed_wrong.verify() is False


def test_the_judge_sees_neither_the_truth_nor_the_rule() -> None:
    class Answer(BaseAnswer):
        pair_count: int = VerifiedField(description="Pairs", ground_truth=23, verify_with=NumericExact())

    schema = str(Answer.model_json_schema())
    assert "23" not in schema
    assert "NumericExact" not in schema


def test_boolean_match() -> None:
    class Answer(BaseAnswer):
        is_approved: bool = VerifiedField(
            description="Whether the drug is FDA-approved",
            ground_truth=True,
            verify_with=BooleanMatch(),
        )

    parsed = Answer(is_approved=True)
    assert parsed.verify() is True
    parsed_wrong = Answer(is_approved=False)
    assert parsed_wrong.verify() is False


@pytest.mark.parametrize(("value", "passes"), [("BCL2", True), ("bcl2", True), (" Bcl2 ", True), ("KRAS", False)])
def test_exact_match(value: str, passes: bool) -> None:
    class Answer(BaseAnswer):
        target: str = VerifiedField(
            description="Protein target name",
            ground_truth="BCL2",
            verify_with=ExactMatch(normalize=["lowercase", "strip"]),
        )

    parsed = Answer(target=value)
    assert parsed.verify() is passes


def test_contains_any() -> None:
    class Answer(BaseAnswer):
        mechanism: str = VerifiedField(
            description="Mechanism of action described in the response",
            ground_truth="N/A",  # ignored by ContainsAny; required by VerifiedField
            verify_with=ContainsAny(substrings=["apoptosis", "autophagy"]),
        )

    parsed = Answer(mechanism="Induces apoptosis by inhibiting BCL2")
    assert parsed.verify() is True
    parsed_miss = Answer(mechanism="Inhibits cell proliferation")
    assert parsed_miss.verify() is False


def test_contains_all() -> None:
    class Answer(BaseAnswer):
        summary: str = VerifiedField(
            description="Trial design summary",
            ground_truth="N/A",
            verify_with=ContainsAll(substrings=["phase III", "randomized", "double-blind"]),
        )

    parsed = Answer(summary="A phase III, randomized, double-blind study")
    assert parsed.verify() is True
    parsed_miss = Answer(summary="A phase III, open-label study")
    assert parsed_miss.verify() is False


def test_regex_match() -> None:
    class Answer(BaseAnswer):
        identifier: str = VerifiedField(
            description="ClinicalTrials.gov identifier",
            ground_truth="N/A",
            verify_with=RegexMatch(pattern=r"NCT\d{8}"),
        )

    parsed = Answer(identifier="NCT02141282")
    assert parsed.verify() is True
    parsed_bad = Answer(identifier="CT-2014-001")
    assert parsed_bad.verify() is False


def test_semantic_match_is_a_marker_for_the_pipeline() -> None:
    class Answer(BaseAnswer):
        rationale: str = VerifiedField(
            description="Clinical rationale for the treatment",
            ground_truth="Targets the BCL2 anti-apoptotic protein",
            verify_with=SemanticMatch(threshold=0.80),
        )

    assert SemanticMatch().threshold == 0.85
    with pytest.raises(NotImplementedError, match="embedding_check"):
        SemanticMatch().check("Targets BCL2", "Targets the BCL2 anti-apoptotic protein")
    with pytest.raises(NotImplementedError, match="embedding_check"):
        Answer(rationale="Targets BCL2").verify()


def test_numeric_exact() -> None:
    class Answer(BaseAnswer):
        patient_count: int = VerifiedField(
            description="Number of patients enrolled",
            ground_truth=342,
            verify_with=NumericExact(),
        )

    parsed = Answer(patient_count=342)
    assert parsed.verify() is True
    parsed_wrong = Answer(patient_count=340)
    assert parsed_wrong.verify() is False


@pytest.mark.parametrize(("value", "passes"), [(0.72, True), (0.70, True), (0.77, True), (0.80, False)])
def test_numeric_tolerance(value: float, passes: bool) -> None:
    class Answer(BaseAnswer):
        hazard_ratio: float = VerifiedField(
            description="Hazard ratio from primary analysis",
            ground_truth=0.72,
            verify_with=NumericTolerance(tolerance=0.05, mode="absolute"),
        )

    parsed = Answer(hazard_ratio=value)
    assert parsed.verify() is passes


def test_numeric_tolerance_is_relative_by_default() -> None:
    within_10_percent = NumericTolerance(tolerance=0.1)
    assert within_10_percent.mode == "relative"
    assert within_10_percent.check(110, 100)
    assert not within_10_percent.check(111, 100)
    assert within_10_percent.check(0, 0)
    assert not within_10_percent.check(0.05, 0)


@pytest.mark.parametrize(("value", "passes"), [(0.001, True), (0.05, True), (0.10, False)])
def test_numeric_range(value: float, passes: bool) -> None:
    class Answer(BaseAnswer):
        p_value: float = VerifiedField(
            description="Primary endpoint p-value",
            ground_truth=0,
            verify_with=NumericRange(min=0.0, max=0.05),
        )

    parsed = Answer(p_value=value)
    assert parsed.verify() is passes


def test_set_containment() -> None:
    class Answer(BaseAnswer):
        indications: list[str] = VerifiedField(
            description="Approved indications listed in the response",
            ground_truth=["CLL", "SLL", "AML"],
            verify_with=SetContainment(mode="superset"),
        )

    parsed = Answer(indications=["CLL", "SLL", "AML", "NHL"])
    assert parsed.verify() is True
    parsed_missing = Answer(indications=["CLL", "SLL"])
    assert parsed_missing.verify() is False


def test_set_containment_defaults() -> None:
    assert SetContainment().mode == "exact"
    assert SetContainment(mode="overlap").check(["CLL", "NHL"], ["CLL", "SLL"])
    assert not SetContainment(mode="overlap", min_overlap=2).check(["CLL", "NHL"], ["CLL", "SLL"])


def test_ordered_match() -> None:
    class Answer(BaseAnswer):
        authors: list[str] = VerifiedField(
            description="Author names in order of appearance",
            ground_truth=["Smith J", "Jones A", "Patel R"],
            verify_with=OrderedMatch(normalize=["lowercase", "strip"]),
        )

    parsed = Answer(authors=["smith j", "jones a", "patel r"])
    assert parsed.verify() is True
    parsed_wrong = Answer(authors=["Jones A", "Smith J", "Patel R"])
    assert parsed_wrong.verify() is False


def test_literal_match() -> None:
    class Answer(BaseAnswer):
        trial_phase: Literal["I", "II", "III", "IV"] = VerifiedField(
            description="Clinical trial phase",
            ground_truth="III",
            verify_with=LiteralMatch(),
        )

    parsed = Answer(trial_phase="III")
    assert parsed.verify() is True
    parsed_wrong = Answer(trial_phase="II")
    assert parsed_wrong.verify() is False


def test_date_match() -> None:
    class Answer(BaseAnswer):
        approval_date: str = VerifiedField(
            description="FDA approval date",
            ground_truth="2016-04-11",
            verify_with=DateMatch(),
        )

    parsed = Answer(approval_date="April 11, 2016")
    assert parsed.verify() is True
    parsed_wrong = Answer(approval_date="2016-04-12")
    assert parsed_wrong.verify() is False


def test_date_tolerance() -> None:
    class Answer(BaseAnswer):
        approval_date: str = VerifiedField(
            description="FDA approval date",
            ground_truth="2016-04-11",
            verify_with=DateTolerance(tolerance=30, unit="days"),
        )

    parsed = Answer(approval_date="2016-04-25")
    assert parsed.verify() is True
    parsed_far = Answer(approval_date="2016-06-15")
    assert parsed_far.verify() is False


def test_date_range() -> None:
    class Answer(BaseAnswer):
        submission_date: str = VerifiedField(
            description="NDA submission date",
            ground_truth="N/A",
            verify_with=DateRange(min="2015-01-01", max="2015-12-31"),
        )

    parsed = Answer(submission_date="2015-06-15")
    assert parsed.verify() is True
    parsed_out = Answer(submission_date="2016-02-01")
    assert parsed_out.verify() is False


def test_trace_regex() -> None:
    class Answer(BaseAnswer):
        cites_trial: bool = VerifiedField(
            description="Whether the response cites a clinical trial",
            ground_truth=True,
            verify_with=TraceRegex(pattern=r"NCT\d{8}"),
        )

    parsed = Answer(cites_trial=True)
    parsed._raw_trace = "The MURANO trial (NCT02005471) demonstrated superior PFS."
    assert parsed.verify() is True
    parsed_no = Answer(cites_trial=True)
    parsed_no._raw_trace = "The trial demonstrated superior PFS."
    assert parsed_no.verify() is False


def test_trace_contains() -> None:
    class Answer(BaseAnswer):
        mentions_limitations: bool = VerifiedField(
            description="Whether the response mentions study limitations",
            ground_truth=True,
            verify_with=TraceContains(substring="limitation"),
        )

    parsed = Answer(mentions_limitations=False)
    parsed._raw_trace = "A limitation is the small sample."
    assert parsed.verify() is True


def test_trace_contains_tests_absence_with_a_false_ground_truth() -> None:
    class Answer(BaseAnswer):
        avoids_brand_name: bool = VerifiedField(
            description="Whether the response avoids the brand name",
            ground_truth=False,
            verify_with=TraceContains(substring="Venclexta"),
        )

    parsed = Answer(avoids_brand_name=True)
    parsed._raw_trace = "The selective BCL2 inhibitor was approved for CLL."
    assert parsed.verify() is True
    parsed_found = Answer(avoids_brand_name=True)
    parsed_found._raw_trace = "Venclexta (venetoclax) was approved for CLL."
    assert parsed_found.verify() is False


@pytest.mark.parametrize(("words", "passes"), [(99, False), (100, True)])
def test_trace_length(words: int, passes: bool) -> None:
    class Answer(BaseAnswer):
        is_substantive: bool = VerifiedField(
            description="Whether the response is substantive in length",
            ground_truth=True,
            verify_with=TraceLength(min=100, unit="words"),
        )

    parsed = Answer(is_substantive=True)
    parsed._raw_trace = "word " * words
    assert parsed.verify() is passes
    assert TraceLength().unit == "chars"


@pytest.mark.parametrize(
    "rule",
    [TraceRegex(pattern="a"), TraceContains(substring="a"), TraceLength(min=1)],
    ids=lambda rule: type(rule).__name__,
)
def test_trace_fields_must_be_typed_bool(rule: TracePrimitive) -> None:
    with pytest.raises(TypeError, match="must therefore be typed bool"):

        class Answer(BaseAnswer):
            found: str = VerifiedField(description="Found", ground_truth=True, verify_with=rule)


@pytest.mark.parametrize(
    ("value", "passes"), [("BCL2", True), ("Bcl-2", True), ("B-cell lymphoma 2", True), ("KRAS", False)]
)
def test_synonym_map(value: str, passes: bool) -> None:
    class Answer(BaseAnswer):
        gene: str = VerifiedField(
            description="Gene name",
            ground_truth="BCL2",
            verify_with=ExactMatch(
                normalize=[
                    "lowercase",
                    "strip",
                    SynonymMap(mapping={"bcl-2": "bcl2", "b-cell lymphoma 2": "bcl2"}),
                ]
            ),
        )

    parsed = Answer(gene=value)
    assert parsed.verify() is passes


def test_normaliser_ordering_matters() -> None:
    synonyms = SynonymMap(mapping={"bcl-2": "bcl2"})
    assert ExactMatch(normalize=["lowercase", synonyms]).check("Bcl-2", "BCL2")
    assert not ExactMatch(normalize=[synonyms, "lowercase"]).check("Bcl-2", "BCL2")


def test_custom_parsed_primitive() -> None:
    class CaseInsensitiveContains(VerificationPrimitive):
        """Pass if ground truth appears as a substring of the extracted value."""

        def check(self, extracted: Any, expected: Any) -> bool:
            return str(expected).lower() in str(extracted).lower()

    class Answer(BaseAnswer):
        drug: str = VerifiedField(
            description="The drug named", ground_truth="venetoclax", verify_with=CaseInsensitiveContains()
        )

    assert Answer(drug="Venetoclax (Venclexta)").verify() is True
    assert Answer(drug="Ibrutinib").verify() is False


def test_custom_trace_primitive() -> None:
    class TraceWordCount(TracePrimitive):
        """Pass if the response word count falls within bounds."""

        min_words: int = 0
        max_words: int = 10000

        def check_trace(self, raw_trace: str) -> bool:
            count = len(raw_trace.split())
            return self.min_words <= count <= self.max_words

    class Answer(BaseAnswer):
        is_brief: bool = VerifiedField(
            description="Whether it is brief", ground_truth=True, verify_with=TraceWordCount(max_words=3)
        )

    parsed = Answer(is_brief=True)
    parsed._raw_trace = "Three short words"
    assert parsed.verify() is True
    parsed._raw_trace = "These are rather more than three words"
    assert parsed.verify() is False
    assert callable(_register_primitive)


@pytest.mark.parametrize("name", ["embedding_check", "embedding_check_enabled"])
def test_the_embedding_check_is_switched_on_by_either_name(name: str) -> None:
    models = {"answering_models": ["openai/a"], "parsing_models": ["openai/b"]}
    config = VerificationConfig.model_validate({**models, name: True})
    assert config.embedding_check_enabled
    assert VerificationConfig.model_validate_json(config.model_dump_json()) == config
    assert not VerificationConfig.model_validate(models).embedding_check_enabled
