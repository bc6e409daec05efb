"""The order of the stages is fixed, and each finds its inputs."""

import pytest

from karenina_core.pipeline import SHARED, STAGES
from karenina_core.pipeline.pipeline import check_stages


def test_there_are_thirteen_stages_in_their_established_order() -> None:
    assert [stage.name for stage in STAGES] == [
        "validate_template",
        "generate_answer",
        "recursion_limit_autofail",
        "trace_validation_autofail",
        "abstention_check",
        "sufficiency_check",
        "parse_template",
        "verify_template",
        "embedding_check",
        "deep_judgment_autofail",
        "rubric_evaluation",
        "deep_judgment_rubric_autofail",
        "finalize_result",
    ]


def test_verification_is_stage_eight_and_the_embedding_check_stage_nine() -> None:
    assert STAGES[7].name == "verify_template"
    assert STAGES[8].name == "embedding_check"


def test_no_shared_stage_asks_a_judge() -> None:
    produced = set().union(*(stage.produces for stage in STAGES[:SHARED]))
    assert produced == {"template", "answer"}


def test_a_stage_without_its_inputs_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="parse_template requires answer"):
        check_stages([STAGES[0], STAGES[6]])


def test_a_stage_that_is_off_says_why() -> None:
    assert all(stage.off for stage in STAGES if stage.name.startswith("deep_judgment"))
