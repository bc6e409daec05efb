"""Foreign JSON in, JSON out: one reader with limits, one writer that never leaves half a file.

Error codes of the reader: `empty`, `too_large`, `zip`, `encoding`, `too_complex`, `json`, `text_too_long`.
"""

from __future__ import annotations

import codecs
import gc
import math
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from karenina_core.errors import CheckpointError

MAX_BYTES = 20 * 1024 * 1024
OWN_BYTES = 256 * 1024 * 1024  # of what a person has already: opened by its path, or in the store
MAX_STRUCTURE = 2_000_000  # opening brackets and commas: an upper bound for the number of values
MAX_DEPTH = 200  # enforced by the parser
MAX_TEXT = 200_000  # characters of one string

_LONGEST_NUMBER = 4_300  # digits that the reader takes
_LONG_NUMBER = re.compile(rb"\d{4301}")


def read_json(data: bytes | str, *, limit: int = MAX_BYTES, max_text: int = MAX_TEXT) -> Any:
    """Read JSON from anywhere, within limits.

    UTF-8 is expected, a byte order mark is accepted. Where a key is repeated the last one counts.

    Args:
        data: The text, or the bytes of a file.
        limit: Largest size in bytes; the number of values allowed grows with it.
        max_text: Characters of one string at most.

    Raises:
        CheckpointError: It is too large, too complex, no UTF-8 or no JSON; `code` says which.
    """
    try:
        raw = data if isinstance(data, bytes) else data.encode()
    except UnicodeEncodeError as error:
        why = f"half a surrogate pair at character {error.start + 1}"
        raise CheckpointError("The text is not valid JSON.", why, code="json") from error
    _check_size(len(raw), limit)
    text = raw.removeprefix(codecs.BOM_UTF8)
    _check_kind(text)
    _check_structure(_structure(text), scaled(MAX_STRUCTURE, limit))
    with garbage_collection_paused():
        value = _parse(text)
        _check_values(value, max_text)
    return value


def scaled(most: int, limit: int) -> int:
    """Return how many of something a file may hold that may be `limit` bytes large; `most` in one of the usual size."""
    return most * max(limit, MAX_BYTES) // MAX_BYTES


def read_json_file(path: str | Path, *, limit: int = MAX_BYTES) -> Any:
    """Read a JSON file within the limits of `read_json`.

    Raises:
        CheckpointError: As `read_json`, or with code `unreadable` when the file cannot be opened.
    """
    return read_json(read_bytes(path, limit=limit), limit=limit)


def read_bytes(path: str | Path, *, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a file of at most `limit` bytes.

    Raises:
        CheckpointError: With code `unreadable` or `too_large`.
    """
    try:
        _check_size(os.path.getsize(path), limit)
        return Path(path).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be opened.", error.strerror or str(error), code="unreadable") from error


def json_bytes(value: Any, *, limit: int = MAX_BYTES) -> bytes:
    """Return `value` as indented UTF-8 JSON that `read_json` accepts.

    Raises:
        CheckpointError: It holds what JSON or the reader's limits do not allow; `code` says which.
    """
    try:
        data = to_json(value, indent=2) + b"\n"
    except (PydanticSerializationError, ValueError) as error:
        why = "A text holds half a surrogate pair." if "surrogates not allowed" in str(error) else str(error)
        raise CheckpointError("The data cannot be written as JSON.", why, code="json") from error
    # What cannot be read back is lost, so it is refused while the old file still exists.
    if not _surely_readable(data, limit):
        read_json(data, limit=limit)
    return data


def _surely_readable(data: bytes, limit: int) -> bool:
    """Say whether JSON of ours is within the limits by its look alone; reading it takes many times longer.

    Every value stands on a line of its own, which its depth indents by two blanks.
    """
    most = scaled(MAX_STRUCTURE, limit)
    if len(data) > limit or (len(data) > most and _structure(data) > most) or not _lines_within(data, MAX_TEXT):
        return False
    if not _lines_within(data, _LONGEST_NUMBER) and _LONG_NUMBER.search(data):
        return False
    return not any(odd in data for odd in (b"\n" + b" " * MAX_DEPTH, b"Infinity", b"NaN"))


def _lines_within(data: bytes, longest: int) -> bool:
    """Say whether no line is longer, looking only at the last line end in reach."""
    start = 0
    while len(data) - start > longest:
        end = data.rfind(b"\n", start, start + longest + 1)
        if end < 0:
            return False
        start = end + 1
    return True


def write_atomic(path: str | Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that it holds either its old content or all of the new, also after a crash.

    A symbolic link stays one; its target is replaced. The permissions of an existing file are kept.

    Args:
        path: The file.
        data: Its content, or the pieces of it in their order; an error while they are made leaves the old content.

    Raises:
        CheckpointError: With code `write`; the old content is still there.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        _write_synced(temporary, (data,) if isinstance(data, bytes) else data, like=target)
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise CheckpointError(
            f"{target} was not written.",
            error.strerror or str(error),
            "Its old content, if any, is unchanged.",
            code="write",
        ) from error


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Keep the collector from searching hundreds of thousands of new objects for garbage that is not there."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        what, why = f"The file is {size / 1e6:.1f} MB large.", f"At most {limit / 1e6:.1f} MB are read."
        raise CheckpointError(what, why, "Split it into several benchmarks.", code="too_large")


def _check_kind(data: bytes) -> None:
    if not data.strip():
        raise CheckpointError("The file is empty.", code="empty")
    if data.startswith(b"PK\x03\x04"):
        raise CheckpointError("The file is a zip archive.", next="Unpack it and open the file inside.", code="zip")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:2]:
        raise _wrong_encoding("UTF-16 or UTF-32")


def _wrong_encoding(seems: str, why: str = "") -> CheckpointError:
    what = f"The file is not UTF-8; it seems to be {seems}."
    return CheckpointError(what, why, "Save it as UTF-8 and open it again.", code="encoding")


def _check_structure(size: int, most: int) -> None:
    if size > most:
        raise CheckpointError(f"The file has about {size:,} values.", f"At most {most:,} are read.", code="too_complex")


def _structure(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{") + data.count(b",")


def _parse(data: bytes) -> Any:
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError as error:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as undecodable:
            why = f"byte {data[undecodable.start]:#x} at position {undecodable.start}"
            raise _wrong_encoding("Latin-1 (Windows-1252)", why) from error
        reason = str(error).replace("recursion limit exceeded", f"nested deeper than {MAX_DEPTH} levels")
        raise CheckpointError("The file is not valid JSON.", reason, code="json") from error


def _check_values(value: Any, max_text: int) -> None:
    """Refuse overlong texts, and the infinity that `1e999` becomes."""
    # The only loop over every value of a file, hence written for speed.
    containers: list[Iterable[Any]] = [[value]]
    pop, push = containers.pop, containers.append
    while containers:
        for item in pop():
            kind = type(item)
            if kind is str:
                if len(item) > max_text:
                    what = f"One text is {len(item):,} characters long: {item[:40]!r}…"
                    raise CheckpointError(what, f"At most {max_text:,} are read.", code="text_too_long")
            elif kind is dict:
                push(item.values())
            elif kind is list:
                push(item)
            elif kind is float and not math.isfinite(item):
                raise CheckpointError("The file is not valid JSON.", "a number is too large", code="json")


def _write_synced(path: Path, pieces: Iterable[bytes], like: Path) -> None:
    with open(path, "xb") as file:
        if like.exists():
            path.chmod(like.stat().st_mode & 0o777)
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # folders cannot be opened there; the rename itself is journalled
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
