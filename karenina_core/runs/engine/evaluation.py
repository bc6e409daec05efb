"""The pipeline as a run uses it, and how the real one is put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError
from karenina_core.models import MeteredCallLedger, ModelCaller, check_access, preload
from karenina_core.pipeline import Context, Pipeline
from karenina_core.runs.engine.metering import MeteredLedger
from karenina_core.runs.plans.quotes import Prices, client_at
from karenina_core.schemas import ModelConfig, VerificationConfig, VerificationResult


class Evaluator(Protocol):
    """Answers and judges one question at a time."""

    def preflight(self) -> list[str]:
        """Return what makes the run pointless, in words."""
        ...

    async def generate(self, question_id: str, answering: ModelConfig, replicate: int) -> Any:
        """Ask the model under test, and return the context its judges need. Failures are part of it."""
        ...

    async def judge(self, context: Any, parsing: ModelConfig) -> VerificationResult:
        """Judge the answer in the context."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


EvaluatorFactory = Callable[[Benchmark, VerificationConfig, MeteredCallLedger], Evaluator]


class PipelineEvaluator(Pipeline):
    """The thirteen stages with a caller of their own.

    Args:
        benchmark: Questions, templates and rubrics.
        config: Models and settings.
        ledger: Remembers the calls and watches what they cost.
        prices: A person's own prices, by name of the model.
    """

    def __init__(
        self, benchmark: Benchmark, config: VerificationConfig, ledger: MeteredCallLedger, prices: Prices | None = None
    ) -> None:
        self._held = ledger if isinstance(ledger, MeteredLedger) else None
        self._caller = ModelCaller(
            ledger,
            client_at(prices or {}),
            max_attempts=config.max_attempts,
            meter=ledger,
            traffic=ledger.traffic,
            door=self._held,
            sharing=self._held.sharing if self._held else None,
        )
        super().__init__(benchmark, config, self._caller)

    def preflight(self) -> list[str]:
        """Return what makes the run pointless, addresses and keys that cannot be used among it."""
        models = (*self.config.answering_models, *self.config.parsing_models)
        problems = super().preflight() + list(dict.fromkeys(filter(None, map(_access_problem, models))))
        if not problems:
            preload(models)
        return problems

    async def generate(self, question_id: str, answering: ModelConfig, replicate: int) -> Context:
        """Ask the model under test, and return the context its judges need; not while the run rests."""
        if self._held is not None:
            self._held.begin()
        return await super().generate(question_id, answering, replicate)

    async def judge(self, context: Context, parsing: ModelConfig) -> VerificationResult:
        """Judge the answer in the context; the calls are held for whoever stores the result."""
        if self._held is None:
            return await super().judge(context, parsing)
        self._held.begin()
        self._held.hold()
        try:
            return await super().judge(context, parsing)
        except BaseException:
            self._held.settle(self._held.held(), stored=False)
            raise

    async def aclose(self) -> None:
        """Close the connections to the models."""
        await self._caller.aclose()


def evaluator_at(prices: Callable[[], Prices]) -> EvaluatorFactory:
    """Return what makes evaluators whose calls cost what a person's own prices say at the start of a run."""

    def make(benchmark: Benchmark, config: VerificationConfig, ledger: MeteredCallLedger) -> Evaluator:
        return PipelineEvaluator(benchmark, config, ledger, prices())

    return make


def _access_problem(model: ModelConfig) -> str:
    try:
        check_access(model)
    except ConfigError as error:
        return str(error)
    return ""
