"""Every format results can be exported in, for the page and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from karenina_core.analysis import report, spreadsheet, upstream
from karenina_core.analysis.export import to_json
from karenina_core.analysis.long import long_frame
from karenina_core.runs import Store
from karenina_core.sheets import XLSX_MIME as XLSX

Options = report.Options


class Format(NamedTuple):
    """One format.

    Attributes:
        label: Its name for people.
        ending: What a file name ends with.
        mime: Media type.
        purpose: What it is good for.
        content: Store, run id and options to the bytes of the file; only reports look at the options.
    """

    label: str
    ending: str
    mime: str
    purpose: str
    content: Callable[[Store, str, Options], bytes]


def _csv(store: Store, run_id: str, options: Options) -> bytes:
    return spreadsheet.to_csv(store.results.all(run_id), store.annotations.all(run_id))


def _long(store: Store, run_id: str, options: Options) -> bytes:
    return spreadsheet.frame_to_csv(long_frame(store.results.all(run_id), store.annotations.all(run_id)))


def _xlsx(store: Store, run_id: str, options: Options) -> bytes:
    return spreadsheet.to_xlsx(store.results.all(run_id), store.annotations.all(run_id))


def _json(store: Store, run_id: str, options: Options) -> bytes:
    return to_json(store.results.all(run_id), store.runs.get(run_id).config, store.annotations.all(run_id, undone=None))


def _upstream(store: Store, run_id: str, options: Options) -> bytes:
    plan = store.runs.plan(run_id)
    rubric = plan.benchmark.get_global_rubric()
    traits = rubric.traits if rubric else ()
    return upstream.to_upstream(
        store.results.all(run_id), plan.config, traits, store.annotations.all(run_id, undone=None)
    )


def _html(store: Store, run_id: str, options: Options) -> bytes:
    return report.as_html(report.report_of_runs(store, [run_id], options))


def _markdown(store: Store, run_id: str, options: Options) -> bytes:
    return report.as_markdown(report.report_of_runs(store, [run_id], options)).encode()


def _latex(store: Store, run_id: str, options: Options) -> bytes:
    return report.as_latex(report.report_of_runs(store, [run_id], options)).encode()


FORMATS: dict[str, Format] = {
    "csv": Format("CSV", "csv", "text/csv", "one row per evaluation", _csv),
    "csv-long": Format("CSV, long", "long.csv", "text/csv", "one row per review, field, trait and metric", _long),
    "xlsx": Format("Excel", "xlsx", XLSX, "one row per evaluation", _xlsx),
    "json": Format("JSON", "json", "application/json", "everything, to be read back", _json),
    "upstream": Format("JSON 2.2", "v2.2.json", "application/json", "for the Karenina project", _upstream),
    "html": Format("HTML", "html", "text/html", "a report in one file that opens offline", _html),
    "markdown": Format("Markdown", "md", "text/markdown", "a report for a wiki or a chat", _markdown),
    "latex": Format("LaTeX", "tex", "application/x-tex", "the tables for a paper", _latex),
}
