"""Stage 10: fail answers whose extracted values have no excerpt behind them."""

from __future__ import annotations

from karenina_core.pipeline.stage import Stage


class DeepJudgmentAutofail(Stage):
    name = "deep_judgment_autofail"
    off = "deep judgment (an excerpt for every extracted value) is not part of this version"
