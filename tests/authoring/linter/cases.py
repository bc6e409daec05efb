"""Fields and templates that the rules of the linter speak of, and some like them that they do not."""

from __future__ import annotations

from typing import Any

from karenina_core.schemas import AllOf, AnyOf, FieldCheck, ModelConfig, VerificationConfig
from karenina_core.templates import FieldSpec, TemplateSpec

MODEL = ModelConfig(id="m", model_provider="openai", model_name="m")
CONFIG = VerificationConfig(answering_models=[MODEL], parsing_models=[MODEL])
LOWER = ["lowercase", "strip"]
BOTH = {"type": "ExactMatch", "normalize": LOWER}
GENE = "The symbol of the gene that the response settles on"
AMOUNT = "The number of patients enrolled, as a whole number"
SHARE = "The share of patients that responded, as a fraction of one"
LISTED = "Every approved indication that the response lists"
DAY = "The day on which the drug was approved"
LONG = "Venetoclax binds to the protein and thereby frees others that start the death of the cell"


def field(**settings: Any) -> FieldSpec:
    plain = {"name": "gene", "description": GENE, "ground_truth": "BCL2", "verify_with": BOTH}
    return FieldSpec.model_validate({**plain, **settings})


def exact(*normalizers: Any, truth: Any = "BCL2") -> FieldSpec:
    return field(ground_truth=truth, verify_with={"type": "ExactMatch", "normalize": list(normalizers)})


def number(truth: Any = 342, kind: str = "int", **rule: Any) -> FieldSpec:
    rule = rule or {"type": "NumericExact"}
    description = AMOUNT if kind == "int" else SHARE
    return field(name="amount", type=kind, description=description, ground_truth=truth, verify_with=rule)


def items(truth: Any = ("CLL", "SLL"), options: dict[str, Any] | None = None, **rule: Any) -> FieldSpec:
    rule = {"type": "SetContainment", "normalize": LOWER, **rule}
    return field(
        name="uses", type="list_str", description=LISTED, ground_truth=truth, verify_with=rule, options=options or {}
    )


def category(truth: Any = "III", values: tuple[Any, ...] = ("I", "II", "III"), **more: Any) -> FieldSpec:
    settings = {"type": "literal", "literal_values": list(values), "verify_with": {"type": "LiteralMatch"}, **more}
    return field(name="phase", description="The phase of the trial described", ground_truth=truth, **settings)


def day(truth: Any = "2016-04-11", description: str = DAY, **rule: Any) -> FieldSpec:
    rule = rule or {"type": "DateMatch"}
    return field(name="approved", type="date", description=description, ground_truth=truth, verify_with=rule)


def trace(truth: Any = True, **rule: Any) -> FieldSpec:
    description = "Whether the response cites a trial"
    return field(name="cites", type="bool", description=description, ground_truth=truth, verify_with=rule)


def yes(description: str = "Whether the drug is approved", truth: Any = True) -> FieldSpec:
    rule = {"type": "BooleanMatch"}
    return field(name="holds", type="bool", description=description, ground_truth=truth, verify_with=rule)


def contains(*substrings: str, kind: str = "ContainsAny", normalize: Any = LOWER) -> FieldSpec:
    rule = {"type": kind, "substrings": list(substrings), "normalize": list(normalize)}
    return field(ground_truth="N/A", verify_with=rule)


def pattern(text: str, kind: str = "RegexMatch", **more: Any) -> FieldSpec:
    if kind == "TraceRegex":
        return trace(type=kind, pattern=text)
    return field(ground_truth="N/A", verify_with={"type": kind, "pattern": text, **more})


def similar(threshold: float = 0.85) -> FieldSpec:
    return field(ground_truth=LONG, verify_with={"type": "SemanticMatch", "threshold": threshold})


# Code of the rule: fields it speaks of, and fields like them it does not.
FIELD_CASES: dict[str, tuple[list[FieldSpec], list[FieldSpec]]] = {
    "truth_fails_rule": ([day("soon"), day("11 April 2016", type="DateMatch", format="%Y-%m-%d"),
        field(verify_with={"type": "RegexMatch", "pattern": "NCT"}), number(7, type="NumericRange", min=10)],
        [day(), pattern("NCT"), number(0, type="NumericRange", min=1), number(12, type="NumericRange", min=10),
         similar()]),
    "truth_not_option": ([category("iii"), category("IV"), category(3)], [category(), category(1, (1, 2))]),
    "truth_placeholder": ([field(ground_truth="N/A"), field(ground_truth="correct_answer"), number(None),
        field(ground_truth=" ")],
        [field(), number(0), contains("apoptosis"), category("none", ("none", "some")), items(())]),
    "truth_list_in_text": ([items(["CLL, SLL and AML"])], [items(["CLL"]), items(), items(["BCL2 (a, b)"])]),
    "date_ambiguous": ([day("11/04/2016"), day("N/A", type="DateRange", min="01/02/2015"),
        day("11/04/2016", type="DateMatch", dayfirst=True)],
        [day(), day("13/04/2016"), day("04/04/2016"), day("11/04/2016", type="DateMatch", format="%d/%m/%Y")]),
    "truth_too_long": ([field(ground_truth=LONG)], [field(ground_truth="B-cell lymphoma 2"), similar()]),
    "synonym_in_brackets": ([field(ground_truth="BCL2 (B-cell lymphoma 2)"), field(ground_truth="BCL2 or Bcl-2")],
        [field()]),
    "description_leaks_truth": ([field(description="Whether it is BCL2 or another gene"),
        number(23).model_copy(update={"description": "The number of pairs, which is 23"}),
        items().model_copy(update={"description": "Uses such as CLL that are listed"}),
        day(description="The day, April 11, 2016, of approval"),
        contains("apoptosis").model_copy(update={"description": "The mechanism, apoptosis or other"}),
        category("III").model_copy(update={"description": "The phase, which was III here"})],
        [field(), field(description="A gene such as BCL2L1"),
         number(23).model_copy(update={"description": "The number of the 46 chromosomes"}),
         yes("Whether the answer is BCL2"),
         category("III").model_copy(update={"description": "The phase: I, II or III"})]),
    "rule_unsuited": ([field(verify_with={"type": "NumericExact"}),
        field(name="n", type="int", ground_truth=4, verify_with=BOTH),
        field(type="list_str", ground_truth=["BCL2"], verify_with=BOTH)],
        [field(), number(), category(), field(type="other", annotation="str | None")]),
    "pattern_matches_empty": ([pattern(r"\d*"), pattern("", "TraceRegex"), pattern("(NCT)?")],
        [pattern(r"\d+"), pattern("NCT", "TraceRegex"), contains("a word")]),
    "pattern_can_hang": ([pattern("(a+)+b"), pattern("(a{2,}b*)*", "TraceRegex")],
        [pattern(r"(\d+,)*\d+"), pattern("a+b+")]),
    "tolerance_of_zero": ([number(0, "float", type="NumericTolerance", tolerance=0.1),
        number(0.0, "float", type="NumericTolerance", tolerance=2)],
        [number(0, "float", type="NumericTolerance", tolerance=0.1, mode="absolute"),
         number(1, "float", type="NumericTolerance", tolerance=0.1)]),
    "tolerance_in_percent": ([number(0.72, "float", type="NumericTolerance", tolerance=5)],
        [number(0.72, "float", type="NumericTolerance", tolerance=0.05),
         number(0.72, "float", type="NumericTolerance", tolerance=5, mode="absolute")]),
    "decimal_exactly": ([number(0.72, "float")], [number(3, "float"), number(2.0, "float"), number()]),
    "no_bounds": ([number(0, type="NumericRange"), day("N/A", type="DateRange"), trace(type="TraceLength")],
        [number(0, type="NumericRange", min=1), trace(type="TraceLength", max=100)]),
    "empty_list_passes": ([items(mode="subset"), items((), mode="superset")],
        [items(mode="superset"), items(mode="subset", options={"min_length": 1})]),
    "short_substring": ([contains("no", "not found"), contains("II", "IV", kind="ContainsAll"),
        trace(type="TraceContains", substring="no")],
        [contains("not"), contains("++"), trace(type="TraceContains", substring="none")]),
    "case_counts": ([items(normalize=[]), contains("apoptosis", normalize=[]), exact("strip"),
        exact({"mapping": {"Bcl-2": "BCL2"}})],
        [items(), exact(*LOWER), exact("casefold"), exact("strip", truth="23")]),
    "semantic_off": ([similar()], [field()]),
    "truth_vanishes": ([exact("remove_punctuation", truth="!?"), items(["a", "+"], normalize=["remove_punctuation"]),
        exact("remove_punctuation", "strip", truth="version 1.5"),
        contains("-5 degrees", normalize=["remove_punctuation"])],
        [exact(*LOWER), exact("remove_punctuation", "strip", truth="t(14;18)"), exact(*LOWER, truth="version 1.5")]),
    "normalizer_without_effect": ([exact("lowercase", "lowercase"), exact("strip", "collapse_whitespace"),
        exact("lowercase", "casefold")],
        [exact(*LOWER), exact("remove_punctuation", "strip")]),
    "truth_as_text": ([field(ground_truth="2016-04-11"), field(ground_truth="April 11, 2016"), field(ground_truth="23"),
        field(ground_truth="23 pairs"), field(ground_truth="about 0.72"), field(ground_truth="Yes"),
        field(ground_truth="false"), field(ground_truth="CLL, SLL and AML")],
        [field(), field(ground_truth="007"), field(ground_truth="p53"), field(ground_truth="5 to 10"),
         field(ground_truth="yesterday")]),
    "truth_type": ([trace("no", type="TraceContains", substring="NCT"), number("342"), number("342 patients"),
        yes(truth="yes"), items("CLL, SLL"), day(2016), number(2.5), field(ground_truth=3)],
        [trace(False, type="TraceContains", substring="NCT"), number(), yes(), items(), day(), field()]),
    "description_vague": ([field(name="target", description="The target"),
        field(name="trial_phase", description="The trial phase."), field(description="The answer"),
        field(description="Gene", name="target"), field(description="", verify_with=None)],
        [field(verify_with=None), field(name="target", description="Protein target name"),
         field(name="trial_phase", description="Clinical trial phase"),
         field(name="continent", description="The continent mentioned"), field(),
         field(description="The protein target of the drug mentioned in the response", name="target")]),
    "hint_leaks_truth": ([field(extraction_hint="Often written BCL2."), field(options={"examples": ["KRAS", "BCL2"]})],
        [field(extraction_hint="Upper case."), field(options={"examples": ["KRAS"]})]),
    "options_alike": ([category("I", ("I",)), category("yes", ("yes", "Yes", "no"))],
        [category(), category(), category("a", ("a", "b"))]),
    "synonym_not_applied": ([exact(*LOWER, {"mapping": {"Bcl-2": "bcl2"}}),
        exact("strip", {"mapping": {" bcl": "BCL2"}}), exact(*LOWER, {"mapping": {"bcl-2": "BCL2"}}),
        exact(*LOWER, {"mapping": {"bcl-2": "b2", "b2": "bcl2"}}), exact({"mapping": {"Bcl-2": "BCL2"}}, "lowercase"),
        exact("strip", {"mapping": {"bcl-2": "bcl2"}}, "lowercase")],
        [exact(*LOWER, {"mapping": {"bcl-2": "bcl2"}}), exact({"mapping": {"Bcl-2": "BCL2"}}),
         exact(*LOWER, {"mapping": {"bcl-2": "BCL2", "bcl2": "BCL2"}}),
         exact("lowercase", {"mapping": {"bcl-2": "bcl2"}})]),
    "synonyms_unused": ([exact(*LOWER, {"mapping": {"kras2": "kras"}}),
        contains("apoptosis", normalize=[*LOWER, {"mapping": {"cell death": "apoptosis"}}])],
        [exact(*LOWER, {"mapping": {"bcl-2": "bcl2", "kras2": "kras"}}), exact(*LOWER), contains("apoptosis"),
         exact(*LOWER, {"mapping": {"bcl-2": "bcl2"}})]),
}  # fmt: skip

CHECKS = {name: FieldCheck(field_name=name) for name in ("gene", "amount")}


def pair(strategy: Any = None, **changes: Any) -> TemplateSpec:
    return TemplateSpec(fields=[field(**changes), number()], verify_strategy=strategy)


TEMPLATE_CASES: dict[str, tuple[list[TemplateSpec], list[TemplateSpec]]] = {
    "decides_nothing": ([TemplateSpec(), TemplateSpec(fields=[field(verify_with=None)])], [pair()]),
    "field_left_out": ([pair(AllOf(conditions=[CHECKS["gene"]])), pair(CHECKS["amount"])],
        [pair(), pair(AnyOf(conditions=list(CHECKS.values())))]),
    "same_description": ([pair(description=AMOUNT.upper())], [pair()]),
    "field_unverified": ([pair(verify_with=None)], [pair()]),
}  # fmt: skip
