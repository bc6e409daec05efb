"""The wanted matrix of a run: which rows it should have, and what it leaves out and why."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from karenina_core.benchmark import Benchmark
from karenina_core.runs.plans.expected import expected_calls
from karenina_core.schemas import ModelConfig, VerificationConfig

# How fast a run goes, and when it stops, does not change what it finds.
PACE = frozenset(
    {"max_concurrent_requests", "adaptive_concurrency", "request_timeout", "max_attempts", "max_cost", "max_seconds"}
)
LEFT_OUT = "Left out: "
"""How a note begins that tells which questions a run does not ask, and not why it stopped."""
_MODEL_PACE = {"max_concurrent_requests", "requests_per_minute", "tokens_per_minute"}


class SkippedQuestion(NamedTuple):
    """A question that takes no part, and why."""

    question_id: str
    reason: str


class Generation(NamedTuple):
    """One answer that is wanted; all judges share it. Replicates count from 1."""

    question_id: str
    answering: ModelConfig
    replicate: int


@dataclass(frozen=True)
class Plan:
    """What a run is to evaluate.

    Attributes:
        benchmark: The benchmark as it is now.
        config: Models and settings.
        question_ids: The questions that take part, in the benchmark's order.
        skipped: Those that do not.
    """

    benchmark: Benchmark
    config: VerificationConfig
    question_ids: tuple[str, ...]
    skipped: tuple[SkippedQuestion, ...] = ()

    def generations(self) -> Iterator[Generation]:
        """Yield the wanted answers, question by question."""
        for question_id in self.question_ids:
            for answering in self.config.answering_models:
                yield from self._replicates(question_id, answering)

    def answers_of(self, answering: ModelConfig) -> Iterator[Generation]:
        """Yield the wanted answers of one model; those to the same question follow each other."""
        for question_id in self.question_ids:
            yield from self._replicates(question_id, answering)

    def _replicates(self, question_id: str, answering: ModelConfig) -> Iterator[Generation]:
        for replicate in range(1, self.config.replicate_count + 1):
            yield Generation(question_id, answering, replicate)

    @property
    def answers(self) -> int:
        """The number of wanted answers."""
        return len(self.question_ids) * len(self.config.answering_models) * self.config.replicate_count

    @property
    def rows(self) -> int:
        """The number of wanted results: every judge judges every answer."""
        return self.answers * len(self.config.parsing_models)

    def calls(self) -> Mapping[str, int]:
        """Return the number of model calls by purpose, when the ledger holds none of them."""
        return expected_calls(self.benchmark, self.config, self.question_ids)

    @property
    def note(self) -> str:
        """The skipped questions in one line, or nothing."""
        reasons = Counter(question.reason for question in self.skipped)
        parts = [
            f"{number} {'question' if number == 1 else 'questions'} {reason}" for reason, number in reasons.items()
        ]
        return f"{LEFT_OUT}{', '.join(parts)}." if parts else ""


def wanted(
    benchmark: Benchmark,
    config: VerificationConfig,
    question_ids: Iterable[str] | None = None,
    limit: int | None = None,
) -> Plan:
    """Plan a run.

    Args:
        benchmark: Its finished questions take part; the others never do.
        config: Models and settings.
        question_ids: Only these questions. Those that cannot take part are listed with the reason.
        limit: At most this many questions, the first ones.
    """
    known = dict.fromkeys(benchmark.get_question_ids())
    finished = set(benchmark.get_finished_questions(ids_only=True))
    chosen = known if question_ids is None else dict.fromkeys(question_ids)
    ready = islice((name for name in known if name in chosen and name in finished), limit)
    unfinished = [
        SkippedQuestion(name, "not marked finished") for name in known if name in chosen and name not in finished
    ]
    unknown = [SkippedQuestion(name, "not in this benchmark") for name in chosen if name not in known]
    return Plan(benchmark, config, tuple(ready), (*unfinished, *unknown))


def config_hash(config: VerificationConfig) -> str:
    """Return the identity of what a configuration asks for; how fast it goes is not part of it."""
    from karenina_core.runs.store.database import clean

    # Clean, as it is stored: what is read back must have the same identity.
    return hashlib.sha256(json.dumps(clean(asked(config)), sort_keys=True).encode()).hexdigest()


def asked(config: VerificationConfig) -> dict[str, Any]:
    """Return what a configuration asks for, as JSON, without how fast it goes."""
    models = {"__all__": _MODEL_PACE}
    pace: dict[str, Any] = dict.fromkeys(PACE, True)
    data = config.model_dump(mode="json", exclude=pace | {"answering_models": models, "parsing_models": models})
    for model in (*data["answering_models"], *data["parsing_models"]):
        if model["answers_digest"] is None:
            del model["answers_digest"]  # runs that were stored before there was such a thing stay the same
    return data


def same_model(one: ModelConfig, other: ModelConfig) -> bool:
    """Say whether two models are asked for the same, under the same label, at whatever pace."""
    first, second = (model.model_dump(exclude=_MODEL_PACE) for model in (one, other))
    return first == second
