"""The documented example of every primitive, as a template source with its documented outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.templates import Template, read_template

SYNONYMS = 'SynonymMap(mapping={"bcl-2": "bcl2", "b-cell lymphoma 2": "bcl2"})'
EXTRACTED: list[tuple[str, str, str, list[tuple[Any, bool]]]] = [
    ("bool", "True", "BooleanMatch()", [(True, True), (False, False)]),
    (
        "str",
        '"BCL2"',
        'ExactMatch(normalize=["lowercase", "strip"])',
        [("BCL2", True), ("bcl2", True), (" Bcl2 ", True), ("KRAS", False)],
    ),
    (
        "str",
        '"N/A"',
        'ContainsAny(substrings=["apoptosis", "autophagy"])',
        [("Induces apoptosis by inhibiting BCL2", True), ("Inhibits cell proliferation", False)],
    ),
    (
        "str",
        '"N/A"',
        'ContainsAll(substrings=["phase III", "randomized", "double-blind"])',
        [("A phase III, randomized, double-blind study", True), ("A phase III, open-label study", False)],
    ),
    ("str", '"N/A"', r'RegexMatch(pattern=r"NCT\d{8}")', [("NCT02141282", True), ("CT-2014-001", False)]),
    ("int", "23", "NumericExact()", [(23, True), (46, False)]),
    (
        "float",
        "0.72",
        'NumericTolerance(tolerance=0.05, mode="absolute")',
        [(0.72, True), (0.70, True), (0.77, True), (0.80, False)],
    ),
    ("float", "0", "NumericRange(min=0.0, max=0.05)", [(0.001, True), (0.05, True), (0.10, False)]),
    (
        "list[str]",
        '["CLL", "SLL", "AML"]',
        'SetContainment(mode="superset")',
        [(["CLL", "SLL", "AML", "NHL"], True), (["CLL", "SLL"], False)],
    ),
    (
        "list[str]",
        '["Smith J", "Jones A", "Patel R"]',
        'OrderedMatch(normalize=["lowercase", "strip"])',
        [(["smith j", "jones a", "patel r"], True), (["Jones A", "Smith J", "Patel R"], False)],
    ),
    ('Literal["I", "II", "III", "IV"]', '"III"', "LiteralMatch()", [("III", True), ("II", False)]),
    ("str", '"2016-04-11"', "DateMatch()", [("April 11, 2016", True), ("2016-04-12", False)]),
    (
        "str",
        '"2016-04-11"',
        'DateTolerance(tolerance=30, unit="days")',
        [("2016-04-25", True), ("2016-06-15", False)],
    ),
    (
        "str",
        '"N/A"',
        'DateRange(min="2015-01-01", max="2015-12-31")',
        [("2015-06-15", True), ("2016-02-01", False)],
    ),
    (
        "str",
        '"BCL2"',
        f'ExactMatch(normalize=["lowercase", "strip", {SYNONYMS}])',
        [("BCL2", True), ("Bcl-2", True), ("B-cell lymphoma 2", True), ("KRAS", False)],
    ),
]
IN_THE_RESPONSE: list[tuple[str, str, str, bool]] = [
    ("True", r'TraceRegex(pattern=r"NCT\d{8}")', "The MURANO trial (NCT02005471) demonstrated superior PFS.", True),
    ("True", r'TraceRegex(pattern=r"NCT\d{8}")', "The trial demonstrated superior PFS.", False),
    ("True", 'TraceContains(substring="limitation")', "A limitation is the small sample.", True),
    ("False", 'TraceContains(substring="Venclexta")', "The selective BCL2 inhibitor was approved for CLL.", True),
    ("False", 'TraceContains(substring="Venclexta")', "Venclexta (venetoclax) was approved for CLL.", False),
    ("True", 'TraceLength(min=100, unit="words")', "word " * 100, True),
    ("True", 'TraceLength(min=100, unit="words")', "word " * 99, False),
]


def template(annotation: str, truth: str, rule: str) -> Template:
    return read_template(
        "class Answer(BaseAnswer):\n"
        f"    value: {annotation} = VerifiedField(\n"
        '        description="What the response states",\n'
        f"        ground_truth={truth},\n"
        f"        verify_with={rule},\n"
        "    )\n"
    )


@pytest.mark.parametrize(("annotation", "truth", "rule", "outcomes"), EXTRACTED, ids=[case[2] for case in EXTRACTED])
def test_rules_for_extracted_values(annotation: str, truth: str, rule: str, outcomes: list[tuple[Any, bool]]) -> None:
    read = template(annotation, truth, rule)
    for value, passes in outcomes:
        assert read.evaluate(read.validate_reply({"value": value}), "").verdict is passes
        assert read.answer_class(value=value).verify() is passes


@pytest.mark.parametrize(("truth", "rule", "response", "passes"), IN_THE_RESPONSE)
def test_rules_for_the_response(truth: str, rule: str, response: str, passes: bool) -> None:
    assert template("bool", truth, rule).evaluate({}, response).verdict is passes
