"""What a pipeline stage is."""

from __future__ import annotations

from typing import ClassVar, Literal

from karenina_core.pipeline.context import Context
from karenina_core.schemas import Failure, FailureCategory


class Skip(Exception):
    """A stage has nothing to do for this evaluation; carries the reason."""


class StageFailure(Exception):
    """A stage failed in a way that ends the evaluation without a verdict."""

    def __init__(self, category: FailureCategory, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.category = category
        self.reason = reason
        self.line = line


class Stage:
    """One step of the pipeline.

    Attributes:
        name: Its established name.
        requires: Context attributes that must have been produced before it.
        produces: Context attributes it fills.
        off: Why the stage does nothing at all in this version, or empty.
        after_failure: Whether it still runs when an earlier stage failed.
    """

    name: ClassVar[str]
    requires: ClassVar[frozenset[str]] = frozenset()
    produces: ClassVar[frozenset[str]] = frozenset()
    off: ClassVar[str] = ""
    after_failure: ClassVar[bool] = False

    async def run(self, context: Context) -> None:
        """Do the work.

        Raises:
            Skip: There is nothing to do.
            StageFailure: The evaluation cannot reach a verdict.
            ModelError: A model call failed; it becomes the evaluation's failure.
        """
        raise NotImplementedError


def failure_of(stage: str, category: FailureCategory, reason: str, line: int | None = None) -> Failure:
    """Build a failure with a reason of readable length."""
    return Failure(category=category, stage=stage, reason=reason[:500], line=line)


StageState = Literal["ran", "off", "skipped", "failed"]
