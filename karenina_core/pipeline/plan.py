"""The order of the stages, and the check that each finds its inputs."""

from __future__ import annotations

from collections.abc import Sequence

from karenina_core.pipeline.stage import Stage
from karenina_core.pipeline.stages.abstention_check import AbstentionCheck
from karenina_core.pipeline.stages.deep_judgment_autofail import DeepJudgmentAutofail
from karenina_core.pipeline.stages.deep_judgment_rubric_autofail import DeepJudgmentRubricAutofail
from karenina_core.pipeline.stages.embedding_check import EmbeddingCheck
from karenina_core.pipeline.stages.finalize_result import FinalizeResult
from karenina_core.pipeline.stages.generate_answer import GenerateAnswer
from karenina_core.pipeline.stages.parse_template import ParseTemplate
from karenina_core.pipeline.stages.recursion_limit_autofail import RecursionLimitAutofail
from karenina_core.pipeline.stages.rubric_evaluation import RubricEvaluation
from karenina_core.pipeline.stages.sufficiency_check import SufficiencyCheck
from karenina_core.pipeline.stages.trace_validation_autofail import TraceValidationAutofail
from karenina_core.pipeline.stages.validate_template import ValidateTemplate
from karenina_core.pipeline.stages.verify_template import VerifyTemplate

STAGES: tuple[Stage, ...] = (
    ValidateTemplate(),
    GenerateAnswer(),
    RecursionLimitAutofail(),
    TraceValidationAutofail(),
    AbstentionCheck(),
    SufficiencyCheck(),
    ParseTemplate(),
    VerifyTemplate(),
    EmbeddingCheck(),
    DeepJudgmentAutofail(),
    RubricEvaluation(),
    DeepJudgmentRubricAutofail(),
    FinalizeResult(),
)
"""All stages in order. The first four need no judge and are shared by all judges of an answer."""

SHARED = 4
"""How many of them are shared."""


def check_plan(stages: Sequence[Stage]) -> None:
    """Check that every stage's inputs are produced before it.

    Raises:
        ValueError: A stage requires what no earlier stage produces.
    """
    produced: set[str] = set()
    for stage in stages:
        missing = stage.requires - produced
        if missing:
            raise ValueError(
                f"Stage {stage.name} requires {', '.join(sorted(missing))}, which no earlier stage produces."
            )
        produced |= stage.produces


check_plan(STAGES)
