"""Foreign zip archives, read in memory and within limits; nothing is ever unpacked to a disk."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from karenina_core.errors import CheckpointError

MAX_MEMBERS: Final = 500
MAX_MEMBER_BYTES: Final = 64 * 2**20  # of one member, unpacked
MAX_TOTAL_BYTES: Final = 200 * 2**20  # of all members together, unpacked
MAX_RATIO: Final = 300  # unpacked to packed; spreadsheets reach about 50, deflate at most 1,030
_RATIO_FROM: Final = 10 * 2**20  # a smaller member harms nobody, however well it is packed

_ELSEWHERE = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|$)|.*[\0-\x1f\x7f]", re.DOTALL)

# What happened and what to do, by the code of the error.
_REASONS = {
    "zip": ("The archive cannot be read.", "Pack it again without a password, or open the file inside."),
    "zip_bomb": ("The archive is refused: it unpacks to far more than it should.", "Unpack it if you trust it."),
    "zip_path": ("The archive is refused: it names a file outside of itself.", "Pack it again without links."),
    "zip_files": (f"The archive holds more than {MAX_MEMBERS} files.", "Pack only the file you need."),
}


def _refused(why: str, code: str = "zip") -> CheckpointError:
    what, next_step = _REASONS[code]
    return CheckpointError(what, why, next_step, code=code)


def is_archive(data: bytes) -> bool:
    """Say whether the bytes begin as a zip archive does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


class Archive:
    """A zip archive whose members have all been unpacked once, within the limits, and thrown away.

    Attributes:
        data: The bytes of the file.
        names: The names of its files, in order; folders are not listed.

    Raises:
        CheckpointError: It is refused; `code` is `zip_bomb`, `zip_path`, `zip_files`, or `zip` when it is damaged,
            locked, or packed in an unknown way.
    """

    def __init__(self, data: bytes) -> None:
        if not is_archive(data):
            raise _refused("It does not begin as one.")
        # Its directory is read as a whole, so that a directory of millions has to be noticed before.
        if data.count(b"PK\x01\x02") > 20 * MAX_MEMBERS:
            raise _refused("", "zip_files")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, IndexError, OverflowError) as error:
            raise _refused(str(error)) from error
        self.data = data
        self._members = _checked(self._zip.infolist())
        self.names = tuple(self._members)
        total = 0
        for member in self._members.values():
            for chunk in self._chunks(member):
                total += len(chunk)
                if total > MAX_TOTAL_BYTES:
                    raise _refused(f"Unpacked it is larger than {MAX_TOTAL_BYTES // 2**20} MB.", "zip_bomb")

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            CheckpointError: There is none of that name.
        """
        if name not in self._members:
            raise _refused(f"It holds no file {name!r}.")
        return b"".join(self._chunks(self._members[name]))

    def _chunks(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield a member in pieces, counting what really comes out: its header may lie."""
        size = 0
        allowed = min(MAX_MEMBER_BYTES, max(_RATIO_FROM, MAX_RATIO * member.compress_size))
        try:
            with self._zip.open(member) as file:
                while chunk := file.read(2**16):
                    size += len(chunk)
                    if size > allowed:
                        why = f"{member.filename[:80]!r} grows to more than {allowed / 1e6:.0f} MB."
                        raise _refused(why, "zip_bomb")
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise _refused(str(error)) from error


def _checked(infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    if len(infos) > MAX_MEMBERS:
        raise _refused("", "zip_files")
    for info in infos:
        name = info.orig_filename
        kind = stat.S_IFMT(info.external_attr >> 16)
        if _ELSEWHERE.match(name) or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refused(f"{name[:80]!r} is no plain file below the archive's own folder.", "zip_path")
        if info.flag_bits & (0x1 | 0x40 | 0x2000):
            raise _refused("It is locked with a password.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _refused(f"{name[:80]!r} is packed in a way that is not read.")
    files = {info.filename: info for info in infos if not info.is_dir()}
    if len(files) < sum(not info.is_dir() for info in infos):
        raise _refused("Two files in it have the same name.")
    return files
