"""Stage 3: an agent that ran into its turn limit fails; its trace is kept."""

from __future__ import annotations

from karenina_core.pipeline.context import Context
from karenina_core.pipeline.stage import Skip, Stage, failure_of


class RecursionLimitAutofail(Stage):
    name = "recursion_limit_autofail"
    requires = frozenset({"answer"})

    async def run(self, context: Context) -> None:
        if not context.recursion_limit_reached:
            raise Skip("no turn limit was reached")
        context.autofail = True
        context.failure = failure_of(self.name, "recursion_limit", "The agent reached its turn limit.")
