"""Foreign zip archives, read in memory and within limits; nothing is ever unpacked to a disk.

Error codes: `zip_bomb`, `zip_path`, `zip_files` and `zip` (damaged, locked, or packed in an unknown way).
"""

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
MAX_MEMBER_BYTES: Final = 100 * 2**20  # of one member, unpacked
MAX_TOTAL_BYTES: Final = 200 * 2**20  # of all members together, unpacked
MAX_RATIO: Final = 300  # unpacked to packed; spreadsheets reach about 50, deflate at most 1,030
_RATIO_FROM: Final = 10 * 2**20  # a smaller member harms nobody, however well it is packed
_CHUNK: Final = 2**16

_START = (b"PK\x03\x04", b"PK\x05\x06")
_DIRECTORY_ENTRY = b"PK\x01\x02"
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_LOCKED = 0x1 | 0x40 | 0x2000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_archive(data: bytes) -> bool:
    """Say whether the bytes begin as a zip archive does."""
    return data.startswith(_START)


class Archive:
    """A zip archive whose members have all been unpacked once, within the limits, and thrown away.

    Attributes:
        data: The bytes of the file.

    Raises:
        CheckpointError: It is refused; `code` says why.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._zip = _opened(data)
        self._members = _members(self._zip)
        total = 0
        for member in self._members.values():
            for chunk in self._chunks(member):
                total += len(chunk)
                if total > MAX_TOTAL_BYTES:
                    raise _bomb(f"Unpacked it is larger than {MAX_TOTAL_BYTES // 2**20} MB.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its files, in order; folders are not listed."""
        return tuple(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            CheckpointError: There is none of that name.
        """
        if name not in self._members:
            raise CheckpointError(f"The archive holds no file {name!r}.", code="zip")
        return b"".join(self._chunks(self._members[name]))

    def _chunks(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield a member in pieces, counting what really comes out: its header may lie."""
        size = 0
        allowed = max(_RATIO_FROM, MAX_RATIO * member.compress_size)
        try:
            with self._zip.open(member) as file:
                while chunk := file.read(_CHUNK):
                    size += len(chunk)
                    if size > MAX_MEMBER_BYTES:
                        raise _bomb(f"{member.filename[:80]!r} is larger than {MAX_MEMBER_BYTES // 2**20} MB.")
                    if size > allowed:
                        raise _bomb(f"{member.filename[:80]!r} grows to more than {MAX_RATIO} times its packed size.")
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise _damaged(str(error)) from error


def _opened(data: bytes) -> zipfile.ZipFile:
    if not is_archive(data):
        raise _damaged("It does not begin as one.")
    # Its directory is read as a whole, so that a directory of millions has to be noticed before.
    if data.count(_DIRECTORY_ENTRY) > 20 * MAX_MEMBERS:
        raise _too_many()
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, IndexError, OverflowError) as error:
        raise _damaged(str(error)) from error


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise _too_many()
    for info in infos:
        _check(info)
    files = [info for info in infos if not info.is_dir()]
    if len({info.filename for info in files}) < len(files):
        raise _damaged("Two files in it have the same name.")
    if sum(info.file_size for info in files) > MAX_TOTAL_BYTES:
        raise _bomb(f"Unpacked it is larger than {MAX_TOTAL_BYTES // 2**20} MB.")
    return {info.filename: info for info in files}


def _check(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    if (
        ".." in name.replace("\\", "/").split("/")
        or name.startswith(("/", "\\"))
        or _DRIVE.match(name)
        or _CONTROL.search(name)
        or kind not in (0, stat.S_IFREG, stat.S_IFDIR)
    ):
        raise CheckpointError(
            "The archive is refused: it names a file outside of itself.",
            f"{name[:80]!r} is no plain file below the archive's own folder.",
            "Pack the files again without links and without paths that lead elsewhere.",
            code="zip_path",
        )
    if info.flag_bits & _LOCKED:
        raise CheckpointError(
            "The archive is locked with a password.", next="Unpack it, and open the file inside.", code="zip"
        )
    if info.compress_type not in _METHODS:
        raise _damaged(f"{name[:80]!r} is packed in a way that is not read.")


def _bomb(why: str) -> CheckpointError:
    return CheckpointError(
        "The archive is refused: it unpacks to far more than it should.",
        why,
        "Unpack it yourself if you trust it, and open the file inside.",
        code="zip_bomb",
    )


def _too_many() -> CheckpointError:
    return CheckpointError(
        f"The archive holds more than {MAX_MEMBERS} files.", next="Pack only the file you need.", code="zip_files"
    )


def _damaged(why: str) -> CheckpointError:
    return CheckpointError("The archive cannot be read.", why, "Pack it again, or open the file inside.", code="zip")
