"""`SemanticMatch`: a marker, decided by the pipeline."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.schemas.primitives import SemanticMatch


@pytest.mark.parametrize("value", ["Targets BCL2", None, 3])
def test_it_cannot_be_checked_directly(value: Any) -> None:
    with pytest.raises(NotImplementedError, match="embedding_check stage"):
        SemanticMatch().check(value, "Targets the BCL2 protein")
    with pytest.raises(NotImplementedError, match="embedding_check stage"):
        SemanticMatch().explain(value, "Targets the BCL2 protein")


def test_a_similarity_on_the_threshold_passes() -> None:
    assert SemanticMatch().threshold == 0.85
    assert SemanticMatch().passes(0.85)
    assert not SemanticMatch().passes(0.8499)
    assert not SemanticMatch().passes(float("nan"))


@pytest.mark.parametrize("threshold", [-0.1, 1.01, float("nan"), float("inf"), None, "high"])
def test_thresholds_outside_zero_to_one_are_refused(threshold: Any) -> None:
    with pytest.raises(ValidationError):
        SemanticMatch(threshold=threshold)


def test_a_similarity_is_explained() -> None:
    explained = SemanticMatch(threshold=0.8).explain_similarity(0.75)
    assert not explained.passed
    assert explained.reason == "The similarity 0.750 stays below the threshold 0.8."
