"""Stage 4: an agent's transcript must end with the assistant's own message."""

from __future__ import annotations

from karenina_core.pipeline.stage import Stage


class TraceValidationAutofail(Stage):
    name = "trace_validation_autofail"
    requires = frozenset({"answer"})
    off = "answers are single messages; agent transcripts are not produced in this version"
