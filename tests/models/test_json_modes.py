from __future__ import annotations

from typing import Any

import pytest

from karenina_core.models.json_modes import instructed, is_strict, settings_for
from tests.models.fakes import SCHEMA


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({**SCHEMA, "$defs": {"Inner": {"type": "object", "properties": {}}}}, False),
    ],
)
def test_strict_mode_is_asked_for_when_the_schema_allows_it(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
    assert settings_for(schema, "schema")["response_format"]["json_schema"]["strict"] is strict


def test_an_instruction_leaves_the_other_messages_alone() -> None:
    before = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Eight legs."}]
    after = instructed(before, SCHEMA)
    assert after[0] == before[0]
    assert after[1]["content"].startswith("Eight legs.\n\nReply with one JSON object")
    assert before[1]["content"] == "Eight legs."
    assert settings_for(SCHEMA, "instruction") == {}
