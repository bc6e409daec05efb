"""The text of a benchmark file, a part of the questions at a time: a large one never exists as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from karenina_core.benchmark.checkpoint.writer import ELEMENTS, write_elements, write_frame
from karenina_core.benchmark.contents import Contents
from karenina_core.errors import CheckpointError
from karenina_core.files import check_extent, json_bytes

_AT_ONCE = 200  # questions


def document_pieces(contents: Contents, *, limit: int, deep_judgment: bool = True) -> Iterator[bytes]:
    """Yield the text of a file; put together, the pieces are the indented JSON of the whole document.

    Args:
        contents: What to write.
        limit: As for `read_json`, which accepts what is written.
        deep_judgment: Whether to keep the `deep_judgment_*` settings that traits of a file may carry.

    Raises:
        CheckpointError: It cannot be written, or could not be read back. That may turn out after the last piece: until
            then nothing may count on the pieces before.
    """
    # As it is now, also when the benchmark changes meanwhile.
    contents = replace(contents, entries=dict(contents.entries))
    try:
        yield from check_extent(_pieces(contents, limit, deep_judgment), limit)
    except CheckpointError:
        # The whole tells where in the file the trouble is.
        elements = list(write_elements(contents, deep_judgment=deep_judgment))
        json_bytes({**write_frame(contents, deep_judgment=deep_judgment), ELEMENTS: elements}, limit=limit)
        raise


def _pieces(contents: Contents, limit: int, deep_judgment: bool) -> Iterator[bytes]:
    frame = json_bytes(write_frame(contents, deep_judgment=deep_judgment), limit=limit)
    if not contents.entries:
        yield frame
        return
    # A line end within a text is written as `\n`, so that no text can look like this line.
    before, key, after = frame.partition(f'\n  "{ELEMENTS}": ['.encode())
    yield before + key
    separator = b""
    for some in _groups(write_elements(contents, deep_judgment=deep_judgment)):
        yield separator + _lines(some, limit)
        separator = b","
    yield b"\n  " + after


def _groups(elements: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(elements)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


_OPENING, _CLOSING = b"[\n  [", b"\n  ]\n]\n"


def _lines(elements: list[Any], limit: int) -> bytes:
    """Return the lines of some elements, indented as deep as they stand in a file."""
    return json_bytes([elements], limit=limit)[len(_OPENING) : -len(_CLOSING)]
