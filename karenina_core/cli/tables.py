"""The result of a run on a terminal: questions by models, then traits by models, then plain sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from karenina_core.cli.output import console, shown
from karenina_core.schemas import VerificationResult, VerificationResultSet

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.table import Table

Column = tuple[str, str, int]
_SIGNS = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}


def show_results(results: VerificationResultSet) -> None:
    """Print verdicts, traits and what they add up to."""
    from karenina_core.analysis import judge_sentences, left_out_sentences, model_sentences, traits_frame

    out = console()
    out.print(verdict_table(results))
    traits = traits_table(traits_frame(results))
    if traits.row_count:
        out.print(traits)
    for line in model_sentences(results):
        out.print(shown(line, 300), soft_wrap=True)
    for line in [*left_out_sentences(results), *judge_sentences(results)]:
        out.print("  " + shown(line, 300), soft_wrap=True)


def verdict_table(results: VerificationResultSet) -> Table:
    """Return one row per question and one column per model, judge and replicate."""
    columns = list(dict.fromkeys(_column(result) for result in results))
    cells = {(result.question.id, _column(result)): _cell(result) for result in results}
    questions = {result.question.id: result.question.question for result in results}
    table = _table("Question", columns, _header(columns))
    for question_id, text in questions.items():
        table.add_row(shown(text, 200), *(cells.get((question_id, column), "") for column in columns))
    return table


def _column(result: VerificationResult) -> Column:
    return result.answering_model, result.parsing_model, result.replicate


def _header(columns: list[Column]) -> Callable[[Column], str]:
    judges = len({judge for _, judge, _ in columns}) > 1
    repeats = max((replicate for *_, replicate in columns), default=1) > 1

    def header(column: Column) -> str:
        model, judge, replicate = column
        return shown(model) + (f" · {shown(judge)}" if judges else "") + (f" #{replicate}" if repeats else "")

    return header


def _cell(result: VerificationResult) -> str:
    sign = _SIGNS[result.verdict]
    if result.failure:
        return f"{sign} {result.failure.category.replace('_', ' ')}"
    granular = result.verify_granular_result
    partial = granular is not None and 0 < granular < 1
    return f"{sign} {granular:.2f}" if partial else sign


def _table(first: str, columns: list[Column], header: Callable[[Column], str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=60)
    for column in columns:
        text = header(column)
        table.add_column(text, no_wrap=True, overflow="ellipsis", min_width=min(len(text), 14))
    return table


def traits_table(traits: DataFrame) -> Table:
    """Return one row per trait (and metric) and one column per model: means, shares and metrics."""
    from karenina_core.analysis import label_shares, metric_summary, trait_summary

    models = list(dict.fromkeys(traits["answering_model"]))
    rows: dict[str, dict[str, str]] = {}
    for row in trait_summary(traits).to_dict("records"):
        text = f"{row['mean']:.1f}" if row["kind"] == "llm_score" else f"{row['mean']:.0%} yes"
        rows.setdefault(row["trait"], {})[row["answering_model"]] = f"{text} (n {row['n']})" if row["n"] else "–"
    for row in label_shares(traits).to_dict("records"):
        cell = rows.setdefault(row["trait"], {})
        text = f"{shown(row['label'])} {row['share']:.0%}"
        cell[row["answering_model"]] = ", ".join(filter(None, [cell.get(row["answering_model"], ""), text]))
    for row in metric_summary(traits).to_dict("records"):
        text = f"{row['macro']:.2f} (n {row['n']})" if row["n"] else "–"
        rows.setdefault(f"{row['trait']}: {row['metric']}", {})[row["answering_model"]] = text
    columns = [(model, "", 1) for model in models]
    table = _table("Trait", columns, lambda column: shown(column[0]))
    for name, cells in rows.items():
        table.add_row(shown(name, 200), *(cells.get(model, "") for model in models))
    return table
