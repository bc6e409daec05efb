"""Letting a stored run want more, and the questions of a run that are worth another look."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypedDict, Unpack

from karenina_core.errors import InputError
from karenina_core.runs.plan import MODEL_PACE, Plan, wanted
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig, VerificationConfig

Trouble = Literal["fail", "error", "not_evaluated"]
TROUBLES: tuple[Trouble, ...] = ("fail", "error", "not_evaluated")


class Growth(TypedDict, total=False):
    """What a run is to want beyond what it wants.

    Attributes:
        answering_models: Further models under test. A `manual` model that the run has already gets its prepared
            answers back.
        judges: Further judges.
        replicates: How often every question is asked, in all; unchanged when not given.
        question_ids: Further questions, of those the benchmark had when the run was made.
    """

    answering_models: Sequence[ModelConfig]
    judges: Sequence[ModelConfig]
    replicates: int | None
    question_ids: Iterable[str]


def top_up(store: Store, run_id: str, **growth: Unpack[Growth]) -> VerificationConfig:
    """Let a stored run want more. What it has stays, and nothing that is answered is asked again.

    Start the run with the configuration that is returned, which holds prepared answers that are never stored.

    Args:
        store: Holds the run.
        run_id: A run that is not under way.
        **growth: What is added, as `Growth` names it.

    Raises:
        InputError: Nothing would be added, or something would change or be lost, or the run is under way.
    """
    if store.runs.get(run_id).parent_run:
        raise InputError(
            "A re-verification cannot want more than its run.", next="Top up the run it came from, then verify again."
        )
    before = store.runs.plan(run_id)
    after = widened(before, **growth)
    answers_back = any(model.manual_traces is not None for model in growth.get("answering_models", ()))
    if after.rows == before.rows and not answers_back:
        raise InputError("Nothing would be added to the run.", next="Name models, judges, replicates or questions.")
    store.runs.widen(run_id, after)
    return after.config


def widened(plan: Plan, **growth: Unpack[Growth]) -> Plan:
    """Return a plan that wants more; nothing is stored.

    Raises:
        InputError: Something would change or be lost.
    """
    config = plan.config
    replicates = growth.get("replicates")
    repeats = config.replicate_count if replicates is None else replicates
    if repeats < config.replicate_count:
        raise InputError(
            f"The run repeats every question {config.replicate_count} times already.",
            next=f"Give a number above {config.replicate_count}.",
        )
    changed = {
        "answering_models": _joined(config.answering_models, growth.get("answering_models", ())),
        "parsing_models": _joined(config.parsing_models, growth.get("judges", ())),
        "replicate_count": repeats,
    }
    grown = VerificationConfig.model_validate(dict(config) | changed)
    more = wanted(plan.benchmark, grown, [*plan.question_ids, *growth.get("question_ids", ())])
    skipped = dict.fromkeys((*plan.skipped, *more.skipped))
    return replace(more, skipped=tuple(item for item in skipped if item.question_id not in set(more.question_ids)))


def _joined(present: Sequence[ModelConfig], further: Sequence[ModelConfig]) -> list[ModelConfig]:
    joined = {model.id: model for model in present}
    for model in further:
        known = joined.setdefault(model.id, model)
        if known.model_dump(exclude=MODEL_PACE) != model.model_dump(exclude=MODEL_PACE):
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
