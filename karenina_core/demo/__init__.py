"""The bundled demo: a small benchmark, sample answers to it, and the models to try it with, all without a key."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from karenina_core.benchmark import Benchmark
from karenina_core.models import MINILM, SMOLLM2, Recording, bundled_recordings
from karenina_core.schemas import ModelConfig, VerificationConfig

SAMPLE = "demo"
LIVE_ANSWERER = "SmolLM2-135M"
LIVE_JUDGE = "SmolLM2-135M judge"


@dataclass(frozen=True)
class BundledRecording:
    """What a bundled recording holds.

    Attributes:
        name: Short name; its models are named `NAME/ENTRY`.
        title: Name for people.
        kind: `recording` for what models really printed, `sample` for texts written by hand.
        note: What a reader must know.
        answerers: Titles of the recorded models under test, by entry.
        judges: Titles of the recorded judges, by entry.
        questions: How many questions were answered.
    """

    name: str
    title: str
    kind: Literal["sample", "recording"]
    note: str
    answerers: dict[str, str]
    judges: dict[str, str]
    questions: int


def demo_benchmark() -> Benchmark:
    """Return a fresh copy of the demo benchmark: fourteen biomedical questions that use every primitive."""
    with resources.as_file(resources.files(__name__) / "benchmark.jsonld") as path:
        return Benchmark.load(path)


def demo_config() -> VerificationConfig:
    """Return a configuration that replays the sample answers and the sample judge.

    Similarities are computed when the embedding model is installed; without it, the one question that needs them
    may stay without a verdict.
    """
    return replay_config(SAMPLE)


def replay_config(name: str) -> VerificationConfig:
    """Return a configuration that replays everything a bundled recording holds.

    Args:
        name: Name of the recording, as `recordings` gives it.
    """
    recording = Recording.load(name)
    return VerificationConfig(
        answering_models=[_recorded(name, entry) for entry in recording.entries("answer")],
        parsing_models=[_recorded(name, entry) for entry in recording.entries("parse")],
        evaluation_mode="auto" if recording.entries("rubric") else "template_only",
        abstention_enabled=bool(recording.entries("abstention")),
        embedding_check_enabled=embeddings_available(),
    )


def embeddings_available() -> bool:
    """Say whether the packaged embedding model and the library that runs it are installed."""
    return importlib.util.find_spec("sentence_transformers") is not None and MINILM.find() is not None


def live_available() -> bool:
    """Say whether the packaged language model and its engine are installed."""
    return importlib.util.find_spec("xllamacpp") is not None and SMOLLM2.find() is not None


def live_config() -> VerificationConfig:
    """Return a configuration in which the packaged language model answers and judges, inside this process.

    It needs `live_available()`. Only templates are evaluated: traits assessed by so small a judge say nothing.
    """
    answerer = ModelConfig(
        id=LIVE_ANSWERER,
        interface="local",
        temperature=0,
        max_tokens=120,
        system_prompt="Answer the question in one short sentence.",
    )
    judge = ModelConfig(id=LIVE_JUDGE, interface="local", temperature=0, max_tokens=512)
    return VerificationConfig(
        answering_models=[answerer],
        parsing_models=[judge],
        evaluation_mode="template_only",
        embedding_check_enabled=embeddings_available(),
    )


def recordings() -> list[BundledRecording]:
    """Describe the recordings that come with the workbench, by name."""
    return [_describe(Recording.load(name)) for name in bundled_recordings()]


def _recorded(name: str, entry: str) -> ModelConfig:
    return ModelConfig(interface="recorded", model_name=f"{name}/{entry}")


def _describe(recording: Recording) -> BundledRecording:
    titles = recording.provenance.get("models", {})
    answers = recording.entries("answer")
    return BundledRecording(
        name=recording.name,
        title=recording.title or recording.name,
        kind=recording.kind,
        note=recording.note,
        answerers={entry: _title(titles, entry) for entry in answers},
        judges={entry: _title(titles, entry) for entry in recording.entries("parse")},
        questions=len({call.question_id for call in recording.calls if call.purpose == "answer"}),
    )


def _title(models: dict[str, dict[str, str]], entry: str) -> str:
    return models.get(entry, {}).get("title", entry)
