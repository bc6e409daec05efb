"""CSV, TSV and their relatives: which encoding, which sign between the cells, and the rows."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from karenina_core.benchmark.tables.table import Progress, Row, Table, TableError, counting, from_rows
from karenina_core.files import MAX_BYTES

DELIMITERS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
ENCODINGS: Final = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "mac_roman": "Mac Roman",
    "shift_jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 60  # records that decide on the delimiter
_SAMPLE_TEXT: Final = 200_000

# A setting of the whole process. The default refuses cells of 131,072 characters, which a long answer can have; a
# file is never larger than this.
csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES))


class Text(NamedTuple):
    """A decoded file, the name of its encoding, and whether that had to be guessed."""

    text: str
    encoding: str
    guessed: bool


def read_delimited(
    data: bytes,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header_row: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read a table of text. What is not given is found out, and the notes of the table say how.

    Raises:
        TableError: It is no text in that encoding, a quotation mark is not closed, or it is too large.
    """
    decoded = decode(data, encoding)
    text, skipped, hint = _without_hint(decoded.text)
    sign = delimiter or hint or find_delimiter(text)
    notes = list(_notes(decoded, sign, guessed=not (delimiter or hint)))
    quoting = csv.QUOTE_MINIMAL
    if sign == "\t" and not _is_quoted_well(text, sign):
        quoting = csv.QUOTE_NONE
        notes.append("Quotation marks are read as part of the text.")
    rows = _rows(text, sign, quoting, skipped)
    return from_rows(counting(rows, progress), notes, header_row=header_row)


def decode(data: bytes, encoding: str | None = None) -> Text:
    """Return the text of a file.

    Args:
        data: Its bytes.
        encoding: One of `ENCODINGS`. When not given: a byte order mark decides, then UTF-8 is tried, and what is
            not UTF-8 is taken for Windows-1252.

    Raises:
        TableError: It holds no text, or not in that encoding.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None:
        encoding = marked or _without_mark(data)
    elif encoding == "utf-8" and marked == "utf-8-sig":
        encoding = marked
    elif encoding == "utf-16" and marked != "utf-16":
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        if encoding == "cp1252":  # five of its bytes stand for nothing
            return Text(data.decode("latin-1"), "cp1252", True)
        raise TableError(
            f"The file is not {ENCODINGS.get(encoding, encoding)}.",
            str(error),
            "Choose another encoding, or save it as UTF-8.",
            code="encoding",
        ) from error
    if text.count("\0") > len(text) // 100:
        raise TableError("The file holds no text.", "It is full of NUL characters.", code="binary")
    return Text(text, encoding, marked is None and encoding == "cp1252")


def find_delimiter(text: str) -> str:
    """Return the sign that splits the first records most evenly into cells; a comma where none does."""

    def evenness(sign: str) -> tuple[int, int]:
        sample = csv.reader(io.StringIO(text[:_SAMPLE_TEXT], newline=""), delimiter=sign)
        widths: Counter[int] = Counter()
        try:
            for _, record in zip(range(_SAMPLE), sample, strict=False):
                if any(cell.strip() for cell in record):
                    widths[len(record)] += 1
        except csv.Error:
            return 0, 0
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1]), default=(1, 0))
        return (count, width) if width > 1 else (0, 0)

    return max(DELIMITERS, key=evenness)


def _without_mark(data: bytes) -> str:
    if b"\0" in data[:200]:
        even, odd = data[0:200:2].count(0), data[1:200:2].count(0)
        if max(even, odd) > 4 * min(even, odd):
            return "utf-16-be" if even > odd else "utf-16-le"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _without_hint(text: str) -> tuple[str, int, str | None]:
    """Return the text without a first line such as `sep=;`, which some spreadsheets write."""
    first, newline, rest = text.partition("\n")
    line = first.strip('\r\ufeff "')
    if newline and len(line) == 5 and line.lower().startswith("sep=") and line[4] in DELIMITERS:
        return rest, 1, line[4]
    return text, 0, None


def _notes(decoded: Text, sign: str, *, guessed: bool) -> Iterator[str]:
    name = decoded.encoding.removesuffix("-sig").removesuffix("-le").removesuffix("-be")
    title = ENCODINGS.get(name, name.upper())
    if decoded.guessed:
        yield f"The file is not UTF-8; it is read as {title}. Choose another encoding if letters look wrong."
    else:
        yield f"Read as {title}."
    how = " (guessed from the first rows)" if guessed else ""
    yield f"Cells are separated by a {DELIMITERS.get(sign, repr(sign))}{how}."


def _is_quoted_well(text: str, sign: str) -> bool:
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _rows(text: str, sign: str, quoting: int, skipped: int) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True, quoting=quoting)  # type: ignore[arg-type]
    number = skipped
    try:
        for record in reader:
            number += 1
            yield Row(number, tuple(record))
    except csv.Error as error:
        raise TableError(
            "A quotation mark does not pair with another.",
            f"{error}, near line {reader.line_num + skipped} of the file.",
            'Close the quotation, or write a quotation mark within a cell twice ("").',
            code="quotes",
            row=number + 1,
        ) from error
