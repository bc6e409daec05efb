"""Asking again about one stored result, with another prompt, answer or template. Nothing of the run changes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from karenina_core.errors import ConfigError, InputError
from karenina_core.models import KeySource, ModelCaller, check_model
from karenina_core.pipeline import Pipeline
from karenina_core.runs.calls import call_now
from karenina_core.runs.plan import Plan
from karenina_core.runs.store import Store
from karenina_core.schemas import AnswerPart, ModelConfig, VerificationConfig, VerificationResult

_BEYOND = 1_000_000  # replicates from here on are nobody's, so that the ledger knows no reply to them


@dataclass(frozen=True)
class Trial:
    """What is tried with one stored result.

    Attributes:
        question: Another text of the question; the model under test is asked again.
        system_prompt: Another system prompt for it; empty for none, unchanged when None.
        answer: The answer to judge; the model under test is not asked.
        template: Another source of the answer template.
        with_rubric: Whether the traits are evaluated too.
    """

    question: str | None = None
    system_prompt: str | None = None
    answer: str | None = None
    template: str | None = None
    with_rubric: bool = False


def why_not(model: ModelConfig) -> str:
    """Say why a model cannot be asked anew; empty when it can."""
    if model.transport == "recorded":
        return f"{model.id} replays a recording and would say the same again."
    if model.transport == "manual":
        return f"{model.id} holds prepared answers and cannot be asked."
    return ""


def models_of(config: VerificationConfig, result: VerificationResult) -> tuple[ModelConfig, ModelConfig]:
    """Return the model under test and the judge of a result.

    Raises:
        InputError: The configuration does not have them any more.
    """
    answering = next((model for model in config.answering_models if model.id == result.answering_model), None)
    parsing = next((model for model in config.parsing_models if model.id == result.parsing_model), None)
    if answering is None or parsing is None:
        raise InputError("The run has no configuration of these models.", next="Choose another result.")
    return answering, parsing


def trial_plan(store: Store, run_id: str, result: VerificationResult, trial: Trial) -> Plan:
    """Return the calls of a trial as a plan of one row, for an estimate of what they take.

    Raises:
        InputError: There is no such run, or the question or template cannot be used.
        TemplateError: The template cannot be read.
        ConfigError: A model cannot be asked anew.
    """
    plan = store.runs.plan(run_id)
    answering, parsing = models_of(plan.config, result)
    if trial.answer is not None:
        traces = {result.question.id: trial.answer}
        answering = ModelConfig(id=answering.id, interface="manual", model_name="pasted", manual_traces=traces)
    else:
        _check(answering)
        if trial.system_prompt is not None:
            answering = answering.model_copy(update={"system_prompt": trial.system_prompt or None})
    _check(parsing)
    if trial.template is not None:
        plan.benchmark.update_template(result.question.id, trial.template)
    if trial.question is not None:
        plan.benchmark.edit_question(result.question.id, keep_id=True, question=trial.question)
    settings = {"answering_models": [answering], "parsing_models": [parsing], "replicate_count": 1}
    if not trial.with_rubric:
        settings["evaluation_mode"] = "template_only"
    config = VerificationConfig.model_validate(dict(plan.config) | settings)
    return replace(plan, config=config, question_ids=(result.question.id,), skipped=())


def carry_out(
    store: Store,
    plan: Plan,
    result: VerificationResult,
    *,
    keys: KeySource | None = None,
    anew: bool = False,
) -> VerificationResult:
    """Make the calls of a trial, through the ledger and within the budget of the day, and return its result.

    Args:
        store: Its ledger remembers the calls, and its account counts them; results are not stored.
        plan: As `trial_plan` returns it.
        result: What the trial began with.
        keys: Asked for keys before the environment.
        anew: Ask even where the ledger knows the reply to the very same call.

    Raises:
        ConfigError: A model cannot be used.
        StoreError: The database refuses.
    """
    answering, parsing = plan.config.answering_models[0], plan.config.parsing_models[0]
    given = answering.transport == "manual"
    replicate = _BEYOND + secrets.randbelow(_BEYOND) if anew else result.replicate

    async def evaluated(caller: ModelCaller) -> VerificationResult:
        pipeline = Pipeline(plan.benchmark, plan.config, caller)
        context = await pipeline.generate(result.question.id, answering, replicate)
        return await pipeline.judge(context, parsing)

    outcome = call_now(store, evaluated, of="trying", keys=keys, max_attempts=plan.config.max_attempts)
    update: dict[str, object] = {"replicate": result.replicate, "run_name": result.run_name}
    if given and outcome.answer is not None:
        update["answer"] = _given(result, outcome.answer)
    return outcome.model_copy(update=update)


def pasted(result: VerificationResult, text: str) -> VerificationResult:
    """Return the result with another answer, about which nothing is known yet.

    Raises:
        InputError: The answer is empty.
    """
    if not text.strip():
        raise InputError("The answer is empty.", next="Paste a text.")
    if result.answer is not None and result.answer.text == text:
        return result
    return VerificationResult(
        question=result.question,
        answering_model=result.answering_model,
        parsing_model=result.parsing_model,
        replicate=result.replicate,
        status="skipped",
        verdict="not_evaluated",
        answer=AnswerPart(text=text),
        run_name=result.run_name,
    )


def _given(result: VerificationResult, judged: AnswerPart) -> AnswerPart:
    """Return the answer that was given to the judge, with where it came from before."""
    same = result.answer is not None and result.answer.text == judged.text
    call = result.answer.call if same and result.answer else None
    return judged.model_copy(update={"call": call})


def _check(model: ModelConfig) -> None:
    problem = why_not(model)
    if problem:
        raise ConfigError(problem, next="Edit the values or the rule instead, which takes no call.")
    check_model(model)
