"""Letting a run want more: the same run, with further models, judges, replicates or questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from karenina_core.errors import InputError
from karenina_core.runs.plans.plan import Plan, same_model, wanted
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig, VerificationConfig


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
    """Return a plan that wants more; nothing is stored.

    Args:
        plan: Of a run.
        answering_models: Further models under test.
        judges: Further judges.
        replicates: How often every question is asked, in all.
        question_ids: Further questions.

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
    grown = VerificationConfig.model_validate(
        dict(config)
        | {
            "answering_models": _joined(config.answering_models, answering_models),
            "parsing_models": _joined(config.parsing_models, judges),
            "replicate_count": repeats,
        }
    )
    more = wanted(plan.benchmark, grown, [*plan.question_ids, *question_ids])
    taking_part = set(more.question_ids)
    left_out = dict.fromkeys((*plan.skipped, *more.skipped))
    return replace(more, skipped=tuple(question for question in left_out if question.question_id not in taking_part))


def _joined(present: Sequence[ModelConfig], further: Sequence[ModelConfig]) -> list[ModelConfig]:
    joined = {model.id: model for model in present}
    for model in further:
        known = joined.get(model.id)
        if known is not None and not same_model(known, model):
            raise InputError(
                f"The run has another model with the label {model.id!r}.", next="Give the new one its own label."
            )
        joined[model.id] = model
    return list(joined.values())
