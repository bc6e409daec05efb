"""Every rule of the linter: a template that it speaks of, one it does not, and the fix that silences it."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.authoring import Finding, lint
from karenina_core.authoring.linter.findings import RULES
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import (
    CONFIG,
    FIELD_CASES,
    TEMPLATE_CASES,
    category,
    day,
    field,
    items,
    number,
    yes,
)

# Rules with cases for which nothing can be decided without the author.
WITHOUT_FIX = {
    "truth_too_long", "truth_placeholder", "pattern_can_hang", "no_bounds", "semantic_off", "short_substring",
    "synonyms_unused", "decides_nothing", "same_description", "field_unverified",
}  # fmt: skip


def found(template: Any, code: str) -> list[Finding]:
    return [finding for finding in lint(template, config=CONFIG) if finding.code == code]


def test_every_rule_has_its_cases() -> None:
    assert {rule.code for rule in RULES["field"]} == {*FIELD_CASES, "truth_not_in_reference"}
    assert {rule.code for rule in RULES["template"]} == {*TEMPLATE_CASES, "own_unknown_name"}


SPEAKS = [(code, TemplateSpec(fields=[item])) for code, (bad, _) in FIELD_CASES.items() for item in bad]
SPEAKS += [(code, spec) for code, (bad, _) in TEMPLATE_CASES.items() for spec in bad]
SILENT = [(code, TemplateSpec(fields=[item])) for code, (_, good) in FIELD_CASES.items() for item in good]
SILENT += [(code, spec) for code, (_, good) in TEMPLATE_CASES.items() for spec in good]


@pytest.mark.parametrize(("code", "spec"), SPEAKS, ids=[f"{code}-{n}" for n, (code, _) in enumerate(SPEAKS)])
def test_a_rule_speaks(code: str, spec: TemplateSpec) -> None:
    (finding,) = found(spec, code)
    assert finding.what.endswith(".") and finding.why.endswith(".") and finding.next.endswith(".")
    if finding.fix is not None:
        mended = finding.fix.edit(spec)
        assert not found(mended, code)
        assert not mended.verified or read_template(write_template(mended)).spec == mended


@pytest.mark.parametrize(("code", "spec"), SILENT, ids=[f"{code}-{n}" for n, (code, _) in enumerate(SILENT)])
def test_a_rule_is_silent(code: str, spec: TemplateSpec) -> None:
    assert not found(spec, code)


@pytest.mark.parametrize("code", sorted({*FIELD_CASES, *TEMPLATE_CASES} - WITHOUT_FIX))
def test_a_rule_offers_a_fix(code: str) -> None:
    assert any(finding.fix for case, spec in SPEAKS if case == code for finding in found(spec, code))


def test_a_truth_that_the_reference_answer_does_not_hold() -> None:
    def codes(truth: Any, reference: str, item: FieldSpec) -> bool:
        spec = TemplateSpec(fields=[item.model_copy(update={"ground_truth": truth})])
        return "truth_not_in_reference" in {f.code for f in lint(spec, reference_answer=reference)}

    assert codes("KRAS", "BCL2 (B-cell lymphoma 2)", field())
    assert codes(24, "23 pairs", number())
    assert codes(["CLL", "NHL"], "CLL, SLL and AML", items())
    assert codes("2016-04-12", "April 11, 2016", day())
    assert not codes("bcl-2", "Bcl2, an anti-apoptotic protein", field())
    assert not codes("2016-04-11", "April 11, 2016", day())
    assert not codes("2016-04-11", "Yes, first on April 11, 2016", day())
    assert not codes(True, "No", yes())


def test_a_placeholder_can_be_replaced_by_the_reference_answer() -> None:
    spec = TemplateSpec(fields=[number(None)])
    (finding,) = [f for f in lint(spec, reference_answer="23 pairs") if f.code == "truth_placeholder"]
    assert finding.fix is not None
    assert finding.fix.edit(spec).fields[0].ground_truth == 23


def test_a_sound_template_has_no_finding() -> None:
    sound = TemplateSpec(fields=[field(), number(), items(), category(), day(), yes()])
    assert lint(sound, config=CONFIG, question="Which?", reference_answer=None) == []
