"""Where the files of agentic questions are. The root belongs to this machine and is never saved."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from pathlib import Path

from karenina_core.benchmark.base import BenchmarkBase
from karenina_core.benchmark.workspace_copy import WorkspaceCopy, WorkspaceError, copy_workspace, is_link

MAX_LENGTH = 255
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


class WorkspaceMethods(BenchmarkBase):
    """The workspaces of a benchmark's questions."""

    @property
    def workspace_root(self) -> Path | None:
        """The folder the questions' workspace paths start from, None when not set."""
        return self._workspace_root

    def set_workspace_root(self, path: str | Path | None) -> None:
        """Set the folder the questions' workspace paths start from; None unsets it.

        Raises:
            InputError: There is no such folder.
        """
        if path is not None and not Path(path).is_dir():
            raise WorkspaceError(f"The workspace root {str(path)!r} is no folder.", next="Choose an existing folder.")
        self._workspace_root = None if path is None else Path(path)

    def resolve_workspace(self, question_id: str) -> Path | None:
        """Return the folder of a question, None when it has no workspace.

        Raises:
            InputError: There is no such question, no root is set, or the path is unsafe or missing.
        """
        relative = self._entry(question_id).question.workspace_path
        if relative is None:
            return None
        if self._workspace_root is None:
            raise WorkspaceError(
                f"The question {question_id!r} has a workspace, but no workspace root is set.",
                next="Set it with `set_workspace_root` or `Benchmark.load(..., workspace_root=...)`.",
            )
        return resolve(self._workspace_root, relative)

    def prepare_workspace(self, question_id: str) -> WorkspaceCopy:
        """Make a folder for one attempt at a question, for an agent of yours to work in.

        It is a copy of the question's workspace beside it, so that the original stays as it is; an empty folder below
        the root where the question has none.

        Returns:
            The new folder, and what of the workspace is not in it.

        Raises:
            InputError: There is no such question, no root is set, or the workspace cannot be copied.
        """
        source = self.resolve_workspace(question_id)
        suffix = f"_run_{secrets.token_hex(4)}"
        if source is not None:
            return copy_workspace(source, source.with_name(source.name[:200] + suffix))
        if self._workspace_root is None:
            raise WorkspaceError("No workspace root is set.", next="Set it with `set_workspace_root`.")
        # An id may hold characters that no folder name can have.
        name = hashlib.md5(question_id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
        folder = self._workspace_root / f"question_{name}{suffix}"
        folder.mkdir(mode=0o700)
        return WorkspaceCopy(folder, 0, 0, ())


def check_relative(path: str) -> list[str]:
    """Return the parts of a workspace path.

    Only plain names separated by `/` are allowed, so that the same path means the same folder on every system.

    Raises:
        InputError: It is absolute, leads upwards, names a drive, or has a part some system does not allow.
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
        InputError: A part is missing, no folder, or a link.
    """
    folder = root.resolve()
    for part in check_relative(relative):
        folder = folder / part
        info = _lstat(folder)
        if info is not None and is_link(info):
            raise WorkspaceError(
                f"The workspace {relative!r} leads through a link, {part!r}.", next="Use a real folder."
            )
        if info is None or not stat.S_ISDIR(info.st_mode):
            raise WorkspaceError(
                f"The workspace {relative!r} does not exist below {str(root)!r}.",
                next="Create the folder, or set another workspace root.",
            )
    return folder


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _is_unsafe(part: str) -> bool:
    return (
        part in ("", ".", "..")
        or part.startswith("~")
        or part != part.strip()
        or part.endswith(".")
        or bool(_FORBIDDEN.search(part))
        or bool(_RESERVED.fullmatch(part))
    )
