"""From options to models, a configuration and the questions that take part."""

from __future__ import annotations

import argparse
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.cli import output
from karenina_core.errors import InputError
from karenina_core.models import Purpose, Recording
from karenina_core.schemas import ModelConfig, VerificationConfig


def configuration(options: argparse.Namespace) -> VerificationConfig:
    """Return the configuration: a file or a preset where one is named, changed by the other options.

    Raises:
        InputError: A model under test or a judge is missing, or the file or preset cannot be used.
    """
    given = _changes(options)
    settings = {**dict(base), **given} if (base := _base(options)) else given
    if not settings.get("answering_models"):
        raise InputError(
            "No model to test was given.", next="Name one with --answering, or give prepared answers with --answers."
        )
    if not settings.get("parsing_models"):
        raise InputError("No judge was given.", next="Name one with --judge.")
    return VerificationConfig.model_validate(settings)


def _base(options: argparse.Namespace) -> VerificationConfig | None:
    if options.config:
        from karenina_core.runs import read_configuration_file

        return read_configuration_file(options.config)
    if options.preset:
        with output.opened_store() as store:
            return store.settings.preset(options.preset)
    return None


def _changes(options: argparse.Namespace) -> dict[str, Any]:
    given = {
        "answering_models": answering_models(options),
        "parsing_models": judges(options),
        "replicate_count": options.replicates,
        "max_concurrent_requests": options.concurrency,
        "abstention_enabled": options.abstention,
        "embedding_check_enabled": options.embeddings,
        "max_cost": options.max_cost,
    }
    return {name: value for name, value in given.items() if value}


def answering_models(options: argparse.Namespace) -> list[ModelConfig]:
    """Return the models under test of `--answering` and `--answers`."""
    models = [model for text in options.answering for model in _models(text, _settings(options), "answer")]
    return models + (_prepared(options.answers) if options.answers else [])


def judges(options: argparse.Namespace) -> list[ModelConfig]:
    """Return the judges of `--judge`."""
    return [model for text in options.judge for model in _models(text, _settings(options), "parse")]


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    pairs = (("endpoint_base_url", options.base_url), ("api_key_env", options.api_key_env))
    return {key: value for key, value in pairs if value}


def _models(text: str, settings: dict[str, Any], purpose: Purpose) -> list[ModelConfig]:
    if text.startswith("manual:"):
        return _prepared(text.removeprefix("manual:"))
    if text.startswith("recorded:") and "/" not in text:
        # A recording by its name alone stands for all models in it.
        entries = Recording.load(text.removeprefix("recorded:")).entries(purpose)
        return [ModelConfig.parse(f"{text}/{entry}") for entry in entries]
    model = ModelConfig.parse(text)
    return [ModelConfig.parse(text, **settings) if model.is_provider else model]


def _prepared(path: str) -> list[ModelConfig]:
    from karenina_core.models import read_answers

    return [
        ModelConfig(id=label, interface="manual", model_name=label, manual_traces=answers)
        for label, answers in read_answers(path).items()
    ]


def questions(options: argparse.Namespace, benchmark: Benchmark) -> list[str] | None:
    """Return the questions that the options choose; None when they choose all.

    Raises:
        InputError: There is no such run, or no question is left.
    """
    from karenina_core.runs import choose_questions, questions_of

    named = set(options.question) if options.question else None
    if options.only_failing_in:
        with output.opened_store() as store:
            failing = questions_of(store, output.find_run(store, options.only_failing_in).id, ("fail", "error"))
        named = set(failing) if named is None else named & set(failing)
    if named is None and not options.keyword and not options.search:
        return None
    found = choose_questions(benchmark, keywords=options.keyword, search=options.search or "", question_ids=named)
    if not found:
        raise InputError("No question is left.", next="Loosen --keyword, --search, --question or --only-failing-in.")
    return found
