"""One benchmark, one configuration, one evaluation at a time: from a question to its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

from karenina_core.benchmark import Benchmark
from karenina_core.errors import KareninaError, ModelError
from karenina_core.models import Embedder, ModelCaller, load_embedder
from karenina_core.pipeline.context import Context, Services
from karenina_core.pipeline.plan import SHARED, STAGES
from karenina_core.pipeline.stage import Skip, Stage, StageFailure, StageState, failure_of
from karenina_core.schemas import (
    AnyTrait,
    Failure,
    ModelConfig,
    StageRecord,
    VerificationConfig,
    VerificationResult,
    built,
    merge_rubrics,
)

log = logging.getLogger(__name__)


class Pipeline:
    """Evaluates questions of a benchmark.

    Args:
        benchmark: Questions, templates and rubrics.
        config: Models and settings.
        caller: The way to every model.
        load_embedder: Returns the embedding model of a name.
        run_name: Written into every result.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        config: VerificationConfig,
        caller: ModelCaller,
        load_embedder: Callable[[str], Embedder] = load_embedder,
        run_name: str | None = None,
    ) -> None:
        self.benchmark = benchmark
        self.config = config
        self.run_name = run_name
        self._services = Services(caller, load_embedder)

    def preflight(self) -> list[str]:
        """Return what keeps a run from starting, in words; empty when it can start.

        Questions that are not finished are no such problem: a run over them is empty, and its note says why.
        """
        problems = [] if len(self.benchmark) else ["The benchmark has no questions."]
        known = {trait.name for trait in self.benchmark.all_traits()}
        unknown = [name for name in self.config.rubric_trait_names or () if name not in known]
        if unknown:
            problems.append(f"No trait is named {', '.join(unknown)} (rubric_trait_names).")
        return problems

    async def generate(self, question_id: str, answering: ModelConfig, replicate: int) -> Context:
        """Run the stages that need no judge: read the template, ask the model under test."""
        traits, overridden = self._traits(question_id)
        context = Context(
            question=self.benchmark.get_question_as_object(question_id),
            question_id=question_id,
            traits=traits,
            config=self.config,
            services=self._services,
            answering=answering,
            replicate=replicate,
            run_name=self.run_name,
        )
        context.warnings += [f"The question's own trait {name!r} replaces the global one." for name in overridden]
        await run_stages(STAGES[:SHARED], context)
        return context

    async def judge(self, context: Context, parsing: ModelConfig) -> VerificationResult:
        """Run the other stages for one judge; always gives a result."""
        forked = context.fork(parsing)
        await run_stages(STAGES[SHARED:], forked)
        if forked.result is None:
            raise RuntimeError("The last stage left no result.")
        return forked.result

    def _traits(self, question_id: str) -> tuple[list[tuple[AnyTrait, str]], list[str]]:
        traits, overridden = merge_rubrics(
            self.benchmark.get_global_rubric(), self.benchmark.get_question_rubric(question_id)
        )
        wanted = self.config.rubric_trait_names
        if wanted is not None:
            traits = [(trait, provenance) for trait, provenance in traits if trait.name in wanted]
        return traits, overridden


async def run_stages(stages: Sequence[Stage], context: Context) -> None:
    """Run stages in order, noting what each did; a failure stops all but those that run after failures."""
    for stage in stages:
        if stage.off or (context.failure is not None and (blocked := _blocked(stage, context))):
            state, note = ("off", stage.off) if stage.off else ("skipped", blocked)
            context.stages.append(_idle(stage.name, state, note))
            continue
        started = time.perf_counter()
        failure = None
        try:
            await stage.run(context)
        except Skip as reason:
            context.stages.append(_idle(stage.name, "skipped", str(reason)))
            continue
        except Exception as error:
            failure = _failure(stage.name, error)
            # What went wrong first is what went wrong.
            context.failure = context.failure or failure
        state, note = ("failed", failure.reason) if failure else ("ran", "")
        seconds = round(time.perf_counter() - started, 6)
        context.stages.append(built(StageRecord, name=stage.name, state=state, note=note, seconds=seconds))


@lru_cache(maxsize=256)
def _idle(name: str, state: StageState, note: str) -> StageRecord:
    """Return the record of a stage that did nothing; most results share the same few."""
    return StageRecord(name=name, state=state, note=note)


def _failure(stage: str, error: Exception) -> Failure:
    if isinstance(error, StageFailure):
        return failure_of(stage, error.category, error.reason, error.line)
    if isinstance(error, ModelError):
        return _model_failure(stage, error)
    if isinstance(error, KareninaError):
        return failure_of(stage, "unexpected", str(error))
    log.error("Stage %s failed", stage, exc_info=error)
    return failure_of(stage, "unexpected", f"{type(error).__name__} in stage {stage}.")


def _blocked(stage: Stage, context: Context) -> str:
    """Say why an earlier failure keeps a stage from running, or nothing."""
    if context.failure is None or stage.after_failure:
        return ""
    # Traits describe the answer; a judge that could not fill the template does not take them away.
    if stage.name == "rubric_evaluation" and context.answer is not None:
        return ""
    return f"after {context.failure.stage}: {context.failure.reason}"


def _model_failure(stage: str, error: ModelError) -> Failure:
    category = "parsing" if error.category == "invalid_output" else error.category
    return failure_of(stage, category, str(error))
