"""Where two arms differ: by keyword, and by template field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from karenina_core.analysis.comparison.arms import Arm, Matched, Tallies, match, only_questions, tallied
from karenina_core.analysis.comparison.pairs import Pair, pairs_of

if TYPE_CHECKING:
    import pandas as pd

NO_KEYWORD = "(no keyword)"
Parts = dict[str, Pair]


def by_keyword(counts: Tallies, baseline: Arm, candidate: Arm, keywords: Mapping[str, Sequence[str]]) -> Parts:
    """Return the pair for every keyword, corrected for being several; the largest difference first.

    Args:
        counts: See `arms.tallies`.
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
    return _ordered(
        {
            str(name): match(tallied(rows), baseline, candidate)
            for name, rows in marked.groupby("field", sort=False, observed=True)
        }
    )


def parts_frame(parts: Parts, part: str) -> pd.DataFrame:
    """Return parts as a table, for showing and for download.

    Args:
        parts: See `by_keyword` and `by_field`.
        part: Name of the first column.
    """
    import pandas as pd

    columns = [
        "questions", "baseline_rate", "candidate_rate", "difference", "low", "high", "joint_low", "joint_high",
        "better", "worse", "p", "corrected", "finding",
    ]  # fmt: skip
    rows = [{part: name, **{column: getattr(pair, column) for column in columns}} for name, pair in parts.items()]
    return pd.DataFrame(rows, columns=[part, *columns])


def _ordered(parts: Mapping[str, Matched]) -> Parts:
    pairs = dict(zip(parts, pairs_of(list(parts.values())), strict=True))
    some = {name: pair for name, pair in pairs.items() if pair.questions}
    return dict(sorted(some.items(), key=lambda item: (-abs(item[1].difference), item[0])))
