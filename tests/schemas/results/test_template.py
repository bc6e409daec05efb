from __future__ import annotations

from karenina_core.schemas import FieldEvidence, TemplatePart


def test_only_fields_with_a_rule_have_results() -> None:
    rule = {"type": "BooleanMatch"}
    fields = [
        FieldEvidence(name="right", result=True, rule=rule),
        FieldEvidence(name="missing", rule=rule),
        FieldEvidence(name="own", result=True),
    ]
    part = TemplatePart(template_id="t", style="declarative", fields=fields)
    assert part.field_results == {"right": True, "missing": None}
