"""The folder an agent works in: found below the benchmark's root, copied, and compared with what it was before."""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from karenina_core.errors import InputError
from karenina_core.schemas import FileChange

MOST_FILES = 20_000
MOST_BYTES = 2**30
"""What a workspace may hold; a larger one is refused before it is copied."""
MOST_CHANGES = 200
"""Produced files that are kept with a result; of the others only the number is."""
_MOST_TEXT = 100_000  # bytes of a text file whose content or difference is kept
_IGNORED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".pytest_cache", ".ruff_cache"})


@dataclass(frozen=True)
class Workspace:
    """An open workspace. A copy, or the empty folder that was made, goes with it unless it is to be kept.

    Attributes:
        path: Where the agent works; resolved.
        origin: The folder it was copied from; itself when the agent works in place.
        before: SHA-256 of every file when it was opened, by path below the workspace.
    """

    path: Path
    origin: Path
    before: Mapping[str, str]

    def changes(self) -> list[FileChange]:
        """Return the files that were added, changed or removed since it was opened, in the order of their paths."""
        after = _digests(self.path)
        names = sorted(name for name in {*self.before, *after} if self.before.get(name) != after.get(name))
        return [self._change(name, after.get(name)) for name in names[:MOST_CHANGES]]

    def _change(self, name: str, digest: str | None) -> FileChange:
        kind = "removed" if digest is None else "changed" if name in self.before else "added"
        size = 0 if digest is None else (self.path / name).stat().st_size
        old, new = _text(self.origin / name) if self.path != self.origin else "", _text(self.path / name)
        if kind == "changed" and old and new is not None:
            new = "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "before", "after"))
        return FileChange(path=name, change=kind, sha256=digest, bytes=size, text=new)


def contained(root: Path, name: str) -> Path:
    """Return the path that a name below a resolved folder means, following links.

    Raises:
        InputError: It leads elsewhere.
    """
    try:
        path = (root / name).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"The path {name!r} cannot be used.", why=str(error)) from None
    if not path.is_relative_to(root):
        raise InputError(f"The path {name!r} leads out of the workspace.", next="Use a path below it.")
    return path


def open_workspace(root: Path | None, name: str | None, *, copy: bool = True, keep: bool = False) -> Workspace:
    """Open the workspace of a question.

    Args:
        root: The benchmark's workspace root.
        name: The question's path below it; None for an empty folder.
        copy: Work in a copy beside the original.
        keep: Leave the copy where it is when it is not used any more.

    Raises:
        InputError: There is no such folder, it lies outside of the root, or it is too large to be copied.
    """
    if not name:
        folder = Path(tempfile.mkdtemp(prefix="karenina_workspace_")).resolve()
        return _temporary(Workspace(folder, folder / ".nowhere", {}), keep)
    if root is None:
        raise InputError(
            f"The question has the workspace {name!r}, but the benchmark has no workspace root.",
            next="Set the folder that workspace paths start from.",
        )
    origin = contained(root.resolve(), name)
    if not origin.is_dir():
        raise InputError(f"There is no workspace {name!r}.", why=f"{origin} is no folder.", next="Create it first.")
    before = _digests(origin)
    if not copy:
        return Workspace(origin, origin, before)
    folder = origin.with_name(f"{origin.name}_run_{token_hex(4)}")
    try:
        shutil.copytree(origin, folder, symlinks=True)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(f"The workspace {name!r} cannot be copied.", why=str(error)) from error
    return _temporary(Workspace(folder, origin, before), keep)


def _temporary(workspace: Workspace, keep: bool) -> Workspace:
    if not keep:
        weakref.finalize(workspace, shutil.rmtree, workspace.path, ignore_errors=True)
    return workspace


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder by name, without following links; caches and versions are passed over."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _IGNORED)
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _digests(folder: Path) -> dict[str, str]:
    digests: dict[str, str] = {}
    size = 0
    for path in files_in(folder):
        size += path.stat().st_size
        if len(digests) >= MOST_FILES or size > MOST_BYTES:
            most = f"A workspace may hold {MOST_FILES:,} files and {MOST_BYTES >> 20:,} MB."
            raise InputError(
                f"The workspace {folder.name!r} is too large.", why=most, next="Remove what is not needed."
            )
        with path.open("rb") as file:
            digests[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def _text(path: Path) -> str | None:
    """Return the text of a file; None for what is no text, or too long to be kept."""
    try:
        data = path.read_bytes() if path.stat().st_size <= _MOST_TEXT else b"\0"
        return None if b"\0" in data else data.decode()
    except (OSError, UnicodeDecodeError):
        return None
