"""Recording a run: what models really printed, kept so that it can be replayed without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.models import RecordedCall, Recording
from karenina_core.runs import Store, run_verification
from karenina_core.schemas import CallRecord, ModelConfig, VerificationConfig, VerificationResult
from karenina_core.schemas.entities.question import now

_PREPARED = frozenset({"manual", "recorded", "recording"})


def record(config: VerificationConfig, benchmark: Benchmark, name: str, title: str, note: str = "") -> dict[str, Any]:
    """Run a benchmark with real models and return the recording, ready to be written as `NAME.json`.

    Nothing comes from earlier runs: every call is made now. A call that failed is not part of the recording.

    Args:
        config: Models that can be asked; prepared or recorded answers are refused.
        benchmark: Its finished questions are asked.
        name: Short name of the recording, which is also its file name.
        title: Name for people.
        note: What a reader must know.

    Raises:
        ConfigError: The run cannot work.
        InputError: A model is not one that can be asked.
    """
    for model in (*config.answering_models, *config.parsing_models):
        _refuse_prepared(model.id, model.transport)
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "recording.db") as store:
        results = run_verification(benchmark, config, store=store)
    return recording_of(results, config, name, title, note)


def recording_of(
    results: Iterable[VerificationResult], config: VerificationConfig, name: str, title: str, note: str = ""
) -> dict[str, Any]:
    """Return the recording of finished results, from the calls they keep as evidence.

    Raises:
        InputError: A reply did not come from a model.
    """
    recorded_calls: dict[tuple[Any, ...], RecordedCall] = {}
    facts: dict[str, dict[str, Any]] = {}
    for result in results:
        for call in calls_of(result):
            _refuse_prepared(call.model, call.source)
            recorded = _recorded(call, result)
            # A judge that was asked again is recorded with its last reply.
            place = (recorded.question_id, recorded.replicate, recorded.part)
            recorded_calls[recorded.purpose, recorded.model, recorded.answering_model, *place] = recorded
            facts.setdefault(call.model, {name: fact for name, fact in call.provenance.items() if name != "first_call"})
    recording = Recording(
        name=name,
        title=title,
        kind="recording",
        note=note,
        provenance={"recorded": now(), "models": _models(config, facts)},
        calls=list(recorded_calls.values()),
    )
    return recording.model_dump(mode="json", exclude_none=True)


def calls_of(result: VerificationResult) -> Iterator[CallRecord]:
    """Yield the model calls of a result that brought a reply."""
    guards = (part.call for part in (result.abstention, result.sufficiency) if part)
    judged = [*(result.template.calls if result.template else ()), *result.rubric.calls]
    for call in (result.answer.call if result.answer else None, *guards, *judged):
        if call is not None and call.reply is not None:
            yield call


def _refuse_prepared(label: str, source: str) -> None:
    if source in _PREPARED:
        raise InputError(
            f"{label!r} cannot be recorded.",
            why="Its replies were prepared; no model prints them now.",
            next="Choose a model at a provider or a local one.",
        )


def _recorded(call: CallRecord, result: VerificationResult) -> RecordedCall:
    return RecordedCall.model_validate(
        {
            **call.model_dump(include={"purpose", "model", "part", "reply", "finish_reason", "messages"}),
            "answering_model": result.answering_model,
            "question_id": result.question_id,
            "replicate": result.replicate,
            "usage": call.usage,
        }
    )


def _models(config: VerificationConfig, facts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        model.id: {"title": model.id, **_settings(model), **facts[model.id]}
        for model in (*config.answering_models, *config.parsing_models)
        if model.id in facts
    }


def _settings(model: ModelConfig) -> dict[str, Any]:
    settings = {
        "interface": model.interface,
        "system_prompt": model.system_prompt,
        "parameters": {"temperature": model.temperature, "max_tokens": model.max_tokens},
    }
    if model.provider_model:
        settings["model"] = model.provider_model
    return {key: value for key, value in settings.items() if value is not None}
