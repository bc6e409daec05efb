"""A report of one or several runs: built once as plain data, written as HTML, Markdown or LaTeX."""

from karenina_core.analysis.report.build import AnswerChoice, Options, build_report
from karenina_core.analysis.report.content import AnswerSheet, Chart, Grid, Report, RunPart
from karenina_core.analysis.report.latex import as_latex
from karenina_core.analysis.report.load import report_of_runs
from karenina_core.analysis.report.markdown import as_markdown
from karenina_core.analysis.report.page import as_html

__all__ = [
    "AnswerChoice",
    "AnswerSheet",
    "Chart",
    "Grid",
    "Options",
    "Report",
    "RunPart",
    "as_html",
    "as_latex",
    "as_markdown",
    "build_report",
    "report_of_runs",
]
