"""One benchmark, one configuration, one evaluation at a time: from a question through all stages to its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

from karenina_core.benchmark import Benchmark
from karenina_core.errors import KareninaError, ModelError
from karenina_core.models import Embedder, ModelCaller, load_embedder
from karenina_core.pipeline.stage import Context, Skip, Stage, StageFailure, StageState, failure_of
from karenina_core.pipeline.stages.answering import (
    GenerateAnswer,
    RecursionLimitAutofail,
    TraceValidationAutofail,
    ValidateTemplate,
)
from karenina_core.pipeline.stages.finalize_result import FinalizeResult
from karenina_core.pipeline.stages.guards import AbstentionCheck, SufficiencyCheck
from karenina_core.pipeline.stages.rubric import DeepJudgmentRubricAutofail, RubricEvaluation
from karenina_core.pipeline.stages.verification import (
    DeepJudgmentAutofail,
    EmbeddingCheck,
    ParseTemplate,
    VerifyTemplate,
)
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

STAGES: tuple[Stage, ...] = (
    ValidateTemplate(),
    GenerateAnswer(),
    RecursionLimitAutofail(),
    TraceValidationAutofail(),
    AbstentionCheck(),
    SufficiencyCheck(),
    ParseTemplate(),
    VerifyTemplate(),
    EmbeddingCheck(),
    DeepJudgmentAutofail(),
    RubricEvaluation(),
    DeepJudgmentRubricAutofail(),
    FinalizeResult(),
)
"""All stages in order."""

SHARED = next(place for place, stage in enumerate(STAGES) if stage.asks_judge)
"""How many of them come before the first that asks a judge, and are shared by all judges of an answer."""


def check_stages(stages: Sequence[Stage]) -> None:
    """Check that every stage's inputs are produced before it.

    Raises:
        ValueError: A stage requires what no earlier stage produces.
    """
    produced: set[str] = set()
    for stage in stages:
        missing = stage.requires - produced
        if missing:
            raise ValueError(
                f"Stage {stage.name} requires {', '.join(sorted(missing))}, which no earlier stage produces."
            )
        produced |= stage.produces


check_stages(STAGES)


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
        self._caller = caller
        self._load_embedder = load_embedder

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
            caller=self._caller,
            load_embedder=self._load_embedder,
            sandbox=self.benchmark.sandbox,
            workspace_root=self.benchmark.workspace_root,
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
        if stage.off:
            context.stages.append(_idle(stage.name, "off", stage.off))
            continue
        if context.failure is not None and not _runs_after_failure(stage, context):
            note = f"after {context.failure.stage}: {context.failure.reason}"
            context.stages.append(_idle(stage.name, "skipped", note))
            continue
        started = time.perf_counter()
        state, note = "ran", ""
        try:
            await stage.run(context)
        except Skip as reason:
            context.stages.append(_idle(stage.name, "skipped", str(reason)))
            continue
        except Exception as error:
            failure = _failure(stage.name, error)
            # What went wrong first is what went wrong.
            context.failure = context.failure or failure
            state, note = "failed", failure.reason
        seconds = round(time.perf_counter() - started, 6)
        context.stages.append(built(StageRecord, name=stage.name, state=state, note=note, seconds=seconds))


def _runs_after_failure(stage: Stage, context: Context) -> bool:
    return stage.always_runs or (stage.needs_answer_only and context.answer is not None)


@lru_cache(maxsize=256)
def _idle(name: str, state: StageState, note: str) -> StageRecord:
    """Return the record of a stage that did nothing; most results share the same few."""
    return StageRecord(name=name, state=state, note=note)


def _failure(stage: str, error: Exception) -> Failure:
    if isinstance(error, StageFailure):
        return failure_of(stage, error.category, error.reason, error.line)
    if isinstance(error, ModelError):
        return failure_of(stage, "parsing" if error.category == "invalid_output" else error.category, str(error))
    if isinstance(error, KareninaError):
        return failure_of(stage, "unexpected", str(error))
    log.error("Stage %s failed", stage, exc_info=error)
    return failure_of(stage, "unexpected", f"{type(error).__name__} in stage {stage}.")
