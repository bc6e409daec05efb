"""What a run is to do: which rows are wanted, which questions take part, and which calls that takes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pydantic import BaseModel

from karenina_core.benchmark import Benchmark
from karenina_core.errors import TemplateError
from karenina_core.schemas import (
    AnyTrait,
    MetricRubricTrait,
    ModelConfig,
    PromptConfig,
    RubricTrait,
    VerificationConfig,
    merge_rubrics,
)
from karenina_core.templates import read_template
from karenina_core.text import counted

# How fast a run goes, and when it stops, does not change what it finds.
PACE = frozenset(
    {"max_concurrent_requests", "adaptive_concurrency", "request_timeout", "max_attempts", "max_cost", "max_seconds"}
)
LATER_SETTINGS = (
    "workspace_cleanup",
    "allow_commands",
    "agentic_parsing",
    "agentic_parsing_trigger",
    "agentic_judge_context",
    "agentic_parsing_max_turns",
    "agentic_parsing_timeout",
    "use_full_trace_for_template",
    "use_full_trace_for_rubric",
)
LEFT_OUT = "Left out: "
"""How a note begins that tells which questions a run does not ask, and not why it stopped."""
MODEL_PACE = {"max_concurrent_requests", "requests_per_minute", "tokens_per_minute"}


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

    def answers_of(self, answering: ModelConfig) -> Iterator[Generation]:
        """Yield the wanted answers of one model; those to the same question follow each other."""
        for question_id in self.question_ids:
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
        """Return the number of model calls by purpose, when the ledger holds none of them.

        Asking a judge again whose reply did not fit is not counted; nobody knows that beforehand.
        """
        answers = len(self.config.answering_models) * self.config.replicate_count
        total: Counter[str] = Counter()
        for question_id in self.question_ids:
            judged = judge_calls(self.benchmark, self.config, question_id)
            if judged is not None:
                total["answer"] += answers
                total.update({name: n * answers * len(self.config.parsing_models) for name, n in judged.items()})
        return +total

    @property
    def note(self) -> str:
        """The skipped questions in one line, or nothing."""
        reasons = Counter(question.reason for question in self.skipped)
        parts = [f"{counted(number, 'question')} {reason}" for reason, number in reasons.items()]
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
    named = [name for name in known if name in chosen]
    unfinished = [SkippedQuestion(name, "not marked finished") for name in named if name not in finished]
    unknown = [SkippedQuestion(name, "not in this benchmark") for name in chosen if name not in known]
    ready = islice((name for name in named if name in finished), limit)
    return Plan(benchmark, config, tuple(ready), (*unfinished, *unknown))


def judge_calls(benchmark: Benchmark, config: VerificationConfig, question_id: str) -> Counter[str] | None:
    """Return one judge's calls for one answer, by purpose; None when nothing is asked, because nothing could decide."""
    source = benchmark.get_question_as_object(question_id).answer_template or ""
    traits = traits_of(benchmark, config, question_id)
    llm = sum(isinstance(trait, RubricTrait) for trait in traits)
    counts = Counter(
        rubric=min(llm, 1) if config.rubric_evaluation_strategy == "batch" else llm,
        metric=sum(isinstance(trait, MetricRubricTrait) for trait in traits),
        abstention=int(config.abstention_enabled),
    )
    if config.evaluation_mode != "rubric_only" and source.strip():
        try:
            asks = read_template(source).needs_judge
        except TemplateError:
            return None
        counts.update(parse=int(asks), sufficiency=int(asks and config.sufficiency_enabled))
    elif config.evaluation_mode != "rubric_only" and not traits:
        return None
    return counts


def traits_of(benchmark: Benchmark, config: VerificationConfig, question_id: str) -> list[AnyTrait]:
    """Return the traits that a run evaluates for a question."""
    if config.evaluation_mode == "template_only":
        return []
    traits, _ = merge_rubrics(benchmark.get_global_rubric(), benchmark.get_question_rubric(question_id))
    names = config.rubric_trait_names
    return [trait for trait, _ in traits if names is None or trait.name in names]


def config_hash(config: VerificationConfig) -> str:
    """Return the identity of what a configuration asks for; how fast it goes is not part of it."""
    from karenina_core.runs.store.database import clean

    # Clean, as it is stored: what is read back must have the same identity.
    return hashlib.sha256(json.dumps(clean(asked(config)), sort_keys=True).encode()).hexdigest()


def asked(config: VerificationConfig) -> dict[str, Any]:
    """Return what a configuration asks for, as JSON, without how fast it goes."""
    models = {"__all__": MODEL_PACE}
    pace: dict[str, Any] = dict.fromkeys(PACE, True)
    data = config.model_dump(mode="json", exclude=pace | {"answering_models": models, "parsing_models": models})
    # Runs that were stored before there were such settings stay the same.
    for model in (*data["answering_models"], *data["parsing_models"]):
        _without_defaults(model, ModelConfig, ("answers_digest", "agent"))
    _without_defaults(data, VerificationConfig, LATER_SETTINGS)
    if data["prompt_config"]:
        _without_defaults(data["prompt_config"], PromptConfig, ("agentic_parsing",))
    return data


def _without_defaults(data: dict[str, Any], kind: type[BaseModel], names: Iterable[str]) -> None:
    for name in names:
        if data[name] == kind.model_fields[name].default:
            del data[name]


def choose_questions(
    benchmark: Benchmark,
    *,
    keywords: Collection[str] = (),
    search: str = "",
    question_ids: Iterable[str] | None = None,
) -> list[str]:
    """Return the questions that meet every condition given, in the benchmark's order.

    Args:
        benchmark: The benchmark.
        keywords: The question has one of them; letter case does not matter.
        search: Part of the question, the reference answer, a keyword or the id.
        question_ids: The question is one of these; unknown ones are kept, so that a plan can name them.
    """
    named = None if question_ids is None else dict.fromkeys(question_ids)
    folded, sought = {keyword.casefold() for keyword in keywords}, search.strip().casefold()
    chosen = []
    for name in benchmark.get_question_ids():
        question = benchmark.get_question(name)
        text = "\n".join([question.question, question.raw_answer, *question.keywords, name]).casefold()
        has_keyword = not folded or folded & {word.casefold() for word in question.keywords}
        if (named is None or name in named) and has_keyword and sought in text:
            chosen.append(name)
    return chosen + [name for name in named or () if name not in benchmark]


def all_keywords(benchmark: Benchmark) -> list[str]:
    """Return the keywords of a benchmark's questions, sorted."""
    words = {word for name in benchmark.get_question_ids() for word in benchmark.get_question(name).keywords}
    return sorted(words, key=str.casefold)
