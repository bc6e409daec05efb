"""What a run is to do: which rows are wanted, which questions take part, and letting a stored run want more."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import (
    AnyTrait,
    MetricRubricTrait,
    ModelConfig,
    RubricTrait,
    VerificationConfig,
    merge_rubrics,
)
from karenina_core.templates import read_template
from karenina_core.text import counted

if TYPE_CHECKING:
    from karenina_core.runs.store import Store

# How fast a run goes, and when it stops, does not change what it finds.
PACE = frozenset(
    {"max_concurrent_requests", "adaptive_concurrency", "request_timeout", "max_attempts", "max_cost", "max_seconds"}
)
LEFT_OUT = "Left out: "
"""How a note begins that tells which questions a run does not ask, and not why it stopped."""
Trouble = Literal["fail", "error", "not_evaluated"]
TROUBLES: tuple[Trouble, ...] = ("fail", "error", "not_evaluated")
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
    models = {"__all__": _MODEL_PACE}
    pace: dict[str, Any] = dict.fromkeys(PACE, True)
    data = config.model_dump(mode="json", exclude=pace | {"answering_models": models, "parsing_models": models})
    for model in (*data["answering_models"], *data["parsing_models"]):
        if model["answers_digest"] is None:
            del model["answers_digest"]  # runs that were stored before there was such a thing stay the same
    return data


def top_up(
    store: Store,
    run_id: str,
    *,
    answering_models: Sequence[ModelConfig] = (),
    judges: Sequence[ModelConfig] = (),
    replicates: int | None = None,
    question_ids: Iterable[str] = (),
) -> VerificationConfig:
    """Let a stored run want more. What it has stays, and nothing that is answered is asked again.

    Start the run with the configuration that is returned, which holds prepared answers that are never stored.

    Args:
        store: Holds the run.
        run_id: A run that is not under way.
        answering_models: Further models under test. A `manual` model that the run has already gets its prepared
            answers back.
        judges: Further judges.
        replicates: How often every question is asked, in all; unchanged when not given.
        question_ids: Further questions, of those the benchmark had when the run was made.

    Raises:
        InputError: Nothing would be added, or something would change or be lost, or the run is under way.
    """
    if store.runs.get(run_id).parent_run:
        raise InputError(
            "A re-verification cannot want more than its run.", next="Top up the run it came from, then verify again."
        )
    before = store.runs.plan(run_id)
    after = widened(
        before, answering_models=answering_models, judges=judges, replicates=replicates, question_ids=question_ids
    )
    answers_back = any(model.manual_traces is not None for model in answering_models)
    if after.rows == before.rows and not answers_back:
        raise InputError("Nothing would be added to the run.", next="Name models, judges, replicates or questions.")
    store.runs.widen(run_id, after)
    return after.config


def widened(
    plan: Plan,
    *,
    answering_models: Sequence[ModelConfig] = (),
    judges: Sequence[ModelConfig] = (),
    replicates: int | None = None,
    question_ids: Iterable[str] = (),
) -> Plan:
    """Return a plan that wants more; nothing is stored. The arguments are those of `top_up`.

    Raises:
        InputError: Something would change or be lost.
    """
    config = plan.config
    repeats = config.replicate_count if replicates is None else replicates
    if repeats < config.replicate_count:
        raise InputError(
            f"The run repeats every question {config.replicate_count} times already.",
            next=f"Give a number above {config.replicate_count}.",
        )
    changed = {
        "answering_models": _joined(config.answering_models, answering_models),
        "parsing_models": _joined(config.parsing_models, judges),
        "replicate_count": repeats,
    }
    grown = VerificationConfig.model_validate(dict(config) | changed)
    more = wanted(plan.benchmark, grown, [*plan.question_ids, *question_ids])
    skipped = dict.fromkeys((*plan.skipped, *more.skipped))
    return replace(more, skipped=tuple(item for item in skipped if item.question_id not in set(more.question_ids)))


def _joined(present: Sequence[ModelConfig], further: Sequence[ModelConfig]) -> list[ModelConfig]:
    joined = {model.id: model for model in present}
    for model in further:
        known = joined.setdefault(model.id, model)
        if known.model_dump(exclude=_MODEL_PACE) != model.model_dump(exclude=_MODEL_PACE):
            raise InputError(
                f"The run has another model with the label {model.id!r}.", next="Give the new one its own label."
            )
        joined[model.id] = model
    return list(joined.values())


def questions_of(store: Store, run_id: str, verdicts: Collection[str] = ("fail", "error")) -> list[str]:
    """Return the questions of a run that have at least one result of a kind, in the benchmark's order.

    Args:
        store: Holds the run.
        run_id: The run.
        verdicts: `pass`, `fail`, `not_evaluated`, or `error` for rows that failed for technical reasons, which are
            among those not evaluated.

    Raises:
        InputError: There is no such run, or no such verdict.
    """
    known = {"pass", *TROUBLES}
    wrong = sorted(set(verdicts) - known)
    if wrong:
        raise InputError(f"There is no verdict {wrong[0]!r}.", next=f"Use one of: {', '.join(sorted(known))}.")
    plan = store.runs.plan(run_id)
    rows = store.results.rows(run_id, verdict=[verdict for verdict in verdicts if verdict != "error"])
    if "error" in verdicts:
        rows += store.results.rows(run_id, status="failed")
    concerned = {row["question_id"] for row in rows}
    return [question_id for question_id in plan.question_ids if question_id in concerned]


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
