"""What a file with questions is, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from karenina_core.benchmark.tables.archive import Archive, is_archive
from karenina_core.benchmark.tables.excel import is_workbook, read_excel, sheet_names
from karenina_core.benchmark.tables.parquet import read_parquet
from karenina_core.benchmark.tables.readers import (
    decode,
    find_list,
    is_results,
    read_delimited,
    read_lines,
    read_list,
    read_results,
)
from karenina_core.benchmark.tables.table import Progress, Table, TableError
from karenina_core.errors import CheckpointError
from karenina_core.files import MAX_BYTES, read_json

Format = Literal["checkpoint", "csv", "excel", "json", "jsonl", "parquet", "results"]

TITLES: Final[dict[Format, str]] = {
    "checkpoint": "a benchmark file",
    "csv": "a table of text (CSV, TSV)",
    "excel": "an Excel workbook",
    "json": "a list of objects (JSON)",
    "jsonl": "a list of objects, one on each line (JSON Lines)",
    "parquet": "a Parquet table",
    "results": "an export of results",
}
SUFFIXES: Final = ("jsonld", "json", "jsonl", "ndjson", "csv", "tsv", "tab", "txt", "xlsx", "xlsm", "parquet", "zip")
_ALWAYS_TEXT = ("csv", "tsv", "tab", "txt")


@dataclass(frozen=True)
class Options:
    """How a table is to be read where the file itself does not say; None finds it out.

    Attributes:
        sheet: Title of the sheet of a workbook.
        encoding: Encoding of a table of text, one of `ENCODINGS`.
        delimiter: The sign between its cells.
        header_row: Number of the row with the column names.
    """

    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None


@dataclass(frozen=True)
class Opened:
    """A file whose kind is known.

    Attributes:
        name: Its name; for a file of an archive, the name in there.
        format: What it is.
        content: Its bytes, or what was already read of it.
        sheets: Titles of the sheets of a workbook.
    """

    name: str
    format: Format
    content: Any
    sheets: tuple[str, ...] = ()


def open_file(data: bytes, name: str, member: str | None = None) -> Opened | list[str]:
    """Find out what a file is.

    Args:
        data: Its bytes.
        name: Its name; the ending decides only where the content does not.
        member: The file to take from a zip archive that holds several.

    Returns:
        The opened file; or, for an archive with several readable files and no `member`, their names.

    Raises:
        CheckpointError: It cannot be read, or is none of the known kinds; `code` says why.
    """
    if len(data) > MAX_BYTES:
        what, why = f"The file is {len(data) / 1e6:.1f} MB large.", f"At most {MAX_BYTES / 1e6:.1f} MB are read."
        raise TableError(what, why, "Split it.", code="too_large")
    if not is_archive(data):
        return _open_plain(data, name)
    archive = Archive(data)
    if is_workbook(archive):
        return Opened(name, "excel", archive, tuple(sheet_names(archive)))
    names = [inner for inner in archive.names if suffix(inner) in SUFFIXES and not _is_clutter(inner)]
    if not names:
        why = f"Files that can be read are: {', '.join(SUFFIXES[:-1])}."
        next_step = "Pack one of these. Save OpenDocument tables and binary workbooks as .xlsx."
        raise TableError("The archive holds no file that can be read.", why, next_step, code="zip")
    if member is None and len(names) > 1:
        return names
    inside = archive.read(member or names[0])
    if is_archive(inside) and not is_workbook(Archive(inside)):
        raise TableError("The archive holds another archive.", next="Unpack it and open the inner one.", code="zip")
    return open_file(inside, member or names[0])


def read_table(opened: Opened, options: Options | None = None, progress: Progress | None = None) -> Table:
    """Read the table in a file.

    Args:
        opened: The file.
        options: How it is to be read.
        progress: Told now and then how many rows of a workbook are read; nothing else takes long.

    Raises:
        CheckpointError: It cannot be read; a `TableError` says in which row.
    """
    chosen, content = options or Options(), opened.content
    match opened.format:
        case "excel":
            return read_excel(content, sheet=chosen.sheet, header_row=chosen.header_row, progress=progress)
        case "csv":
            usual = "\t" if suffix(opened.name) in ("tsv", "tab") else None
            sign, row = chosen.delimiter or usual, chosen.header_row
            return read_delimited(content, encoding=chosen.encoding, delimiter=sign, header_row=row)
        case "parquet":
            return read_parquet(content)
        case "jsonl":
            return read_lines(decode(content, "utf-8")[0])
        case "json":
            return read_list(content)
        case "results":
            return read_results(content)
    raise TableError("A benchmark file is no table.", next="Open it with `Benchmark.load`.")


def suffix(name: str) -> str:
    """Return the ending of a file name, without its dot, in small letters."""
    return PurePosixPath(name).suffix.lower().removeprefix(".")


def _open_plain(data: bytes, name: str) -> Opened:
    if data.startswith(b"PAR1"):
        return Opened(name, "parquet", data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        what = "The file is an old Excel workbook (.xls), or one locked with a password."
        next_step = "Open it in a spreadsheet program and save it as .xlsx, without a password."
        raise TableError(what, next=next_step, code="xls")
    ending = suffix(name)
    if ending in ("jsonl", "ndjson"):
        return Opened(name, "jsonl", data)
    if ending in _ALWAYS_TEXT or (ending not in ("json", "jsonld") and data.lstrip()[:1] not in (b"{", b"[", b"")):
        if not data.strip():
            raise TableError("The file is empty.", code="empty")
        return Opened(name, "csv", data)
    try:
        document = read_json(data)
    except CheckpointError as error:
        if error.code == "json" and _is_json_lines(data):
            return Opened(name, "jsonl", data)
        if error.code == "text_too_long" and b'"karenina-results-' in data[:200]:
            return Opened(name, "results", read_json(data, max_text=MAX_BYTES))
        raise
    if is_results(document):
        return Opened(name, "results", document)
    return Opened(name, "json", document) if find_list(document) is not None else Opened(name, "checkpoint", data)


def _is_json_lines(data: bytes) -> bool:
    """Say whether the first line is an object by itself, and another follows."""
    first, _, rest = data.strip().partition(b"\n")
    try:
        return rest.lstrip().startswith(b"{") and isinstance(read_json(first), dict)
    except CheckpointError:
        return False


def _is_clutter(name: str) -> bool:
    """Say whether a file is what systems add to archives by themselves."""
    return any(part.startswith((".", "__MACOSX", "~$")) for part in name.split("/"))
