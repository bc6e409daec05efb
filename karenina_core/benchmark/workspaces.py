"""Where the files of agentic questions are: plain folders below a root that belongs to this machine, never saved."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from karenina_core.errors import InputError

MAX_LENGTH = 255
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


class WorkspaceError(InputError):
    """A workspace is not a plain folder below the root."""


def check_relative(path: str) -> list[str]:
    """Return the parts of a workspace path.

    Only plain names separated by `/` are allowed, so that the same path means the same folder on every system.

    Raises:
        WorkspaceError: It is absolute, leads upwards, names a drive, or has a part some system does not allow.
    """
    parts = path.split("/") if isinstance(path, str) else []
    bad = next((part for part in parts if _is_unsafe(part)), None)
    if not parts or bad is not None or len(path) > MAX_LENGTH:
        raise WorkspaceError(
            f"The workspace path {str(path)[:80]!r} is not usable.",
            f"{bad!r} is no plain folder name." if bad is not None else "It is empty or too long.",
            "Use a relative path such as 'task_01' or 'unit/task_01'.",
        )
    return parts


def resolve(root: Path, relative: str) -> Path:
    """Return the folder `relative` below `root`, having looked at every step of the way.

    Raises:
        WorkspaceError: A part is unsafe, missing, no folder, or a link.
    """
    folder = root.resolve()
    for part in check_relative(relative):
        folder = folder / part
        try:
            info = folder.lstat()
        except OSError:
            info = None
        if info is not None and _is_link(info):
            raise WorkspaceError(
                f"The workspace {relative!r} leads through a link, {part!r}.", next="Use a real folder."
            )
        if info is None or not stat.S_ISDIR(info.st_mode):
            raise WorkspaceError(
                f"The workspace {relative!r} does not exist below {str(root)!r}.",
                next="Create the folder, or set another workspace root.",
            )
    return folder


def _is_link(info: os.stat_result) -> bool:
    # Windows has further kinds of links; all are reparse points.
    attributes = getattr(info, "st_file_attributes", 0)
    return stat.S_ISLNK(info.st_mode) or bool(attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT)


def _is_unsafe(part: str) -> bool:
    odd = part in ("", ".", "..") or part.startswith("~") or part != part.strip() or part.endswith(".")
    return odd or bool(_FORBIDDEN.search(part)) or bool(_RESERVED.fullmatch(part))
