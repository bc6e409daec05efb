"""A report as one HTML file that opens from a disk without a network.

Jinja escapes all text. A policy in the file's head allows nothing but its own styles and, where there are figures, two
scripts that it names by their hash: Plotly's library and a dozen lines of ours. Without figures there is no script.
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
from karenina_core.analysis.report.content import Report
from karenina_core.text import visible

if TYPE_CHECKING:
    from jinja2 import Template

VERDICTS = {"pass": ("✓", "right"), "fail": ("✗", "wrong"), "not_evaluated": ("–", "not evaluated")}


def as_html(report: Report) -> bytes:
    """Return the report as a self-contained HTML file.

    With figures it holds Plotly's library, 5 MB; without, some 50 KB and no script.
    """
    redact = redactor()
    figures = [chart.figure for part in report.parts for chart in part.charts]
    scripts = _scripts() if figures else ()
    text = _template().render(
        report=report,
        verdicts=VERDICTS,
        policy=_policy(scripts),
        scripts=scripts,
        data=_data(figures, redact) if figures else "",
        shown=lambda value: visible(redact(clean_text(str(value)))),
    )
    return text.encode()


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    source = resources.files(__package__).joinpath("report.html.j2").read_text("utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
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
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    allowed = ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data: blob:", "base-uri 'none'"]
    return "; ".join([*allowed, "form-action 'none'", *([f"script-src {hashes}"] if hashes else [])])


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _data(figures: list[str], redact: Callable[[str], str]) -> Any:
    from markupsafe import Markup

    text = re.sub(r"[^ -~]", lambda found: json.dumps(found[0])[1:-1], redact(f"[{','.join(figures)}]"))
    # A browser ends the element at `</script` and treats `<!--` in its own way; JSON does not mind the escapes.
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
