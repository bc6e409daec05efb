"""What runs saw of their benchmarks: stored once for all runs over the same benchmark, packed, and read back."""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import NamedTuple

from sqlalchemy import Connection, select

from karenina_core.benchmark import Benchmark
from karenina_core.errors import StoreError
from karenina_core.files import OWN_BYTES, garbage_collection_paused
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import snapshot

_PACKED = "zlib:"
_QUICK = 1  # level of compression; the others take longer and save little


class Packed(NamedTuple):
    """A benchmark at one moment, as it is stored.

    Attributes:
        digest: The SHA-256 of the text of its file, in hex.
        text: The text itself, packed.
        benchmark: A copy, which stays as it is.
    """

    digest: str
    text: str
    benchmark: Benchmark


class Snapshots(Database):
    """The benchmarks of the runs of the store."""

    _newest: tuple[str, Benchmark] | None = None

    def save_snapshot(self, connection: Connection, packed: Packed) -> None:
        """Store a benchmark, unless it is there already, in a transaction that is under way."""
        self._newest = (packed.digest, packed.benchmark)
        ids = packed.benchmark.get_question_ids()
        query = self.upsert(snapshot).on_conflict_do_nothing(index_elements=["hash"])
        # Apart from the query, which is kept in memory for the next time as it was put into words.
        connection.execute(query, {"hash": packed.digest, "question_ids": ids, "checkpoint": packed.text})

    def snapshot(self, digest: str) -> Benchmark:
        """Return a benchmark as it was; the newest once without reading it, for whoever starts a run just created.

        Raises:
            StoreError: What is stored was damaged.
        """
        newest, self._newest = self._newest, None
        if newest is not None and newest[0] == digest:
            return newest[1]
        with self.reading() as connection:
            text = connection.execute(select(snapshot.c.checkpoint).where(snapshot.c.hash == digest)).scalar_one()
        written = unpack(text)
        if hashlib.sha256(written.encode() if isinstance(written, str) else written).hexdigest() != digest:
            raise _damaged("It is not what was stored.")
        return Benchmark.from_json(written, limit=OWN_BYTES)


def pack(benchmark: Benchmark) -> Packed:
    """Pack a benchmark as a run stores it, without having its whole text in memory.

    It is best done before the transaction: other writers need not wait for it.

    Raises:
        CheckpointError: It cannot be written.
    """
    benchmark, digest, compressor = benchmark.clone(), hashlib.sha256(), zlib.compressobj(_QUICK)
    parts = []
    with garbage_collection_paused():
        for piece in benchmark.json_pieces():
            digest.update(piece)
            parts.append(compressor.compress(piece))
    data = base64.b64encode(b"".join((*parts, compressor.flush())))
    return Packed(digest.hexdigest(), _PACKED + data.decode(), benchmark)


def unpack(text: str) -> bytes | str:
    """Return the text of a benchmark file; stores of earlier versions hold it as it is.

    Raises:
        StoreError: It was damaged.
    """
    if not text.startswith(_PACKED):
        return text
    expander = zlib.decompressobj()
    try:
        data = expander.decompress(base64.b64decode(text.removeprefix(_PACKED), validate=True), OWN_BYTES)
    except (zlib.error, ValueError) as error:  # the latter: no base64
        raise _damaged(str(error)) from error
    if not expander.eof:
        raise _damaged("Its end is missing.")
    return data


def _damaged(why: str) -> StoreError:
    return StoreError(
        "The benchmark of a run cannot be read.",
        why=why,
        next="Its results can; to run it again, start a new run with the benchmark as it is now.",
    )
