"""Models, runs and judges against each other: matched by question, tested, ranked, and said in plain sentences."""

from karenina_core.analysis.comparison.arms import Arm, arm_labels, match, tallies
from karenina_core.analysis.comparison.pairs import Pair, compare, compare_all
from karenina_core.analysis.comparison.words import interval_sentence, power_sentence, verdict_sentence

__all__ = [
    "Arm",
    "Pair",
    "arm_labels",
    "compare",
    "compare_all",
    "interval_sentence",
    "match",
    "power_sentence",
    "tallies",
    "verdict_sentence",
]
