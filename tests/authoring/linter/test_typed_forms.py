"""Forms while they are typed."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.authoring import FormData, lint_form
from tests.authoring.linter.cases import field

GENE = field().model_dump()


def form(*fields: dict[str, Any], **more: Any) -> FormData:
    return {"fields": [{**GENE, **item} for item in fields], **more}


TRACE = {"type": "TraceContains", "substring": "NCT"}
CASES = [
    ("field_name", form({"name": "1st gene"})), ("field_name", form({"name": "correct"})),
    ("field_name", form({"name": ""})),
]  # fmt: skip


@pytest.mark.parametrize(("code", "data"), CASES)
def test_what_stands_in_the_way_and_the_fix_for_it(code: str, data: FormData) -> None:
    before = repr(data)
    (finding,) = lint_form(data)
    assert (finding.code, finding.severity) == (code, "error")
    assert finding.fix is not None
    mended = finding.fix.edit(data)
    assert code not in {other.code for other in lint_form(mended)}
    assert repr(data) == before


@pytest.mark.parametrize(
    ("code", "data"),
    [("form_incomplete", form({"description": " "})),
     ("form_incomplete", form({"verify_with": {"type": "NumericTolerance"}})),
     ("form_incomplete", form({"verify_with": {"type": "Unknown"}})), ("form_incomplete", form({"weight": -1})),
     ("form_incomplete", form({}, {}, {"name": "gene_2"})),
     ("form_incomplete", form({"weight": 0}, {"name": "b", "weight": 0})),
     ("form_incomplete", form({"type": "literal", "verify_with": {"type": "LiteralMatch"}})),
     ("form_incomplete", form({"verify_with": TRACE})),
     ("form_incomplete", form({"verify_with": {"type": "RegexMatch", "pattern": "t(14;18"}})),
     ("form_incomplete", form({}, verify_strategy={"type": "field_check", "field_name": "other"})),
     ("form_incomplete", {"fields": "none"})],
)  # fmt: skip
def test_what_only_the_author_can_add(code: str, data: FormData) -> None:
    (finding,) = lint_form(data)
    assert (finding.code, finding.fix) == (code, None)
    assert finding.what.endswith(".")


def test_everything_in_the_way_is_said_at_once() -> None:
    data = form({"name": "a b"}, {"verify_with": TRACE, "name": "c"})
    assert [finding.code for finding in lint_form(data)] == ["field_name", "form_incomplete"]


def test_a_form_that_makes_a_template_is_linted_as_one() -> None:
    assert lint_form(form({})) == []
    assert [finding.code for finding in lint_form(form({"ground_truth": "N/A"}))] == ["truth_placeholder"]
    assert [finding.code for finding in lint_form({"fields": []})] == ["decides_nothing"]
