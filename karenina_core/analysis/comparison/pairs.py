"""Pairs of arms: the difference, how sure it is, and what can be said about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from karenina_core.analysis.comparison.arms import Arm, Matched, Tallies, match
from karenina_core.analysis.comparison.significance import (
    ALPHA,
    FEWEST,
    Test,
    holm,
    joint_level,
    paired_test,
    question_intervals,
)
from karenina_core.analysis.intervals import LEVEL

if TYPE_CHECKING:
    import pandas as pd

Finding = Literal["better", "worse", "open", "too_few", "nothing"]


@dataclass(frozen=True)
class Pair:
    """A candidate against a baseline.

    Attributes:
        baseline: The arm that is compared with.
        candidate: The arm that is compared.
        questions: Matched questions with a verdict on both sides.
        baseline_rate: Mean over these questions of the share of right answers, 0 to 1; not a number without any.
        candidate_rate: The same of the candidate.
        difference: Candidate minus baseline, -1 to 1.
        low: Lower end of its 95 % interval, made for this pair alone; not a number where there is none.
        high: Upper end.
        joint_low: Lower end of the interval that allows for all `pairs` comparisons (Bonferroni); `low` for one.
        joint_high: Upper end.
        scatter: Standard deviation of the differences per question.
        better: Questions that the candidate answers right more often.
        worse: Questions that it answers right less often.
        p: Chance of such a difference if there were none.
        corrected: The same, by Holm, for being one of `pairs` comparisons.
        pairs: How many comparisons were made together.
        test: Name of the test.
        repeated: Whether questions have several verdicts.
        unmatched: Questions that only one side was asked.
        undecided: Questions that both were asked and that lack a verdict.
        left_out: Repeats of matched questions that lack a verdict.
    """

    baseline: Arm
    candidate: Arm
    questions: int
    baseline_rate: float
    candidate_rate: float
    difference: float
    low: float
    high: float
    joint_low: float
    joint_high: float
    scatter: float
    better: int
    worse: int
    p: float
    corrected: float
    pairs: int
    test: str
    repeated: bool
    unmatched: int
    undecided: int
    left_out: int

    @property
    def disagreements(self) -> int:
        """Questions on which the two differ."""
        return self.better + self.worse

    @property
    def off_zero(self) -> bool:
        """Whether its own 95 % interval leaves out no difference, whatever the finding is."""
        return self.low > 0 or self.high < 0

    @property
    def finding(self) -> Finding:
        """What can be said.

        `better` or `worse` for a difference beyond chance after the correction, `open` when there may be none,
        `too_few` when so few questions differ that no test could tell, `nothing` without any matched question.
        """
        if not self.questions:
            return "nothing"
        if self.disagreements < FEWEST:
            return "too_few"
        if self.corrected > ALPHA:
            return "open"
        return "better" if self.difference > 0 else "worse"


def compare(counts: Tallies, baseline: Arm, candidates: Iterable[Arm]) -> list[Pair]:
    """Compare candidates with a baseline; the more there are, the stricter each is judged.

    Args:
        counts: See `arms.tallies`.
        baseline: The arm to compare with.
        candidates: The arms to compare; the baseline itself is passed over.
    """
    return pairs_of([match(counts, baseline, arm) for arm in candidates if arm != baseline])


def compare_all(counts: Tallies, arms: Sequence[Arm]) -> list[Pair]:
    """Compare every two arms, without intervals, which would take long for many and decide nothing."""
    matched = [match(counts, first, second) for place, first in enumerate(arms) for second in arms[place + 1 :]]
    return pairs_of(matched, intervals=False)


def pairs_of(matched: Sequence[Matched], *, intervals: bool = True) -> list[Pair]:
    """Sum up matched arms; what is beyond chance is judged for all of them together.

    Args:
        matched: Two arms each.
        intervals: Whether to find the intervals.
    """
    tests = [paired_test(each.questions) for each in matched]
    known = sum(not math.isnan(test.p) for test in tests)
    levels = [LEVEL, joint_level(known)] if intervals else []
    chances = holm([test.p for test in tests])
    return [
        _pair(each, test, chance, known, levels) for each, test, chance in zip(matched, tests, chances, strict=True)
    ]


def _pair(matched: Matched, test: Test, corrected: float, pairs: int, levels: Sequence[float]) -> Pair:
    questions = matched.questions
    differences = questions["difference"]
    nothing = [(math.nan, math.nan)] * 2
    (low, high), (joint_low, joint_high) = question_intervals(differences, levels) or nothing
    return Pair(
        matched.baseline,
        matched.candidate,
        questions=len(questions),
        baseline_rate=_mean(questions["baseline_rate"]),
        candidate_rate=_mean(questions["candidate_rate"]),
        difference=_mean(differences),
        low=low,
        high=high,
        joint_low=joint_low,
        joint_high=joint_high,
        scatter=float(differences.std()),
        better=matched.better,
        worse=matched.worse,
        p=test.p,
        corrected=corrected,
        pairs=pairs,
        test=test.name,
        repeated=matched.repeated,
        unmatched=len(matched.only_baseline) + len(matched.only_candidate),
        undecided=len(matched.undecided),
        left_out=matched.left_out,
    )


def pairs_frame(pairs: Sequence[Pair], labels: dict[Arm, str]) -> pd.DataFrame:
    """Return pairs as a table, for showing and for download."""
    import pandas as pd

    columns = [
        "questions", "baseline_rate", "candidate_rate", "difference", "low", "high", "joint_low", "joint_high",
        "better", "worse", "p", "corrected", "pairs", "test", "finding", "unmatched", "undecided", "left_out",
    ]  # fmt: skip
    rows = [
        {
            "baseline": labels[pair.baseline],
            "candidate": labels[pair.candidate],
            **{name: getattr(pair, name) for name in columns},
        }
        for pair in pairs
    ]
    return pd.DataFrame(rows, columns=["baseline", "candidate", *columns])


def _mean(values: pd.Series[float]) -> float:
    return float(values.mean()) if len(values) else math.nan
