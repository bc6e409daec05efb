"""How many model calls an evaluation takes, before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from karenina_core.benchmark import Benchmark
from karenina_core.errors import TemplateError
from karenina_core.schemas import AnyTrait, MetricRubricTrait, RubricTrait, VerificationConfig, merge_rubrics
from karenina_core.templates import read_template


def expected_calls(benchmark: Benchmark, config: VerificationConfig, question_ids: Iterable[str]) -> dict[str, int]:
    """Return the number of calls by purpose when the ledger holds none of them.

    Asking a judge again whose reply did not fit is not counted; nobody knows that beforehand.
    """
    answers = len(config.answering_models) * config.replicate_count
    total: Counter[str] = Counter()
    for question_id in question_ids:
        judged = judge_calls(benchmark, config, question_id)
        if judged is not None:
            total["answer"] += answers
            total.update({purpose: n * answers * len(config.parsing_models) for purpose, n in judged.items()})
    return {purpose: number for purpose, number in total.items() if number}


def judge_calls(benchmark: Benchmark, config: VerificationConfig, question_id: str) -> Counter[str] | None:
    """Return one judge's calls for one answer, by purpose; None when nothing is asked, because nothing could decide."""
    source = benchmark.get_question_as_object(question_id).answer_template or ""
    traits = traits_of(benchmark, config, question_id)
    counts = _rubric_calls(config, traits)
    if config.evaluation_mode != "rubric_only" and source.strip():
        try:
            asks = read_template(source).needs_judge
        except TemplateError:
            return None
        counts.update(parse=int(asks), sufficiency=int(asks and config.sufficiency_enabled))
    elif config.evaluation_mode != "rubric_only" and not traits:
        return None
    counts.update(abstention=int(config.abstention_enabled))
    return counts


def traits_of(benchmark: Benchmark, config: VerificationConfig, question_id: str) -> list[AnyTrait]:
    """Return the traits that a run evaluates for a question."""
    if config.evaluation_mode == "template_only":
        return []
    traits, _ = merge_rubrics(benchmark.get_global_rubric(), benchmark.get_question_rubric(question_id))
    names = config.rubric_trait_names
    return [trait for trait, _ in traits if names is None or trait.name in names]


def _rubric_calls(config: VerificationConfig, traits: list[AnyTrait]) -> Counter[str]:
    llm = sum(isinstance(trait, RubricTrait) for trait in traits)
    batched = config.rubric_evaluation_strategy == "batch"
    metric = sum(isinstance(trait, MetricRubricTrait) for trait in traits)
    return Counter(rubric=min(llm, 1) if batched else llm, metric=metric)
