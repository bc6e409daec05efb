"""Stage 12: fail answers whose trait values have no excerpt behind them."""

from __future__ import annotations

from karenina_core.pipeline.stage import Stage


class DeepJudgmentRubricAutofail(Stage):
    name = "deep_judgment_rubric_autofail"
    off = "deep judgment (an excerpt for every trait value) is not part of this version"
