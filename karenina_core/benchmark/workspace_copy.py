"""Copies of workspaces: plain files only, whoever made the folder and whatever is put into it meanwhile."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from karenina_core.errors import InputError
from karenina_core.files import write_atomic

MAX_FILES = 5_000
MAX_BYTES = 200_000_000
MAX_DEPTH = 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class WorkspaceError(InputError):
    """A workspace is not a plain folder below the root, or cannot be copied."""


@dataclass(frozen=True)
class WorkspaceCopy:
    """A copy of a workspace.

    Attributes:
        folder: Where it is.
        files: Number of files in it.
        size: Bytes in it.
        left_out: Links, pipes, devices, and files with a second name, by their path; they are not in it.
    """

    folder: Path
    files: int
    size: int
    left_out: tuple[str, ...]


def copy_workspace(source: Path, target: Path) -> WorkspaceCopy:
    """Copy the plain files of a folder into a new one. Nothing is followed out of it.

    Args:
        source: The folder, as `resolve` returned it.
        target: The copy; must not exist yet, nor lie in the source.

    Raises:
        InputError: The target exists, or the source is larger than a copy may be; nothing is left behind then.
    """
    if target.resolve().is_relative_to(source.resolve()):
        raise WorkspaceError(f"A copy of {source.name!r} cannot be made inside of it.", next="Choose another folder.")
    try:
        target.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise WorkspaceError(f"The folder {str(target)!r} cannot be made.", str(error), "Choose another one.") from None
    try:
        return _copied(source, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def left_out(source: Path) -> tuple[str, ...]:
    """Return what a copy of a folder would leave out.

    Raises:
        InputError: The folder is larger than a copy may be.
    """
    return tuple(name for name, content in _members(source, read=False) if content is None)


def is_link(found: os.stat_result) -> bool:
    """Say whether what `lstat` found is a link of any kind."""
    # Windows has further kinds of links; all are reparse points.
    reparse_point = getattr(found, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    return stat.S_ISLNK(found.st_mode) or bool(reparse_point)


def _copied(source: Path, target: Path) -> WorkspaceCopy:
    files, size, skipped = 0, 0, []
    for name, content in _members(source, read=True):
        if content is None:
            skipped.append(name)
            continue
        place = target / name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(place, content)
        files, size = files + 1, size + len(content)
    return WorkspaceCopy(target, files, size, tuple(skipped))


def _members(source: Path, read: bool) -> Iterator[tuple[str, bytes | None]]:
    """Yield the path and the content of every plain file, None for what is none."""
    entries, room = 0, MAX_BYTES
    for folder, folders, names, descriptor in _folders(source):
        inside = Path(folder).relative_to(source)
        if len(inside.parts) >= MAX_DEPTH:
            raise _too_large(source, f"it is more than {MAX_DEPTH} folders deep")
        for name in sorted([*folders, *names]):
            entries += 1
            if entries > MAX_FILES:
                raise _too_large(source, f"it holds more than {MAX_FILES} files and folders")
            where = name if descriptor is not None else os.path.join(folder, name)
            try:
                found = os.stat(where, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            if stat.S_ISDIR(found.st_mode) and not is_link(found):
                continue
            content = _content(where, descriptor, found, room if read else None)
            if content is not None:
                room -= len(content) if read else found.st_size
                if room < 0:
                    raise _too_large(source, f"its files have more than {MAX_BYTES // 1_000_000} MB")
            yield (inside / name).as_posix(), content


def _folders(source: Path) -> Iterator[tuple[str, list[str], list[str], int | None]]:
    if hasattr(os, "fwalk"):
        # By descriptor: a folder that is replaced by a link on the way is not entered.
        yield from os.fwalk(source)
        return
    for folder, folders, names in os.walk(source):
        yield folder, folders, names, None
        folders[:] = [name for name in folders if not is_link(os.lstat(os.path.join(folder, name)))]


def _content(where: str, descriptor: int | None, found: os.stat_result, limit: int | None) -> bytes | None:
    """Return at most one byte more than `limit` of a plain file, nothing without a limit, None for anything else."""
    if not _is_plain(found) or limit is None:
        return b"" if _is_plain(found) else None
    try:
        file = os.open(where, _FLAGS, dir_fd=descriptor)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        now = os.fstat(opened.fileno())
        return opened.read(limit + 1) if _is_plain(now) and os.path.samestat(found, now) else None


def _is_plain(found: os.stat_result) -> bool:
    # A second name could be one outside of the folder.
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and not is_link(found)


def _too_large(source: Path, why: str) -> WorkspaceError:
    return WorkspaceError(f"The workspace {source.name!r} is too large to be copied.", why, "Keep only what is needed.")
