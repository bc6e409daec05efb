"""Where the replies behind a run came from, when no model was asked for them."""

from __future__ import annotations

from collections.abc import Sequence

from karenina_core.analysis.frames import calls_of
from karenina_core.schemas import CallRecord, VerificationResult


def provenance_sentences(results: Sequence[VerificationResult]) -> list[str]:
    """Return what a reader must know before any number: which replies were written by hand, recorded or prepared."""
    said: dict[str, dict[str, None]] = {}
    for result in results:
        for call in calls_of(result):
            if words := _words(call):
                said.setdefault(words, {})[call.model] = None
    return [f"{words} This holds for {_listed(list(models))}." for words, models in said.items()]


def _words(call: CallRecord) -> str:
    name = call.provenance.get("recording")
    if name is not None:
        if call.provenance.get("kind") == "sample":
            return (
                f"Hand-written samples: the replies come from the recording {name!r}. "
                "No model gave them, so the numbers say nothing about any model."
            )
        return f"Recorded replies: they come from the recording {name!r}. No model was asked for them in this run."
    if call.source == "manual":
        return "Prepared answers: they were given in a file. No model was asked for them in this run."
    return ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
