from __future__ import annotations

import pytest

from karenina_core.analysis import field_sign
from karenina_core.schemas import SimilarityPart

SEMANTIC = {"type": "SemanticMatch", "threshold": 0.85}


@pytest.mark.parametrize(
    ("passed", "parts", "sign"),
    [
        (True, {}, "✓ right"),
        (False, {}, "✗ wrong"),
        (None, {}, "– nothing found"),
        (None, {"rule": None}, ""),
        (None, {"extracted": "BCL2"}, "– not decided"),
        (None, {"extracted": "BCL2", "rule": SEMANTIC}, "– not decided: the embedding check was off"),
        (None, {"rule": SEMANTIC}, "– nothing found"),
        (False, {"rule": SEMANTIC}, "✗ wrong"),
    ],
)
def test_a_field_says_what_became_of_it(result, field, passed, parts, sign: str) -> None:
    item = field(passed=passed, **parts)
    assert field_sign(result(fields=[item]), item) == sign


def test_an_embedding_check_that_failed_was_not_off(result, field) -> None:
    item = field(passed=None, extracted="BCL2", rule=SEMANTIC)
    failed = SimilarityPart(performed=False, reason="The model could not be loaded.")
    assert field_sign(result(fields=[item], similarity=failed), item) == "– not decided: the embedding check failed"
