"""What the columns of a table mean: chosen, and shown on its first rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from karenina_core.benchmark import (
    ROLES,
    SEPARATORS,
    ColumnMapping,
    Import,
    KeywordColumn,
    Table,
    find_separator,
    model_of,
    text_of,
    unique,
)
from pages.components.text import input_label, plain, short

_MORE = ("id", "notes", "author", "author_email", "author_affiliation", "sources", "url", "template", "workspace")
_WAYS = {"none": "None", "wide": "A column for each model", "long": "A column with the model, one with its answer"}
_SHOWN = 5
_WIDEST = 30  # columns

Key = Callable[[str], str]


def edit(table: Table, mapping: ColumnMapping, key: Key) -> ColumnMapping:
    """Draw the choice of columns and return it.

    Args:
        table: The table.
        mapping: What was chosen so far.
        key: Makes the key of a widget from its name.
    """
    _raw(table)
    left, middle, right = st.columns(3)
    question = _column(left, "question", table, mapping, key)
    answer = _column(middle, "answer", table, mapping, key)
    keywords = _keywords(right, table, mapping, key)
    mapping = replace(mapping, question=question, answer=answer, keywords=keywords)
    with st.expander(f"More columns{_counted(mapping)}", icon=":material/view_column:"):
        mapping = _more(table, mapping, key)
    with st.expander(f"Answers of models{_with_models(mapping)}", icon=":material/forum:"):
        mapping = _answers(table, mapping, key)
    return mapping


def preview(found: Import) -> None:
    """Show what the first rows become."""
    if not found.drafts:
        return
    st.caption(f"The first {min(_SHOWN, len(found.drafts))} as they will be imported:")
    st.dataframe([_previewed(draft) for draft in found.drafts[:_SHOWN]], hide_index=True, alt="Preview")


def _previewed(draft: Any) -> dict[str, Any]:
    fields = draft.fields
    row: dict[str, Any] = {
        "Row": draft.row,
        "Question": short(fields.get("question", ""), 160),
        "Reference answer": short(fields.get("raw_answer", ""), 120),
        "Keywords": [short(keyword, 40) for keyword in fields.get("keywords", ())],
    }
    others = {
        name: value
        for name, value in fields.items()
        if name not in ("question", "raw_answer", "keywords", "finished", "answer_template")
    }
    row["Finished"] = bool(fields.get("finished"))
    if "answer_template" in fields:
        row["Template"] = "✓"
    if others:
        row["More"] = short(
            "; ".join(f"{name.replace('_', ' ')}: {_said(value)}" for name, value in others.items()), 160
        )
    if draft.responses:
        row["Answers"] = short(", ".join(draft.responses), 80)
    return row


def _said(value: Any) -> str:
    """Return a field in few words: of an author the name, of a source the address."""
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    if isinstance(value, dict):
        named = value.get("name") or value.get("url")
        return str(named) if named else ", ".join(f"{name} {_said(item)}" for name, item in value.items())
    return text_of(value)


def _raw(table: Table) -> None:
    names = unique(["Row", *map(_safe, table.columns[:_WIDEST])])
    with st.expander("The file as it was read", icon=":material/table_rows:"):
        st.dataframe(
            [
                dict(zip(names, (str(row.number), *(short(text_of(cell), 100) for cell in row.cells)), strict=False))
                for row in table.rows[:10]
            ],
            hide_index=True,
            alt="File",
        )


def _safe(name: str) -> str:
    return short(name, 40) or "–"


def _column(place: Any, role: str, table: Table, mapping: ColumnMapping, key: Key) -> str | None:
    options = [None, *table.columns]
    chosen = getattr(mapping, role)
    picked = place.selectbox(
        ROLES[role],
        options,
        index=options.index(chosen) if chosen in options else 0,
        format_func=lambda name: "– not in this table –" if name is None else _safe(name),
        key=key(role),
    )
    return None if picked is None else str(picked)


def _keywords(place: Any, table: Table, mapping: ColumnMapping, key: Key) -> tuple[KeywordColumn, ...]:
    known = dict(mapping.keywords)
    chosen = _several(place, "Keywords", "keywords", table, tuple(known), key)
    signs = list(SEPARATORS)
    found = []
    for name in chosen:
        sign = known.get(name) or find_separator(table, name)
        picked = place.selectbox(
            f"Between keywords in “{input_label(name, 40)}”",
            signs,
            index=signs.index(sign),
            format_func=lambda sign: SEPARATORS[sign].capitalize() if sign else "Nothing: the cell is one keyword",
            key=key(f"separator_{table.columns.index(name)}"),
        )
        found.append(KeywordColumn(name, picked))
    return tuple(found)


def _several(
    place: Any, label: str, name: str, table: Table, chosen: Sequence[str], key: Key, help: str | None = None
) -> tuple[str, ...]:
    picked = place.multiselect(
        label,
        table.columns,
        default=[column for column in chosen if column in table.columns],
        format_func=_safe,
        key=key(name),
        placeholder="None",
        help=help,
    )
    return tuple(picked)


def _more(table: Table, mapping: ColumnMapping, key: Key) -> ColumnMapping:
    columns = st.columns(3)
    for number, role in enumerate(_MORE):
        chosen: dict[str, Any] = {role: _column(columns[number % 3], role, table, mapping, key)}
        mapping = replace(mapping, **chosen)
    metadata = _several(st, "Keep as custom metadata", "metadata", table, mapping.metadata, key)
    left_out = _several(
        st, "Leave out", "left_out", table, mapping.left_out, key, "Columns nothing needs to be said of."
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    finished = _column(left, "finished", table, mapping, key)
    finish_all = right.checkbox(
        "Mark every question finished",
        mapping.finish_all,
        key=key("finish_all"),
        help="Only finished questions take part in runs. Otherwise finish them on Questions once they are checked.",
    )
    return replace(mapping, metadata=metadata, left_out=left_out, finished=finished, finish_all=finish_all)


def _answers(table: Table, mapping: ColumnMapping, key: Key) -> ColumnMapping:
    ways = list(_WAYS)
    now = "long" if mapping.response else "wide" if mapping.model_columns else "none"
    way = st.radio(
        "How the table holds answers of models",
        ways,
        index=ways.index(now),
        format_func=lambda name: _WAYS[name],
        key=key("way"),
        help="Answers you have already, from any model: they can be judged without asking the model again.",
    )
    wide: tuple[str, ...] = ()
    model = response = None
    if way == "wide":
        wide = _several(st, "Columns with answers", "model_columns", table, mapping.model_columns, key)
        if wide:
            st.caption("Models: " + ", ".join(plain(model_of(name), 60) for name in wide))
    elif way == "long":
        left, right = st.columns(2)
        model = _column(left, "model", table, mapping, key)
        response = _column(right, "response", table, mapping, key)
    return replace(mapping, model=model, response=response, model_columns=wide)


def _counted(mapping: ColumnMapping) -> str:
    used = sum(getattr(mapping, role) is not None for role in (*_MORE, "finished")) + len(mapping.metadata)
    return f" · {used} used" if used else ""


def _with_models(mapping: ColumnMapping) -> str:
    if mapping.response:
        return " · by row"
    return f" · {len(mapping.model_columns)} models" if mapping.model_columns else ""
