"""What a row says about its question, beside the question and its answer; with a note on what cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.question_sheet import METADATA_PREFIX
from karenina_core.benchmark.sources import checked_source
from karenina_core.benchmark.tables.mapping import ColumnMapping, model_of
from karenina_core.benchmark.tables.row_reader import RowReader
from karenina_core.benchmark.tables.table import Cell, is_blank
from karenina_core.benchmark.tables.values import author_of, keywords_of, sources_of, text_of, yes_or_no
from karenina_core.benchmark.workspaces import check_relative
from karenina_core.errors import InputError, TemplateError


def fields_of(reader: RowReader, mapping: ColumnMapping) -> dict[str, Any]:
    """Return the fields of a question, as for `Benchmark.add_question`; those the row says nothing about are empty.

    Args:
        reader: Of the row; notes what is wrong with it.
        mapping: What the columns mean.
    """
    author = (mapping.author, mapping.author_email, mapping.author_affiliation)
    return {
        "answer_notes": reader.text(mapping.notes),
        "answer_template": _template(reader, mapping.template),
        "workspace_path": _workspace(reader, mapping.workspace),
        "keywords": _keywords(reader, mapping),
        "author": author_of(*(_raw(reader, column) for column in author)),
        "sources": sources_of(_raw(reader, mapping.sources)),
        "custom_metadata": _metadata(reader, mapping),
        # What is made by hand in the workbench is unfinished until somebody says otherwise.
        "finished": _finished(reader, mapping),
    }


def responses_of(reader: RowReader, mapping: ColumnMapping) -> dict[str, str]:
    """Return the answers of models to the question, by model.

    Args:
        reader: Of the row; notes what is wrong with it.
        mapping: What the columns mean.
    """
    if mapping.response is not None:
        text = reader.text(mapping.response, faithful=True)
        model = reader.text(mapping.model) if mapping.model else "manual"
        if text and not model:
            reader.note("no_model", mapping.model)
        return {model: text} if text and model else {}
    texts: Mapping[str, str] = {
        model_of(column): reader.text(column, faithful=True) for column in mapping.model_columns
    }
    return {model: text for model, text in texts.items() if text}


def _raw(reader: RowReader, column: str | None) -> Cell:
    """Return a list or object as it is, anything else as text that was put right."""
    if column is None:
        return None
    value = reader.peek(column)
    return value if isinstance(value, list | dict) else reader.text(column)


def _template(reader: RowReader, column: str | None) -> str | None:
    source = reader.source(column)
    try:
        return checked_source(source)
    except TemplateError as error:
        reader.note("template", column, str(error), value=source)
        return None


def _workspace(reader: RowReader, column: str | None) -> str | None:
    path = reader.text(column)
    if not path:
        return None
    try:
        check_relative(path)
    except InputError as error:
        reader.note("workspace", column, error.why, value=path)
        return None
    return path


def _keywords(reader: RowReader, mapping: ColumnMapping) -> list[str]:
    found: dict[str, None] = {}
    for column, separator in mapping.keywords:
        found.update(dict.fromkeys(keywords_of(_raw(reader, column), separator)))
    return list(found)


def _metadata(reader: RowReader, mapping: ColumnMapping) -> dict[str, Cell]:
    kept: dict[str, Cell] = {}
    for column in mapping.metadata:
        value = reader.peek(column)
        if not isinstance(value, bool | list | dict):
            text = reader.text(column, dates=True)
            value = value if not isinstance(value, str) and text_of(value) == text else text
        if not is_blank(value):
            name = column[len(METADATA_PREFIX) :] if column.casefold().startswith(METADATA_PREFIX) else column
            kept[name] = value
    address = reader.text(mapping.url)
    return {**kept, "url": address} if address else kept


def _finished(reader: RowReader, mapping: ColumnMapping) -> bool:
    column = mapping.finished
    if mapping.finish_all:
        return True
    if column is None:
        return False
    value = reader.cell(column)
    said = yes_or_no(value)
    if said is None and not is_blank(value):
        reader.note("finished", column, value=str(value))
    return bool(said)
