"""A report as Markdown, for wikis, issues and chats: sentences and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karenina_core.analysis.cells import clean_text
from karenina_core.analysis.report.content import Grid, Report, RunPart
from karenina_core.redact import redact
from karenina_core.text import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$@:-])")


def as_markdown(report: Report) -> str:
    """Return the report as Markdown; foreign text is escaped, so that it shows as it is and links nowhere."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    yield ""
    by = f" by {escaped(report.author)}" if report.author else ""
    yield f"Made{by} on {report.created[:10]}."
    yield ""
    for sentence in report.provenance:
        yield from (f"**{escaped(sentence)}**", "")
    for sentence in report.comparisons:
        yield f"- {escaped(sentence)}"
    for part in report.parts:
        yield from _part(part)


def _part(part: RunPart) -> Iterator[str]:
    yield from ("", f"## {escaped(part.name)}", "")
    yield from (f"- {escaped(sentence)}" for sentence in part.sentences)
    yield from (f"- {escaped(remark)}" for remark in part.remarks)
    for grid in part.grids:
        yield from ("", f"### {escaped(grid.title)}", "", *table(grid))
        if grid.note:
            yield from ("", escaped(grid.note))
    if part.facts:
        yield from ("", "### To run it again", "")
        yield from (f"- {escaped(name)}: {escaped(value)}" for name, value in part.facts)


def table(grid: Grid) -> list[str]:
    """Return a table in the dialect that most programs read."""
    lines = ["| " + " | ".join(map(escaped, grid.header)) + " |", "|" + " --- |" * len(grid.header)]
    return lines + ["| " + " | ".join(map(escaped, row)) + " |" for row in grid.rows]


def escaped(text: str) -> str:
    """Return foreign text on one line that Markdown shows as it is, without keys."""
    return _SPECIAL.sub(r"\\\1", visible(redact(" ".join(clean_text(text).split()))))
