"""`python -m tests.security.bombs`: the worst files known for every reader, read in a process of their own.

It prints bytes in, what the peak of memory grew by, and seconds; it fails when one of them is beyond the bounds. Words
after it choose files whose names contain them.
"""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow as arrow
import pyarrow.parquet as parquet

from karenina_core.analysis.export import results_of
from karenina_core.benchmark import Benchmark, Opened, apply, open_file, read_table, suggest_mapping
from karenina_core.errors import KareninaError
from karenina_core.files import MAX_BYTES
from tests.benchmark.tables.files import HEADER, members, workbook, zipped

MOST_MEMORY = 20 * MAX_BYTES
MOST_SECONDS = 60.0


class Bomb(NamedTuple):
    """A file that becomes more than it looks like.

    Attributes:
        name: Of the file.
        make: Returns its bytes.
    """

    name: str
    make: Callable[[], bytes]


class Reading(NamedTuple):
    """What reading a file took: bytes in, bytes the peak of memory grew by, seconds; and what came of it."""

    size: int
    memory: int
    seconds: float
    outcome: str


def columns(**arrays: object) -> bytes:
    """Return a Parquet file as small as it gets."""
    made = io.BytesIO()
    table = arrow.table({name: arrow.array(values) for name, values in arrays.items()})
    parquet.write_table(table, made, compression="zstd", store_schema=False)
    return made.getvalue()


def repeated(size: int, rows: int) -> bytes:
    """Return a Parquet file of many rows with one long text, which its dictionary holds once."""
    text = arrow.DictionaryArray.from_arrays(arrow.array([0] * rows, arrow.int32()), arrow.array(["x" * size]))
    return columns(question=text)


def sheet(rows: str, strings: str = "") -> bytes:
    """Return a workbook with this XML for its rows, and this for its shared texts."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    parts = members(workbook([HEADER, ("What?", "BCL2")]))
    parts["xl/worksheets/sheet1.xml"] = f"<worksheet {space}><sheetData>{rows}</sheetData></worksheet>".encode()
    parts["xl/sharedStrings.xml"] = f"<sst {space}>{strings}</sst>".encode()
    listed = '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument'
    kinds = parts["[Content_Types].xml"].decode()
    parts["[Content_Types].xml"] = kinds.replace(
        "</Types>", f'{listed}.spreadsheetml.sharedStrings+xml"/></Types>'
    ).encode()
    return zipped(parts)


def cells(count: int, width: int) -> str:
    """Return the XML of rows of numbers."""
    return ("<row>" + "<c><v>1</v></c>" * width + "</row>") * (count // width)


def lines(line: str, most: int = MAX_BYTES) -> bytes:
    """Return a line as often as fits."""
    return (line * (most // len(line.encode()))).encode()


def checkpoint(item: str, count: int, before: str = "", after: str = "") -> bytes:
    """Return a benchmark file with one part of a list again and again; `#` is its number."""
    start = (
        '{"@type":"DataFeed","@context":{},"name":"x","dateCreated":"2026","dateModified":"2026","dataFeedElement":['
    )
    return f"{start}{before}{','.join(item.replace('#', str(n)) for n in range(count))}{after}]}}".encode()


def question(ratings: int) -> str:
    """Return a question of a benchmark file with that many traits."""
    traits = ",".join(f'{{"name":"{n}"}}' for n in range(ratings))
    return f'{{"item":{{"text":"q#","rating":[{traits}]}}}}'


RESULT = '{"question":{"id":"#","question":"#"},"answer":{"text":"x"},"answering_model":"m"}'
BOMBS = [
    Bomb("a dictionary.parquet", lambda: repeated(4_500_000, 1_000)),
    Bomb("a dictionary below the bound.parquet", lambda: repeated(20_000, 2_000)),
    Bomb("a dictionary in lists.parquet", lambda: columns(question=[["x" * 100_000] * 5_000])),
    Bomb("one list of zeros.parquet", lambda: columns(question=[[0] * 3_000_000])),
    Bomb("fixed lengths.parquet", lambda: columns(q=arrow.array([b"x" * 10**6] * 300, arrow.binary(10**6)))),
    Bomb("many rows.parquet", lambda: columns(question=[f"{n}?" for n in range(99_000)], answer=["x" * 200] * 99_000)),
    Bomb("many cells.xlsx", lambda: sheet(cells(1_500_000, 15))),
    Bomb("as many cells as are read.xlsx", lambda: sheet(cells(480_000, 15))),
    Bomb("cells far right.xlsx", lambda: sheet('<row><c r="GR1"><v>1</v></c></row>' * 150_000)),
    Bomb("empty texts.xlsx", lambda: sheet(cells(30, 3), "<si><t>a</t></si>" * 3_000_000)),
    Bomb("one text everywhere.xlsx", lambda: sheet('<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>' * 50_000,
                                                   f"<si><t>_x0041_{'x' * 30_000}</t></si>")),
    Bomb("attributes.xlsx", lambda: sheet("<row " + " ".join(f'a{n}=""' for n in range(4_000_000)) + "/>")),
    Bomb("styles.xlsx", lambda: zipped({**members(sheet(cells(30, 3))), "xl/styles.xml": (
        '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>' + "<xf/>" * 199_000
        + "</cellXfs></styleSheet>").encode()})),
    Bomb("formulas.xlsx", lambda: sheet("<row>" + '<c r="A1"><f>1</f><v>1</v></c>' * 190 + "</row>" * 1)),
    Bomb("a large part.xlsx", lambda: sheet(cells(30, 3), f"<si><t>{'x' * 90_000_000}</t></si>")),
    Bomb("zeros.zip", lambda: zipped({"a.csv": b"\0" * 95_000_000})),
    Bomb("text.zip", lambda: zipped({"a.csv": lines("what,x\n")})),
    Bomb("commas.csv", lambda: b"a,b\n" + b"," * (MAX_BYTES - 10)),
    Bomb("lines.csv", lambda: b"a,b\n" + b"\n" * (MAX_BYTES - 10)),
    Bomb("cells.csv", lambda: ("a😀," * 20 + "\n").encode() + ("xyz," * 20 + "\n").encode() * 90_000),
    Bomb("rows.csv", lambda: ("Question,Answer\n" + "".join(f"{n} {'x' * 190},y\n" for n in range(99_000))).encode()),
    Bomb("wide letters.csv", lambda: "Question,Answer\n😀".encode() + lines("é" * 90 + "?,x\n", MAX_BYTES - 99)),
    Bomb("objects.jsonl", lambda: lines('{"a":1}\n')),
    Bomb("wide objects.jsonl", lambda: (json.dumps({str(n): n for n in range(190)}) + "\n").encode() * 9_000),
    Bomb("objects.json", lambda: b"[" + lines('{"a":0},', 7_900_000)[:-1] + b"]"),
    Bomb("lists.json", lambda: b"[" + b",".join([b"[[]]"] * 660_000) + b"]"),
    Bomb("keys.json", lambda: ('[{"a":{' + ",".join(f'"{n}":0' for n in range(1_900_000)) + "}}]").encode()),
    Bomb("results.json", lambda: ('{"format":"karenina-results-1","results":[' + ",".join(
        RESULT.replace("#", str(n)) for n in range(200_000)) + "]}").encode()),
    Bomb("traits.jsonld", lambda: checkpoint(question(990), 950)),
    Bomb("questions.jsonld", lambda: checkpoint('{"item":{"text":"q#"}}', 19_900)),
    Bomb("properties.jsonld", lambda: checkpoint('{"name":"custom_#","value":0}', 600_000, '{"item":{"text":"q",'
                                                 '"additionalProperty":[', "]}}")),
    Bomb("nothing.jsonld", lambda: checkpoint("{}", 990_000)),
    Bomb("many questions of nothing.jsonld", lambda: checkpoint('{"item":{"additionalProperty":[' + ",".join(
        f'{{"name":"custom_{n}"}}' for n in range(45)) + "]}}", 19_900)),
]  # fmt: skip


def measured(bomb: Bomb) -> Reading:
    """Read a file in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / bomb.name
        path.write_bytes(data := bomb.make())
        command = [sys.executable, "-m", "tests.security.bombs", "--read", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5 * MOST_SECONDS)
    if done.returncode:
        return Reading(len(data), 0, 0.0, f"FAILED: {done.stderr.strip()[-200:]}")
    memory, seconds, outcome = json.loads(done.stdout)
    return Reading(len(data), memory, seconds, outcome)


def is_within(reading: Reading) -> bool:
    """Say whether a reading came to an end within the bounds."""
    failed = reading.outcome.startswith("FAILED")
    return not failed and reading.memory <= MOST_MEMORY and reading.seconds <= MOST_SECONDS


def _read(path: Path) -> str:
    """Read a file all the way, as the import does, and say what came of it."""
    data = path.read_bytes()
    try:
        opened = open_file(data, path.name)
        assert isinstance(opened, Opened)
        if opened.format == "checkpoint":
            return f"{len(Benchmark.from_json(opened.content)):,} questions"
        if opened.format == "results":
            list(results_of(opened.content))
        table = read_table(opened)
        mapping = suggest_mapping(table)
        found = f"{len(table.rows):,} rows, {len(table.columns)} columns"
        if mapping.question is None:
            return found
        return f"{found}, {apply(table, mapping).good:,} good"
    except KareninaError as error:
        return str(error)


def _report(path: Path) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (10 * MOST_MEMORY,) * 2)
    for warm in (workbook([HEADER, ("What?", "BCL2")]), repeated(2, 2), b"a,b\nx,y"):
        read_table(open_file(warm, "a"))  # type: ignore[arg-type]
    before, start = _peak(), time.monotonic()
    outcome = _read(path)
    print(json.dumps([_peak() - before, time.monotonic() - start, outcome]))


def _peak() -> int:
    """Return the most memory this process has had so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux the other number begins with that of the parent
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(words: list[str]) -> int:
    """Measure the files and print a table; 1 when one is beyond the bounds."""
    if words[:1] == ["--read"]:
        _report(Path(words[1]))
        return 0
    chosen = [bomb for bomb in BOMBS if not words or any(word in bomb.name for word in words)]
    print(f"{'file':36} {'bytes in':>12} {'peak MB':>8} {'seconds':>8}   outcome")
    beyond = 0
    for bomb in chosen:
        reading = measured(bomb)
        beyond += not is_within(reading)
        mark = " " if is_within(reading) else "!"
        numbers = f"{reading.size:>12,} {reading.memory / 2**20:>8.0f} {reading.seconds:>8.1f}"
        print(f"{bomb.name:36} {numbers} {mark} {reading.outcome[:90]}", flush=True)
    print(f"{beyond} of {len(chosen)} beyond {MOST_MEMORY // 2**20} MB or {MOST_SECONDS:.0f} s")
    return int(beyond > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
