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
# By arm, one row per question it was asked: `passed`, `evaluated` (with a verdict) and `n` (all repeats).
Tallies = Mapping["Arm", "pd.DataFrame"]
# Ids of runs that were made from each other, the oldest first in each lineage.
Lineages = Sequence[Sequence[str]]
_COUNTS = ["passed", "evaluated", "n"]


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
    names = list(runs.values())
    labels = {}
    for arm in arms:
        parts = [arm.answering_model, f"judged by {arm.parsing_model}"] if judges else [arm.answering_model]
        if len(runs) > 1:
            name = runs[arm.run_id]
            parts.append(name if names.count(name) == 1 else f"{name} {arm.run_id[:6]}")
        labels[arm] = " · ".join(parts)
    return labels


def tallies(frame: pd.DataFrame) -> dict[Arm, pd.DataFrame]:
    """Return by arm how often each question was right, in the order in which arms and questions appear.

    Args:
        frame: A table of `results_frame` with a column `run_id`; only `run_id`, the identity and `verdict` are read.
            Columns `passed` and `evaluated` count instead of the verdict where there are any.
    """
    if "passed" not in frame:
        frame = frame.assign(passed=frame["verdict"] == "pass", evaluated=frame["verdict"] != "not_evaluated")
    groups = frame.groupby([*ARM, "question_id"], sort=False, observed=True)
    table = groups[["passed", "evaluated"]].sum().astype("int64").assign(n=groups.size()).reset_index()
    return {
        Arm(*map(str, key)): part.astype({"question_id": "str"}).set_index("question_id")[_COUNTS]
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


def match(counts: Tallies, baseline: Arm, candidate: Arm) -> Matched:
    """Return two arms matched by question.

    Args:
        counts: See `tallies`; an arm that is not in it was asked nothing.
        baseline: The arm to compare with.
        candidate: The arm to compare.
    """
    import pandas as pd

    nothing = pd.DataFrame(0, index=pd.Index([], dtype="str"), columns=_COUNTS)
    a, b = (counts.get(arm, nothing) for arm in (baseline, candidate))
    both = a.add_prefix("baseline_").join(b.add_prefix("candidate_"), how="inner")
    decided = both[(both["baseline_evaluated"] > 0) & (both["candidate_evaluated"] > 0)]
    rates = {side: decided[f"{side}_passed"] / decided[f"{side}_evaluated"] for side in ("baseline", "candidate")}
    lacking = decided["baseline_n"] + decided["candidate_n"]
    lacking = lacking - decided["baseline_evaluated"] - decided["candidate_evaluated"]
    return Matched(
        baseline,
        candidate,
        decided.drop(columns=["baseline_n", "candidate_n"]).assign(
            baseline_rate=rates["baseline"],
            candidate_rate=rates["candidate"],
            difference=rates["candidate"] - rates["baseline"],
        ),
        only_baseline=tuple(a.index.difference(b.index, sort=False)),
        only_candidate=tuple(b.index.difference(a.index, sort=False)),
        undecided=tuple(both.index.difference(decided.index, sort=False)),
        left_out=int(lacking.sum()),
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


def baselines(arms: Sequence[Arm], lineages: Lineages) -> list[Arm]:
    """Return arms in the order in which they are proposed as baseline.

    Runs that were made from each other have the same answers, and people want to see what became of one model between
    them: an arm that a later revision has too comes first, the oldest run before others.

    Args:
        arms: The arms that take part.
        lineages: Revisions of the same run.
    """
    last = max(map(len, lineages), default=0)

    def place(arm: Arm) -> int:
        age = _age(arm, arm, lineages)
        return age if any(_age(other, arm, lineages) > age for other in arms) else last

    return sorted(arms, key=place)


def candidates(baseline: Arm, arms: Sequence[Arm], lineages: Lineages) -> list[Arm]:
    """Return the other arms in the order in which they are proposed as candidate: the latest revision comes first.

    Args:
        baseline: What they are compared with.
        arms: The arms that take part.
        lineages: Revisions of the same run.
    """
    return sorted((arm for arm in arms if arm != baseline), key=lambda arm: -_age(arm, baseline, lineages))


def _age(arm: Arm, like: Arm, lineages: Lineages) -> int:
    """Return how many revisions came before an arm that is the same model and judge as another; -1 where it is not."""
    if arm[1:] != like[1:]:
        return -1
    return next((runs.index(arm.run_id) for runs in lineages if {arm.run_id, like.run_id} <= set(runs)), -1)
