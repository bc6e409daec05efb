"""Fixes of findings, applied to sources."""

from __future__ import annotations

import pytest
from hypothesis import given

from karenina_core.authoring import Finding, SpecFix, lint, repaired
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
