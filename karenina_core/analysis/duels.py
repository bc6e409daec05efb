"""Blind duels: which pair of answers comes next, and what people preferred, model against model."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from karenina_core.analysis.intervals import proportion
from karenina_core.schemas import Duel

Row = Mapping[str, Any]
"""Columns of a stored result: `result_id`, `question_id`, `answering_model`, `replicate` and `verdict`."""


class Pair(NamedTuple):
    """Two results of the same question by different models, in the places they are shown at."""

    left: str
    right: str


@dataclass(frozen=True)
class Tally:
    """What people preferred between two models.

    Attributes:
        one: A model.
        other: Another.
        wins: How often the answer of `one` was better.
        losses: How often that of `other` was.
        ties: How often neither was.
        low: Lower end of the 95 % interval of the share of wins among decided duels, clustered by question.
        high: Its upper end; both are not numbers where no duel was decided.
        against_verdict: How often people preferred an answer that failed to one that passed.
        with_verdict: How often it was the other way round.
    """

    one: str
    other: str
    wins: int
    losses: int
    ties: int
    low: float
    high: float
    against_verdict: int
    with_verdict: int


def pairs(rows: Sequence[Row], done: Collection[frozenset[str]] = ()) -> Iterator[Pair]:
    """Yield the pairs that can meet and have not, in an order that tells nothing about the models.

    Order and sides follow from a hash of the results, so that everybody who looks sees the same next pair.

    Args:
        rows: Results with an answer. Of an answer with several judges, the first one stands for all.
        done: Pairs that met before.
    """
    by_question: dict[tuple[str, int], dict[str, Row]] = {}
    for row in rows:
        by_question.setdefault((row["question_id"], row["replicate"]), {}).setdefault(row["answering_model"], row)
    met = set(done)
    found = [
        _sided(first["result_id"], second["result_id"])
        for answers in by_question.values()
        for first, second in combinations(answers.values(), 2)
    ]
    yield from (pair for pair in sorted(found, key=_hash) if frozenset(pair) not in met)


def tallies(duels: Iterable[Duel], rows: Sequence[Row]) -> list[Tally]:
    """Return what people preferred, by pair of models, those with most duels first."""
    known = {row["result_id"]: row for row in rows}
    by_models: dict[tuple[str, str], list[tuple[int, Row, Row]]] = {}
    for duel in duels:
        left, right = known.get(duel.left_result), known.get(duel.right_result)
        if left is None or right is None:
            continue
        score = {"left": 1, "right": -1, "tie": 0}[duel.winner]
        if left["answering_model"] > right["answering_model"]:
            left, right, score = right, left, -score
        by_models.setdefault((left["answering_model"], right["answering_model"]), []).append((score, left, right))
    found = [_tally(one, other, met) for (one, other), met in by_models.items()]
    return sorted(found, key=lambda tally: (-(tally.wins + tally.losses + tally.ties), tally.one, tally.other))


def _tally(one: str, other: str, met: Sequence[tuple[int, Row, Row]]) -> Tally:
    decided = [(score > 0, left["question_id"]) for score, left, _ in met if score]
    share = proportion([won for won, _ in decided], [question for _, question in decided])
    liked = [(left, right) if score > 0 else (right, left) for score, left, right in met if score]
    verdicts = [(better["verdict"], worse["verdict"]) for better, worse in liked]
    return Tally(
        one=one,
        other=other,
        wins=sum(score > 0 for score, *_ in met),
        losses=sum(score < 0 for score, *_ in met),
        ties=sum(score == 0 for score, *_ in met),
        low=share.low,
        high=share.high,
        against_verdict=verdicts.count(("fail", "pass")),
        with_verdict=verdicts.count(("pass", "fail")),
    )


def _sided(one: str, other: str) -> Pair:
    first, second = sorted((one, other))
    return Pair(first, second) if int(_hash((first, second)), 16) % 2 else Pair(second, first)


def _hash(pair: tuple[str, str]) -> str:
    return hashlib.sha256(" ".join(sorted(pair)).encode()).hexdigest()
