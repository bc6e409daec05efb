"""Every format results can be exported in, for the page and the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from karenina_core.analysis.export import frame_to_csv, to_csv, to_json, to_xlsx
from karenina_core.analysis.frames import long_frame
from karenina_core.analysis.report.build import Report, ReportOptions, report_of_runs
from karenina_core.analysis.report.write import as_html, as_latex, as_markdown
from karenina_core.analysis.upstream import to_upstream
from karenina_core.runs import Store
from karenina_core.schemas import Annotation, VerificationResult
from karenina_core.sheets import XLSX_MIME as XLSX

Content = Callable[[Store, str, ReportOptions], bytes]


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
    content: Content


def _json(store: Store, run_id: str, options: ReportOptions) -> bytes:
    return to_json(store.results.all(run_id), store.runs.get(run_id).config, store.annotations.all(run_id, undone=None))


def _upstream(store: Store, run_id: str, options: ReportOptions) -> bytes:
    plan = store.runs.plan(run_id)
    rubric = plan.benchmark.get_global_rubric()
    traits = rubric.traits if rubric else ()
    return to_upstream(store.results.all(run_id), plan.config, traits, store.annotations.all(run_id, undone=None))


def _to_long_csv(results: Sequence[VerificationResult], annotations: Iterable[Annotation]) -> bytes:
    return frame_to_csv(long_frame(results, annotations))


def _table(write: Callable[..., bytes]) -> Content:
    return lambda store, run_id, options: write(store.results.all(run_id), store.annotations.all(run_id))


def _report(write: Callable[[Report], bytes | str]) -> Content:
    def content(store: Store, run_id: str, options: ReportOptions) -> bytes:
        written = write(report_of_runs(store, [run_id], options))
        return written.encode() if isinstance(written, str) else written

    return content


FORMATS: dict[str, Format] = {
    "csv": Format("CSV", "csv", "text/csv", "one row per evaluation", _table(to_csv)),
    "csv-long": Format(
        "CSV, long", "long.csv", "text/csv", "one row per review, field, trait and metric", _table(_to_long_csv)
    ),
    "xlsx": Format("Excel", "xlsx", XLSX, "one row per evaluation", _table(to_xlsx)),
    "json": Format("JSON", "json", "application/json", "everything, to be read back", _json),
    "upstream": Format("JSON 2.2", "v2.2.json", "application/json", "for the Karenina project", _upstream),
    "html": Format("HTML", "html", "text/html", "a report in one file that opens offline", _report(as_html)),
    "markdown": Format("Markdown", "md", "text/markdown", "a report for a wiki or a chat", _report(as_markdown)),
    "latex": Format("LaTeX", "tex", "application/x-tex", "the tables for a paper", _report(as_latex)),
}
