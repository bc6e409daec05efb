"""Arms against each other: pairs as a whole and by part, who is ahead, and what repeats tell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from karenina_core.analysis.comparison.arms import ARM, Arm, Matched, Tallies, match, only_questions, tallies
from karenina_core.analysis.comparison.significance import (
    ALPHA,
    FEWEST,
    TestResult,
    holm,
    joint_level,
    paired_test,
    question_interval,
)
from karenina_core.analysis.statistics import NO_KEYWORD, pass_rate

if TYPE_CHECKING:
    import pandas as pd

Finding = Literal["better", "worse", "open", "too_few", "nothing"]
Parts = dict[str, "Pair"]  # the pair by keyword or field
MOST_ARMS = 20  # more make hundreds of comparisons, whose correction lets nothing be told
_PART_COLUMNS = (
    "questions", "baseline_rate", "candidate_rate", "difference", "low", "high", "joint_low", "joint_high",
    "better", "worse", "p", "corrected",
)  # fmt: skip


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
    def told_apart(self) -> bool:
        """Whether the finding is that one of the two is better."""
        return self.finding in ("better", "worse")

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
        counts: See `tallies`.
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
    chances = holm([test.p for test in tests])
    return [
        _pair(each, test, chance, known, intervals=intervals)
        for each, test, chance in zip(matched, tests, chances, strict=True)
    ]


def _pair(matched: Matched, test: TestResult, corrected: float, pairs: int, *, intervals: bool) -> Pair:
    questions, differences = matched.questions, matched.questions["difference"]
    low, high = question_interval(differences) if intervals else (math.nan, math.nan)
    joint_low, joint_high = low, high
    if intervals and pairs > 1:
        joint_low, joint_high = question_interval(differences, joint_level(pairs))
    return Pair(
        matched.baseline,
        matched.candidate,
        questions=len(questions),
        baseline_rate=float(questions["baseline_rate"].mean()),
        candidate_rate=float(questions["candidate_rate"].mean()),
        difference=float(differences.mean()),
        low=low,
        high=high,
        joint_low=joint_low,
        joint_high=joint_high,
        scatter=float(differences.std()),
        better=int((differences > 0).sum()),
        worse=int((differences < 0).sum()),
        p=test.p,
        corrected=corrected,
        pairs=pairs,
        test=test.name,
        repeated=bool((questions[["baseline_evaluated", "candidate_evaluated"]] > 1).any(axis=None)),
        unmatched=len(matched.only_baseline) + len(matched.only_candidate),
        undecided=len(matched.undecided),
        left_out=matched.left_out,
    )


def pairs_frame(pairs: Sequence[Pair], labels: Mapping[Arm, str]) -> pd.DataFrame:
    """Return pairs as a table, for showing and for download."""
    table = _pair_columns(pairs, (*_PART_COLUMNS, "pairs", "test", "finding", "unmatched", "undecided", "left_out"))
    for side in ("candidate", "baseline"):
        table.insert(0, side, [labels[getattr(pair, side)] for pair in pairs])
    return table


def _pair_columns(pairs: Iterable[Pair], names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([[getattr(pair, name) for name in names] for pair in pairs], columns=list(names))


# By keyword and by field


def by_keyword(counts: Tallies, baseline: Arm, candidate: Arm, keywords: Mapping[str, Sequence[str]]) -> Parts:
    """Return the pair for every keyword, corrected for being several; the largest difference first.

    Args:
        counts: See `tallies`.
        baseline: The arm to compare with.
        candidate: The arm to compare.
        keywords: Keywords by question id; a question counts under each of its own.
    """
    questions: dict[str, list[str]] = {}
    for question, words in keywords.items():
        for word in words or (NO_KEYWORD,):
            questions.setdefault(word, []).append(question)
    two = {arm: counts[arm] for arm in (baseline, candidate) if arm in counts}
    return _ordered({word: match(only_questions(two, ids), baseline, candidate) for word, ids in questions.items()})


def by_field(fields: pd.DataFrame, baseline: Arm, candidate: Arm) -> Parts:
    """Return the pair for every template field, corrected for being several; the largest difference first.

    Fields of one name are taken together over their questions. A field the judge found nothing for is not right;
    an undecided one is left out.

    Args:
        fields: A table of `fields_frame` with a column `run_id`; the identity, `field` and `state` are read.
        baseline: The arm to compare with.
        candidate: The arm to compare.
    """
    own = fields[fields["run_id"].isin([baseline.run_id, candidate.run_id])]
    marked = own.assign(passed=own["state"] == "right", evaluated=own["state"] != "undecided")
    groups = marked.groupby("field", sort=False, observed=True)
    return _ordered({str(name): match(tallies(rows), baseline, candidate) for name, rows in groups})


def parts_frame(parts: Parts, part: str) -> pd.DataFrame:
    """Return parts as a table, for showing and for download.

    Args:
        parts: See `by_keyword` and `by_field`.
        part: Name of the first column.
    """
    table = _pair_columns(parts.values(), (*_PART_COLUMNS, "finding"))
    table.insert(0, part, list(parts))
    return table


def _ordered(parts: Mapping[str, Matched]) -> Parts:
    pairs = dict(zip(parts, pairs_of(list(parts.values())), strict=True))
    some = {name: pair for name, pair in pairs.items() if pair.questions}
    return dict(sorted(some.items(), key=lambda item: (-abs(item[1].difference), item[0])))


# Who is ahead


def leaderboard(frame: pd.DataFrame, counts: Tallies, arms: Sequence[Arm]) -> pd.DataFrame:
    """Return the arms, the best first, with the groups of those that cannot be told apart.

    Every two arms are tested on the questions that both have a verdict for, corrected by Holm over all of them.

    Args:
        frame: A results table with a column `run_id`.
        counts: Its tallies.
        arms: The arms that take part.

    Returns:
        `run_id`, `answering_model`, `parsing_model`, then of the arm's own answers `passed`, `evaluated`,
        `not_evaluated`, `n`, `questions`, `rate`, `low`, `high` (Wilson) and `few`; `shared_questions` (with a verdict
        in every arm) and `shared_rate` on them, by which the arms are ordered where there are any; `rank` (1 plus the
        arms that are better beyond chance) and `ties` (a letter for each group it belongs to; arms that share a
        letter cannot be told apart).
    """
    import pandas as pd

    chosen = pd.MultiIndex.from_tuples([tuple(arm) for arm in arms], names=ARM)
    texts = frame.astype(dict.fromkeys(ARM, "str"))
    rows = texts[pd.MultiIndex.from_frame(texts[ARM]).isin(chosen)]
    # Whether an arm has rows or not, it has a line.
    rates = pass_rate(rows, ARM).set_index(ARM).reindex(chosen).reset_index()
    shared, pairs = shared_questions(counts, arms), compare_all(counts, arms)
    beaten = [pair.baseline if pair.finding == "better" else pair.candidate for pair in pairs if pair.told_apart]
    own = [counts[arm].loc[shared] if shared else None for arm in arms]
    rates["shared_questions"] = len(shared)
    rates["shared_rate"] = [math.nan if one is None else (one["passed"] / one["evaluated"]).mean() for one in own]
    rates["rank"] = [1 + beaten.count(arm) for arm in arms]
    order = rates.sort_values(["shared_rate", "rate"], ascending=False, na_position="last", kind="stable").index
    best_first = [arms[place] for place in order]
    letters = tie_letters(best_first, pairs)
    table = rates.loc[order].reset_index(drop=True)
    whole = ["passed", "evaluated", "not_evaluated", "n", "questions"]
    table[whole] = table[whole].fillna(0).astype("int64")
    few = table["few"].astype("boolean").fillna(True).astype(bool)
    return table.assign(few=few, ties=[letters[arm] for arm in best_first])


def shared_questions(counts: Tallies, arms: Sequence[Arm]) -> list[str]:
    """Return the questions that every arm has a verdict for."""
    decided = [counts[arm].index[counts[arm]["evaluated"] > 0] if arm in counts else () for arm in arms]
    everywhere = set(decided[0]).intersection(*decided[1:]) if decided else set()
    return [str(question) for question in decided[0] if question in everywhere] if decided else []


def tie_letters(best_first: Sequence[Arm], pairs: Collection[Pair]) -> dict[Arm, str]:
    """Return the letters of the groups each arm belongs to; `a` is the group of the best.

    A group holds arms of which no two can be told apart. An arm may belong to several: being indistinguishable from
    one neighbour and from the other does not make the neighbours indistinguishable.
    """
    alike: dict[Arm, set[Arm]] = {arm: set() for arm in best_first}
    for pair in pairs:
        if not pair.told_apart:
            alike[pair.baseline].add(pair.candidate)
            alike[pair.candidate].add(pair.baseline)
    place = {arm: number for number, arm in enumerate(best_first)}
    groups = sorted(sorted(place[arm] for arm in group) for group in _cliques(set(), set(best_first), set(), alike))
    letters = [chr(ord("a") + number) if number < 26 else f"({number + 1})" for number in range(len(groups))]
    return {
        arm: "".join(letter for letter, group in zip(letters, groups, strict=True) if place[arm] in group)
        for arm in best_first
    }


def _cliques(inside: set[Arm], possible: set[Arm], done: set[Arm], alike: Mapping[Arm, set[Arm]]) -> Iterator[set[Arm]]:
    """Yield the largest sets of mutually alike arms (Bron and Kerbosch's algorithm, with a pivot)."""
    if not possible and not done:
        yield inside
        return
    pivot = max(possible | done, key=lambda arm: len(alike[arm] & possible))
    for arm in possible - alike[pivot]:
        yield from _cliques(inside | {arm}, possible & alike[arm], done & alike[arm], alike)
        possible, done = possible - {arm}, done | {arm}


# Repeats


def pass_at_k(tries: Any, right: Any, k: int) -> Any:
    """Return the chance that at least one of k tries is right, from more tries than that, without bias.

    `1 - C(n - c, k) / C(n, k)`: Chen and others 2021 (2107.03374), equation 1.

    Args:
        tries: Tries per question, at least k each.
        right: How many of them were right.
        k: Tries that a user would take.

    Returns:
        One number per question, 0 to 1.
    """
    from scipy.stats import hypergeom

    return hypergeom.sf(0, tries, right, k)


def pass_hat_k(tries: Any, right: Any, k: int) -> Any:
    """Return the chance that all of k tries are right, from more tries than that, without bias.

    `C(c, k) / C(n, k)`: Yao and others 2024 (2406.12045), section 5. Arguments and result are those of `pass_at_k`.
    """
    from scipy.stats import hypergeom

    return hypergeom.pmf(k, tries, right, k)


def most_repeats(counts: Tallies, arms: Sequence[Arm]) -> int:
    """Return the largest number of verdicts that any question has in one of the arms."""
    return max((int(counts[arm]["evaluated"].max()) for arm in arms if arm in counts and len(counts[arm])), default=0)


def repeat_rates(counts: Tallies, arms: Sequence[Arm], most: int = 10) -> pd.DataFrame:
    """Return for every arm and every k how often one try of k, and every try of k, is right.

    Args:
        counts: See `tallies`.
        arms: The arms that take part.
        most: The largest k.

    Returns:
        `run_id`, `answering_model`, `parsing_model`, `k`, `questions` (with k verdicts at least), `left_out`
        (questions with fewer), `once` (pass@k) and `always` (pass^k), each the mean over questions with its 95 %
        interval `_low`, `_high`.
    """
    import pandas as pd

    rows = [
        _repeat_row(arm, counts[arm], k)
        for arm in arms
        if arm in counts
        for k in range(1, min(most, most_repeats(counts, [arm])) + 1)
    ]
    ends = [f"{name}{end}" for name in ("once", "always") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*ARM, "k", "questions", "left_out", *ends])


def _repeat_row(arm: Arm, table: pd.DataFrame, k: int) -> dict[str, Any]:
    enough = table[table["evaluated"] >= k]
    tries, right = enough["evaluated"].to_numpy(), enough["passed"].to_numpy()
    row = {**arm._asdict(), "k": k, "questions": len(enough), "left_out": len(table) - len(enough)}
    for name, chances in (("once", pass_at_k(tries, right, k)), ("always", pass_hat_k(tries, right, k))):
        low, high = question_interval(chances)
        row |= {name: float(chances.mean()) if len(chances) else math.nan, f"{name}_low": low, f"{name}_high": high}
    return row
