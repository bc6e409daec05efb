"""Configurations as files, and prepared answers: how they fit a benchmark, and giving them back to a stored run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError, InputError, validation_message
from karenina_core.files import json_bytes, read_bytes, read_json
from karenina_core.runs.plan import Plan
from karenina_core.schemas import ModelConfig, VerificationConfig
from karenina_core.text import counted

_MAX_BYTES = 200 * 2**20  # of exported results, which begin with their configuration
_MAX_TEXT = 2_000_000


def read_configuration_file(path: str | Path) -> VerificationConfig:
    """Read a configuration: its JSON, or exported results that hold it.

    Raises:
        InputError: The file cannot be read, or holds no configuration; says what is wrong.
    """
    document = read_json(read_bytes(path, limit=_MAX_BYTES), limit=_MAX_BYTES, max_text=_MAX_TEXT)
    if isinstance(document, dict) and isinstance(document.get("config"), dict):
        document = document["config"]
    try:
        return VerificationConfig.model_validate(document)
    except ValidationError as error:
        raise InputError(
            "The file holds no usable configuration.",
            why=f"{validation_message(error)}.",
            next="Give at least answering_models and parsing_models, as a download from Configure has them.",
        ) from error


def configuration_bytes(config: VerificationConfig) -> bytes:
    """Return a configuration as the content of a file; prepared answers and keys are no part of it."""
    return json_bytes(config.model_dump(mode="json", exclude_defaults=True))


@dataclass(frozen=True)
class AnswerMatch:
    """Which questions have a prepared answer, and which answers belong to none.

    Attributes:
        matched: Ids of the questions with an answer.
        unanswered: Ids of the questions without one; they will have no verdict.
        unknown: Ids or texts in the file that are no question of the benchmark.
        twice: Ids of questions answered both by id and by text; the answer by id counts.
        empty: Ids of questions whose answer is blank; they will have no verdict.
        idle: Ids of questions with an answer that take no part, because they are not finished or not chosen.
    """

    matched: tuple[str, ...]
    unanswered: tuple[str, ...]
    unknown: tuple[str, ...]
    twice: tuple[str, ...]
    empty: tuple[str, ...]
    idle: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every question has an answer and every answer a question."""
        return not (self.unanswered or self.unknown or self.twice or self.empty)

    @property
    def sentence(self) -> str:
        """What a person should know, such as `12 of 14 questions have an answer; 1 answer belongs to no question.`"""
        asked = len(self.matched) + len(self.unanswered) + len(self.empty)
        parts = [f"{len(self.matched)} of {counted(asked, 'question')} {'has' if asked == 1 else 'have'} an answer"]
        for ids, noun, one, several in (
            (self.empty, "answer", "is blank", "are blank"),
            (self.unknown, "answer", "belongs to no question", "belong to no question"),
            (self.twice, "question", "is answered twice, by id and by text", "are answered twice, by id and by text"),
            (self.idle, "answer", "is for questions that take no part", "are for questions that take no part"),
        ):
            if ids:
                parts.append(f"{counted(len(ids), noun)} {one if len(ids) == 1 else several}")
        return "; ".join(parts) + "."


def match_answers(
    benchmark: Benchmark, answers: Mapping[str, str], question_ids: Iterable[str] | None = None
) -> AnswerMatch:
    """Compare prepared answers with the questions of a benchmark.

    Args:
        benchmark: The benchmark.
        answers: Answers by question id or by the exact text of the question.
        question_ids: The questions that take part; all finished ones when not given.
    """
    asked = list(benchmark.get_finished_questions(ids_only=True) if question_ids is None else question_ids)
    texts = {benchmark.get_question(name).question: name for name in benchmark.get_question_ids()}
    known = set(texts.values())
    by_text = {texts[key]: text for key, text in answers.items() if key in texts and key not in known}
    by_id = {key: text for key, text in answers.items() if key in known}
    answered = {**by_text, **{name: text for name, text in by_id.items() if text}}
    blank = {name for name, text in answered.items() if not text.strip()}
    return AnswerMatch(
        matched=tuple(name for name in asked if name in answered and name not in blank),
        unanswered=tuple(name for name in asked if name not in answered),
        unknown=tuple(key for key in answers if key not in known and key not in texts),
        twice=tuple(name for name in texts.values() if name in by_id and name in by_text),
        empty=tuple(name for name in asked if name in blank),
        idle=tuple(name for name in answered if name not in set(asked)),
    )


def answers_missing(config: VerificationConfig) -> tuple[str, ...]:
    """Return the models whose prepared answers a stored configuration does not hold; they are never stored with it."""
    return tuple(model.id for model in config.answering_models if _is_bare(model))


def require_answers(plan: Plan, done: Mapping[str, int]) -> None:
    """Refuse a plan with work for models whose prepared answers are not at hand.

    Args:
        plan: What is wanted.
        done: Number of rows that have had their answer, by answering model.

    Raises:
        ConfigError: It names the models.
    """
    wanted = plan.rows // len(plan.config.answering_models)
    missing = [model for model in answers_missing(plan.config) if done.get(model, 0) < wanted]
    if missing:
        raise ConfigError(
            f"The prepared answers of {', '.join(missing)} are needed once more.",
            why="They are not stored with a run, and this process has not seen them.",
            next="Resume the run with the file they came from.",
        )


def with_answers(config: VerificationConfig, answers: Mapping[str, Mapping[str, str]]) -> VerificationConfig:
    """Return a stored configuration with its prepared answers, for `Engine.start`.

    Args:
        config: The run's configuration.
        answers: Answers by model label, as `read_answers` gives them; those of other models are left out. Where one
            model needs answers and there is one set of them, its label does not matter.

    Raises:
        InputError: The answers of a model are not there, or not those that the run was made with.
    """
    missing = answers_missing(config)
    if len(missing) == len(answers) == 1:
        answers = {missing[0]: next(iter(answers.values()))}
    models = [_filled(model, answers) if _is_bare(model) else model for model in config.answering_models]
    return config.model_copy(update={"answering_models": models})


def _is_bare(model: ModelConfig) -> bool:
    return model.answers_digest is not None and model.manual_traces is None


def _filled(model: ModelConfig, answers: Mapping[str, Mapping[str, str]]) -> ModelConfig:
    if model.id not in answers:
        raise InputError(
            f"There are no answers of {model.id!r} here.", next="Choose the file that the run was made with."
        )
    filled = ModelConfig.model_validate({**model.model_dump(), "manual_traces": dict(answers[model.id])})
    if filled.answers_digest != model.answers_digest:
        raise InputError(
            f"These are not the answers of {model.id!r} that the run was made with.",
            next="Choose that very file, or add the new answers to the run as another model.",
        )
    return filled
