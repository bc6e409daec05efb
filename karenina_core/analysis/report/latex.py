"""The tables of a report for a paper."""

from __future__ import annotations

from karenina_core.analysis.cells import clean_text
from karenina_core.analysis.report.content import Grid, Report
from karenina_core.redact import redact
from karenina_core.text import visible

_LONGEST_LINE = 40
_SHARE = 0.7  # of the width of a line; the rest is for short columns
HEAD = "% Needs \\usepackage{booktabs} and \\usepackage{longtable}.\n"


def as_latex(report: Report) -> str:
    """Return all tables of the report as LaTeX with booktabs; foreign text is escaped."""
    several = len(report.parts) > 1
    tables = [
        latex_table(grid, f"{part.name}: {grid.title}" if several else grid.title)
        for part in report.parts
        for grid in part.grids
    ]
    return HEAD + "\n".join(tables)


def latex_table(grid: Grid, caption: str) -> str:
    """Return one table; one of over 30 rows may break across pages."""
    import pandas as pd

    frame = pd.DataFrame([[_text(cell) for cell in row] for row in grid.rows], columns=[_text(c) for c in grid.header])
    frame.columns = [_protected(name) for name in frame.columns]
    escaped = frame.map(_protected)
    return str(
        escaped.to_latex(
            index=False,
            escape=False,
            longtable=len(frame) > 30,
            caption=_protected(_text(caption)),
            column_format=_columns(grid),
        )
    )


def _columns(grid: Grid) -> str:
    """Return the columns' formats: those with long texts break their lines, and share most of the page's width."""
    longest = [max(map(len, cells)) for cells in zip(grid.header, *grid.rows, strict=True)]
    wide = sum(length > _LONGEST_LINE for length in longest)
    share = f"p{{{_SHARE / max(wide, 1):.2f}\\linewidth}}"
    return "".join(share if length > _LONGEST_LINE else "l" for length in longest)


def _text(text: str) -> str:
    # Before it is escaped: a key with a backslash in it would not be known.
    return visible(redact(" ".join(clean_text(text).split())))


_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "…": r"\ldots{}",
        "·": r"\textperiodcentered{}",
        "✓": r"\checkmark{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def _protected(text: str) -> str:
    return text.translate(_ESCAPES)
