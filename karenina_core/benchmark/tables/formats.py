"""One door for files with questions: it finds out what a file is, and reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from karenina_core.archives import Archive, is_archive
from karenina_core.benchmark.tables import excel
from karenina_core.benchmark.tables.delimited import decode, read_delimited
from karenina_core.benchmark.tables.records import find_list, read_lines, read_list, read_parquet
from karenina_core.benchmark.tables.results import is_results, read_results_table
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
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ALWAYS_TEXT = ("csv", "tsv", "tab", "txt")


@dataclass(frozen=True)
class Options:
    """How a table is to be read where the file itself does not say; None finds it out.

    Attributes:
        sheet: Title of the sheet of a workbook.
        encoding: Encoding of a table of text, one of `delimited.ENCODINGS`.
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


def readable_members(archive: Archive) -> list[str]:
    """Return the files of an archive that can be read, in order."""
    return [name for name in archive.names if suffix(name) in SUFFIXES and not _is_clutter(name)]


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
        raise TableError(
            f"The file is {len(data) / 1e6:.1f} MB large.", f"At most {MAX_BYTES / 1e6:.1f} MB are read.", "Split it.",
            code="too_large",
        )  # fmt: skip
    if not is_archive(data):
        return _open_plain(data, name)
    archive = Archive(data)
    if excel.is_workbook(archive):
        return Opened(name, "excel", archive, tuple(excel.sheet_names(archive)))
    names = readable_members(archive)
    if not names:
        raise _no_table(archive)
    if member is None and len(names) > 1:
        return names
    chosen = member or names[0]
    inside = archive.read(chosen)
    if suffix(chosen) == "zip":
        raise CheckpointError(
            "The archive holds another archive.", next="Unpack it and open the inner one.", code="zip"
        )
    opened = open_file(inside, chosen)
    assert isinstance(opened, Opened)  # only an archive offers a choice
    return opened


def read_table(opened: Opened, options: Options | None = None, progress: Progress | None = None) -> Table:
    """Read the table in a file.

    Raises:
        CheckpointError: It cannot be read; a `TableError` says in which row.
    """
    chosen = options or Options()
    match opened.format:
        case "excel":
            return excel.read_excel(opened.content, sheet=chosen.sheet, header_row=chosen.header_row, progress=progress)
        case "csv":
            return read_delimited(
                opened.content,
                encoding=chosen.encoding,
                delimiter=chosen.delimiter or ("\t" if suffix(opened.name) in ("tsv", "tab") else None),
                header_row=chosen.header_row,
                progress=progress,
            )
        case "parquet":
            return read_parquet(opened.content, progress)
        case "jsonl":
            return read_lines(decode(opened.content, "utf-8").text, progress)
        case "json":
            return read_list(opened.content)
        case "results":
            return read_results_table(opened.content)
    raise TableError("A benchmark file is no table.", next="Open it with `Benchmark.load`.")


def suffix(name: str) -> str:
    """Return the ending of a file name, without its dot, in small letters."""
    return PurePosixPath(name).suffix.lower().removeprefix(".")


def _open_plain(data: bytes, name: str) -> Opened:
    if data.startswith(b"PAR1"):
        return Opened(name, "parquet", data)
    if data.startswith(_OLD_EXCEL):
        raise TableError(
            "The file is an old Excel workbook (.xls), or one locked with a password.",
            next="Open it in a spreadsheet program and save it as .xlsx, without a password.",
            code="xls",
        )
    ending = suffix(name)
    if ending in ("jsonl", "ndjson"):
        return Opened(name, "jsonl", data)
    if ending in _ALWAYS_TEXT or (ending not in ("json", "jsonld") and data.lstrip()[:1] not in (b"{", b"[", b"")):
        if not data.strip():
            raise TableError("The file is empty.", code="empty")
        return Opened(name, "csv", data)
    return _open_json(data, name)


def _open_json(data: bytes, name: str) -> Opened:
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
    if find_list(document) is not None:
        return Opened(name, "json", document)
    return Opened(name, "checkpoint", data)


def _is_json_lines(data: bytes) -> bool:
    """Say whether the first line is an object by itself, and another follows."""
    first, _, rest = data.strip().partition(b"\n")
    if not first.lstrip(b"\xef\xbb\xbf").startswith(b"{") or not rest.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(read_json(first), dict)
    except CheckpointError:
        return False


def _is_clutter(name: str) -> bool:
    """Say whether a file is what systems add to archives by themselves."""
    return any(part.startswith((".", "__MACOSX", "~$")) for part in name.split("/"))


def _no_table(archive: Archive) -> CheckpointError:
    if "mimetype" in archive and b"opendocument" in archive.read("mimetype"):
        return TableError("The file is an OpenDocument table.", next="Save it as .xlsx or .csv.", code="ods")
    if any(name.startswith("xl/") for name in archive.names):
        return TableError("The file is a binary Excel workbook.", next="Save it as .xlsx.", code="xlsb")
    return CheckpointError(
        "The archive holds no file that can be read.",
        f"These are: {', '.join(SUFFIXES[:-1])}.",
        "Pack one of these.",
        code="zip",
    )
