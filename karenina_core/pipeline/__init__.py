"""The thirteen stages that turn a question into a result with its evidence."""

from karenina_core.pipeline.context import Context
from karenina_core.pipeline.pipeline import Pipeline
from karenina_core.pipeline.plan import STAGES
from karenina_core.pipeline.reverify import reverify_result

__all__ = ["STAGES", "Context", "Pipeline", "reverify_result"]
