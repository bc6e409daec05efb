"""A report as HTML, Markdown or LaTeX; foreign text shows as it is, and keys show nowhere.

The HTML is one file that opens from a disk without a network. Jinja escapes all text. A policy in the file's head
allows nothing but its own styles and, where there are figures, two scripts that it names by their hash: Plotly's
library and a dozen lines of ours. Without figures there is no script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.cells import clean_text, redactor
from karenina_core.analysis.report.build import Report
from karenina_core.analysis.report.tables import Grid
from karenina_core.redact import redact
from karenina_core.text import visible

if TYPE_CHECKING:
    from jinja2 import Template

LATEX_HEAD = "% Needs \\usepackage{booktabs} and \\usepackage{longtable}."
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$@:-])")
_WIDE_COLUMN = 40  # characters; a wider column breaks its lines
_LONG_TABLE = 30  # rows; a longer table may break across pages


def as_html(report: Report) -> bytes:
    """Return the report as a self-contained HTML file.

    With figures it holds Plotly's library, 5 MB; without, some 50 KB and no script.
    """
    redact = redactor()
    figures = [chart["figure"] for part in report.parts for chart in part["charts"]]
    scripts = _scripts() if figures else ()
    text = _template("report.html.j2").render(
        report=report,
        policy=_policy(scripts),
        scripts=scripts,
        data=_data(figures, redact) if figures else "",
        shown=lambda value: visible(redact(clean_text(str(value)))),
    )
    return text.encode()


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    source = resources.files(__package__).joinpath(name).read_text("utf-8")
    html = name == "report.html.j2"
    environment = Environment(autoescape=html, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)


@cache
def _scripts() -> tuple[Any, ...]:
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    # `</script` inside the library would end its element.
    library = get_plotlyjs().replace("</script", "<\\/script")
    own = resources.files(__package__).joinpath("report.js").read_text("utf-8")
    return Markup(library), Markup(own)


def _policy(scripts: tuple[str, ...]) -> str:
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    allowed = ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data: blob:", "base-uri 'none'"]
    allowed += ["form-action 'none'"]
    allowed += [f"script-src {hashes}"] if hashes else []
    return "; ".join(allowed)


def _data(figures: list[str], redact: Callable[[str], str]) -> Any:
    from markupsafe import Markup

    text = re.sub(r"[^ -~]", lambda found: json.dumps(found[0])[1:-1], redact(f"[{','.join(figures)}]"))
    # A browser ends the element at `</script` and treats `<!--` in its own way; JSON does not mind the escapes.
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def as_markdown(report: Report) -> str:
    """Return the report as Markdown: sentences and tables, for wikis, issues and chats. It links nowhere."""
    return _template("report.md.j2").render(report=report, shown=_markdown)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", _plain(text))


def _plain(text: str) -> str:
    """Return foreign text on one line, without keys; escape it afterwards, for an escaped key would not be known."""
    return visible(redact(" ".join(clean_text(text).split())))


def as_latex(report: Report) -> str:
    """Return all tables of the report as LaTeX with booktabs; foreign text is escaped."""
    parts = ("\n".join([f"% {_plain(part['name'])}", *map(_latex_table, part["grids"])]) for part in report.parts)
    return "\n".join([LATEX_HEAD, *parts])


def _latex_table(grid: Grid) -> str:
    from pandas import DataFrame

    # Signs that LaTeX's own fonts lack; the words beside them say the same.
    rows = [[_plain(cell).translate({ord(sign): None for sign in "✓✗"}) for cell in row] for row in grid.rows]
    longest = [max(map(len, cells)) for cells in zip(grid.header, *grid.rows, strict=True)]
    # Columns with long texts break their lines, and share most of the page's width.
    share = f"p{{{0.7 / max(1, sum(length > _WIDE_COLUMN for length in longest)):.2f}\\linewidth}}"
    return DataFrame(rows, columns=list(grid.header)).to_latex(
        index=False,
        escape=True,
        longtable=len(rows) > _LONG_TABLE,
        caption=grid.title,
        column_format="".join(share if length > _WIDE_COLUMN else "l" for length in longest),
    )
