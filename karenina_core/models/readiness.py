"""Whether the models of a run can be used at all, found out before anything is stored or spent."""

from __future__ import annotations

from pathlib import Path

from karenina_core.errors import ConfigError
from karenina_core.models.clients import make_client
from karenina_core.models.keys import check_access
from karenina_core.schemas import ModelConfig, VerificationConfig


def check_models(config: VerificationConfig) -> None:
    """Check the models of a run.

    Raises:
        ConfigError: A model cannot answer or judge: an unknown recording, a missing file, a bad address.
        InputError: A file of the configuration cannot be read.
        MissingDependencyError: What a local model needs is not installed.
    """
    for model in config.answering_models:
        check_model(model)
    for model in config.parsing_models:
        if model.transport == "manual":
            raise ConfigError(
                f"{model.id!r} cannot judge.",
                why="Prepared answers only answer.",
                next="Choose a model that can be asked.",
            )
        check_model(model)


def check_model(model: ModelConfig) -> None:
    """Check one model.

    Raises:
        ConfigError: It cannot be asked: an unknown recording, a missing file, a bad address.
        InputError: A file of the configuration cannot be read.
        MissingDependencyError: What a local model needs is not installed.
    """
    if model.transport == "local":
        _check_local(model)
    elif model.is_provider:
        check_access(model)
    else:
        make_client(model)


def _check_local(model: ModelConfig) -> None:
    from karenina_core.models.weights import SMOLLM2

    if not model.model_name:
        SMOLLM2.require()
    elif not Path(model.model_name).expanduser().is_file():
        raise ConfigError(f"There is no model file {model.model_name!r}.", next="Give the path of a GGUF file.")
