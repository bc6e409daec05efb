"""Similarity of texts. It tells paraphrase from change of subject, never one number from another or yes from no."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from karenina_core.errors import MissingDependencyError, ModelError
from karenina_core.models.replies import clean
from karenina_core.models.sharing import check_place
from karenina_core.models.weights import MINILM, loading

INSTALL = "Install it with: pip install torch==2.13.0 sentence-transformers==6.2.0"
_PACKAGED_NAMES = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
_HUB = "https://huggingface.co"
_HUB_SECONDS = 3.0  # for one look whether the hub can be reached
_MAX_TEXT = 20_000  # characters; models read far less of a text


class Embedder(Protocol):
    """A way to compare texts by meaning."""

    name: str

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two texts, -1 to 1."""


class SentenceEmbedder:
    """A sentence-transformers model. Get it from `load_embedder`.

    Args:
        name: Name as the user gave it.
        model: The loaded model.
    """

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        self._lock = threading.Lock()

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two texts, -1 to 1."""
        texts = [clean(text)[:_MAX_TEXT] for text in (a, b)]
        with self._lock:
            first, second = self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        return max(-1.0, min(1.0, float(first @ second)))


def load_embedder(name: str) -> Embedder:
    """Return the embedder for a model; loaded once and kept by the process.

    Args:
        name: The path of a model's folder, or the name of a model: `all-MiniLM-L6-v2` is taken from its package when
            that is installed, others from the hub's cache or the hub.

    Raises:
        ConfigError: The model may not be loaded here.
        MissingDependencyError: sentence-transformers, or the packaged model, is not installed.
        ModelError: There is no such model here and the hub cannot be reached; category `connection` or `not_found`.
    """
    check_embedder(name)
    with _lock:
        if name not in _embedders:
            with loading(name):
                _embedders[name] = SentenceEmbedder(name, _load(name))
        return _embedders[name]


def check_embedder(name: str) -> None:
    """Check that a model may be loaded here; it is not looked for.

    Raises:
        ConfigError: This server is shared, and the model is not listed.
    """
    check_place(name, *_PACKAGED_NAMES)


_embedders: dict[str, Embedder] = {}
_lock = threading.Lock()


def _load(name: str) -> Any:
    try:
        import sentence_transformers  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("Embedding checks need sentence-transformers.", str(error), INSTALL) from None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        packaged = name in _PACKAGED_NAMES and MINILM.find()
        folder = MINILM.require() if packaged else folder
    try:
        with _offline():
            return _transformer(str(folder) if folder.is_dir() else name, local=True)
    except Exception as error:  # every part of the library has errors of its own
        if folder.is_dir():
            what = f"The embedding model in {str(folder)!r} cannot be loaded."
            raise ModelError(what, str(error)[:300], category="not_found") from None
    if name.startswith((".", "/", "~")) or "\\" in name or Path(name).is_absolute():
        raise ModelError(f"There is no folder {name!r}.", next="Give the folder of a model.", category="not_found")
    return _from_hub(name)


def _from_hub(name: str) -> Any:
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on") or not _hub_answers():
        if name in _PACKAGED_NAMES:
            MINILM.require()
        raise ModelError(
            f"The embedding model {name!r} is not on this computer and could not be downloaded.",
            why="There is no connection to the model hub.",
            next=f"Give a model's folder, or use the packaged one: pip install --no-deps {MINILM.requirement}",
            category="connection",
        )
    try:
        return _transformer(name, local=False)
    except Exception as error:
        raise ModelError(
            f"The embedding model {name!r} could not be loaded from the hub.",
            why=str(error)[:300],
            next="Check its name; it must come with safetensors weights.",
            category="not_found",
        ) from None


def _transformer(source: str, *, local: bool) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging  # type: ignore[import-not-found, unused-ignore]

    logging.disable_progress_bar()
    # Only safetensors: other weight files are pickles, which can run code.
    return SentenceTransformer(source, device="cpu", local_files_only=local, model_kwargs={"use_safetensors": True})


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    # The library reads the variable once, at its import; the constant is what counts afterwards.
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _hub_answers() -> bool:
    import urllib.error
    import urllib.request

    request = urllib.request.Request(os.environ.get("HF_ENDPOINT", _HUB), method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_HUB_SECONDS):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
