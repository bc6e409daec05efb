"""Arms of a comparison, and their answers matched question by question.

An arm is one model in one run, as one judge saw it. Two arms are compared on the questions for which both have a
verdict: an evaluation without one is left out and counted, never taken for a wrong answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

ARM = ["run_id", "answering_model", "parsing_model"]
Tallies = Mapping["Arm", "pd.DataFrame"]
"""By arm, one row per question it was asked: `passed`, `evaluated` (with a verdict) and `n` (all repeats)."""


class Arm(NamedTuple):
    """One side of a comparison: a model in a run, with the verdicts of one judge."""

    run_id: str
    answering_model: str
    parsing_model: str

    @property
    def id(self) -> str:
        """Ten hex digits that name the arm in links."""
        return hashlib.sha256("\t".join(self).encode()).hexdigest()[:10]


def arm_labels(arms: Sequence[Arm], run_names: Mapping[str, str]) -> dict[Arm, str]:
    """Return the shortest names that tell the arms apart: the model, then its judge and its run where they differ.

    Args:
        arms: The arms to name.
        run_names: Names of the runs by id; runs of one name are told apart by their ids.
    """
    judges = len({arm.parsing_model for arm in arms}) > 1
    runs = {arm.run_id: run_names.get(arm.run_id, arm.run_id) for arm in arms}
    named = list(runs.values())
    labels = {}
    for arm in arms:
        parts = [arm.answering_model, f"judged by {arm.parsing_model}"] if judges else [arm.answering_model]
        if len(runs) > 1:
            name = runs[arm.run_id]
            parts.append(name if named.count(name) == 1 else f"{name} {arm.run_id[:6]}")
        labels[arm] = " · ".join(parts)
    return labels


def tallies(frame: pd.DataFrame) -> dict[Arm, pd.DataFrame]:
    """Return by arm how often each question was right, in the order in which arms and questions appear.

    Args:
        frame: A table of `results_frame` with a column `run_id`; only `run_id`, the identity and `verdict` are read.
    """
    return tallied(frame.assign(passed=frame["verdict"] == "pass", evaluated=frame["verdict"] != "not_evaluated"))


def tallied(frame: pd.DataFrame) -> dict[Arm, pd.DataFrame]:
    """Return tallies of rows that say themselves whether they were `evaluated` and `passed`."""
    groups = frame.groupby([*ARM, "question_id"], sort=False, observed=True)
    table = groups[["passed", "evaluated"]].sum().astype("int64").assign(n=groups.size()).reset_index()
    return {
        Arm(*map(str, key)): part.set_index("question_id")[["passed", "evaluated", "n"]]
        for key, part in table.groupby(ARM, sort=False, observed=True)
    }


@dataclass(frozen=True)
class Matched:
    """Two arms, question by question.

    Attributes:
        baseline: The arm that is compared with.
        candidate: The arm that is compared.
        questions: One row per question for which both have a verdict: `baseline_passed`, `baseline_evaluated`,
            `candidate_passed`, `candidate_evaluated`, `baseline_rate`, `candidate_rate` (0 to 1) and `difference`
            (candidate minus baseline, -1 to 1); its index is the question's id.
        only_baseline: Questions that only the baseline was asked.
        only_candidate: Questions that only the candidate was asked.
        undecided: Questions that both were asked, but that lack any verdict on one side at least.
        left_out: Repeats without a verdict of the matched questions, both sides together.
    """

    baseline: Arm
    candidate: Arm
    questions: pd.DataFrame
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    undecided: tuple[str, ...]
    left_out: int

    @property
    def repeated(self) -> bool:
        """Whether a question has several verdicts on one side."""
        return bool((self.questions[["baseline_evaluated", "candidate_evaluated"]] > 1).any(axis=None))

    @property
    def better(self) -> int:
        """Questions that the candidate answers right more often."""
        return int((self.questions["difference"] > 0).sum())

    @property
    def worse(self) -> int:
        """Questions that the candidate answers right less often."""
        return int((self.questions["difference"] < 0).sum())


def match(counts: Tallies, baseline: Arm, candidate: Arm) -> Matched:
    """Return two arms matched by question.

    Args:
        counts: See `tallies`; an arm that is not in it was asked nothing.
        baseline: The arm to compare with.
        candidate: The arm to compare.
    """
    a, b = _of(counts, baseline), _of(counts, candidate)
    both = a.merge(b, left_index=True, right_index=True, suffixes=("_a", "_b"))
    decided = both[(both["evaluated_a"] > 0) & (both["evaluated_b"] > 0)]
    questions = decided[["passed_a", "evaluated_a", "passed_b", "evaluated_b"]].set_axis(
        ["baseline_passed", "baseline_evaluated", "candidate_passed", "candidate_evaluated"], axis=1
    )
    rates = {side: questions[f"{side}_passed"] / questions[f"{side}_evaluated"] for side in ("baseline", "candidate")}
    return Matched(
        baseline,
        candidate,
        questions.assign(
            baseline_rate=rates["baseline"],
            candidate_rate=rates["candidate"],
            difference=rates["candidate"] - rates["baseline"],
        ),
        only_baseline=_ids(a.index.difference(b.index, sort=False)),
        only_candidate=_ids(b.index.difference(a.index, sort=False)),
        undecided=_ids(both.index.difference(decided.index, sort=False)),
        left_out=int((decided["n_a"] + decided["n_b"] - decided["evaluated_a"] - decided["evaluated_b"]).sum()),
    )


def outcome(baseline_rate: float, candidate_rate: float) -> str:
    """Return what became of a matched question: `better`, `worse`, `both_right`, `both_wrong` or `both_partly`.

    The last is for repeated questions that both sides answer right equally often, but not always.
    """
    if baseline_rate != candidate_rate:
        return "better" if candidate_rate > baseline_rate else "worse"
    return {1.0: "both_right", 0.0: "both_wrong"}.get(baseline_rate, "both_partly")


def only_questions(counts: Tallies, ids: Iterable[str]) -> dict[Arm, pd.DataFrame]:
    """Return tallies of those questions alone."""
    wanted = set(ids)
    return {arm: table[table.index.isin(wanted)] for arm, table in counts.items()}


def _of(counts: Tallies, arm: Arm) -> pd.DataFrame:
    import pandas as pd

    if arm in counts:
        return counts[arm]
    return pd.DataFrame({name: pd.Series(dtype="int64") for name in ("passed", "evaluated", "n")})


def _ids(index: pd.Index[str]) -> tuple[str, ...]:
    return tuple(map(str, index))
