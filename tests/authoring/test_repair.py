"""Fixes of findings, applied to sources."""

from __future__ import annotations

import pytest
from hypothesis import given

from karenina_core.authoring import (
    Finding,
    SpecFix,
    form_data,
    lint,
    repair_all,
    repair_whole_form,
    repaired,
    repaired_form,
    set_name,
    set_value,
)
from karenina_core.errors import InputError
from karenina_core.templates import TemplateSpec, read_template, write_template
from tests.templates.test_writer import specs

SOURCE = """\
class Answer(BaseAnswer):
    # Which gene.
    gene: str = VerifiedField(
        description="The gene",  # too short
        ground_truth="BCL2",
        verify_with=ExactMatch(),
    )
"""


def test_a_fix_leaves_comments_where_they_are() -> None:
    (finding,) = lint(SOURCE)
    fixed = repaired(SOURCE, finding)
    assert finding.code == "description_repeats_name" and finding.line == 3
    assert "# Which gene." in fixed and "# too short" in fixed and not lint(fixed)


def test_a_finding_without_a_fix_says_what_to_do() -> None:
    with pytest.raises(InputError, match="Look"):
        repaired(SOURCE, Finding("x", "hint", None, "What.", "Why.", "Look at it."))


@given(specs())
def test_every_fix_that_is_offered_makes_its_finding_go_away(spec: TemplateSpec) -> None:
    for finding in lint(spec):
        if isinstance(finding.fix, SpecFix):
            mended = finding.fix.edit(spec)
            left = [(other.code, other.field) for other in lint(mended)]
            assert (finding.code, finding.field) not in left
            assert not mended.verified or read_template(write_template(mended)).spec == mended


@given(specs())
def test_a_fix_of_a_form_is_a_fix_of_its_source(spec: TemplateSpec) -> None:
    source = write_template(spec)
    for finding in lint(source):
        if isinstance(finding.fix, SpecFix):
            assert read_template(repaired(source, finding)).spec == finding.fix.edit(spec)


def test_all_fixes_are_applied_one_after_the_other() -> None:
    source = SOURCE.replace('"BCL2"', '"23"').replace("str =", "int =").replace("ExactMatch()", "NumericExact()")
    mended = repair_all(source)
    assert mended.applied and mended.result != source
    assert not [finding for finding in lint(mended.result) if finding.fix is not None]


def test_fixes_also_complete_a_form() -> None:
    data = set_name(form_data(read_template(SOURCE).spec), 0, "the gene")
    mended = repair_whole_form(data)
    assert mended.applied[0].code == "field_name"
    assert mended.result["fields"][0]["name"] == "the_gene" and data["fields"][0]["name"] == "the gene"


def test_a_fix_of_the_fields_works_on_a_form_that_makes_a_template() -> None:
    data = set_value(form_data(read_template(SOURCE).spec), 0, "weight", 0.0)
    assert repair_whole_form(data).result["fields"][0]["weight"] == 1.0


def test_what_has_no_fix_for_a_form_is_refused() -> None:
    finding = Finding("x", "hint", None, "what", "why", "next")
    with pytest.raises(InputError, match="no fix"):
        repaired_form({"fields": []}, finding)
