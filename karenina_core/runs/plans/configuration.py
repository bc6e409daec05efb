"""Configurations as files: written by hand, downloaded from the app, or taken from exported results."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from karenina_core.errors import InputError, validation_message
from karenina_core.files import json_bytes, read_bytes, read_json
from karenina_core.schemas import VerificationConfig

_MAX_BYTES = 200 * 2**20  # of exported results, which begin with their configuration
_MAX_TEXT = 2_000_000


def read_configuration(data: bytes) -> VerificationConfig:
    """Read a configuration: its JSON, or exported results that hold it.

    Raises:
        InputError: It is no configuration; says what is wrong.
    """
    document = read_json(data, limit=_MAX_BYTES, max_text=_MAX_TEXT)
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


def read_configuration_file(path: str | Path) -> VerificationConfig:
    """Do the same with a file.

    Raises:
        InputError: It cannot be read, or is no configuration.
    """
    return read_configuration(read_bytes(path, limit=_MAX_BYTES))


def configuration_bytes(config: VerificationConfig) -> bytes:
    """Return a configuration as the content of a file; prepared answers and keys are no part of it."""
    return json_bytes(config.model_dump(mode="json", exclude_defaults=True))
