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
from pages.components import forms
from pages.components.text import input_label, plain, short

_MORE = ("id", "notes", "author", "author_email", "author_affiliation", "sources", "url", "template", "workspace")
_WAYS = {"none": "None", "wide": "A column for each model", "long": "A column with the model, one with its answer"}
_SHOWN = 5
_WIDEST = 30  # columns
_OWN_COLUMNS = ("question", "raw_answer", "keywords", "finished", "answer_template")

Key = Callable[[str], str]
"""Makes the key of a widget from its name."""


def edit(table: Table, mapping: ColumnMapping, key: Key) -> ColumnMapping:
    """Draw the choice of columns and return it.

    Args:
        table: The table.
        mapping: What was chosen so far.
        key: Makes the key of a widget from its name.
    """
    _raw(table)
    left, middle, right = st.columns(3)
    with left:
        question = _column("question", table, mapping, key)
    with middle:
        answer = _column("answer", table, mapping, key)
    with right:
        keywords = _keywords(table, mapping, key)
    mapping = replace(mapping, question=question, answer=answer, keywords=keywords)
    used = sum(getattr(mapping, role) is not None for role in (*_MORE, "finished")) + len(mapping.metadata)
    with st.expander("More columns" + (f" · {used} used" if used else ""), icon=":material/view_column:"):
        mapping = _more(table, mapping, key)
    models = f" · {len(mapping.model_columns)} models" if mapping.model_columns else ""
    models = " · by row" if mapping.response else models
    with st.expander(f"Answers of models{models}", icon=":material/forum:"):
        return _answers(table, mapping, key)


def preview(examined: Import) -> None:
    """Show what the first rows become."""
    if examined.drafts:
        st.caption(f"The first {min(_SHOWN, len(examined.drafts))} as they will be imported:")
        st.dataframe([_previewed(draft) for draft in examined.drafts[:_SHOWN]], hide_index=True, alt="Preview")


def _previewed(draft: Any) -> dict[str, Any]:
    fields = draft.fields
    others = {name.replace("_", " "): value for name, value in fields.items() if name not in _OWN_COLUMNS}
    more = "; ".join(f"{name}: {_in_words(value)}" for name, value in others.items())
    return {
        "Row": draft.row,
        "Question": short(fields.get("question", ""), 160),
        "Reference answer": short(fields.get("raw_answer", ""), 120),
        "Keywords": [short(keyword, 40) for keyword in fields.get("keywords", ())],
        "Finished": bool(fields.get("finished")),
        **({"Template": "✓"} if "answer_template" in fields else {}),
        **({"More": short(more, 160)} if more else {}),
        **({"Answers": short(", ".join(draft.responses), 80)} if draft.responses else {}),
    }


def _in_words(value: Any) -> str:
    """Return a field in few words: of an author the name, of a source the address."""
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    if isinstance(value, dict):
        named = value.get("name") or value.get("url")
        return str(named) if named else ", ".join(f"{name} {_in_words(item)}" for name, item in value.items())
    return text_of(value)


def _raw(table: Table) -> None:
    names = unique(["Row", *map(_safe, table.columns[:_WIDEST])])
    with st.expander("The file as it was read", icon=":material/table_rows:"):
        cells = [[str(row.number), *(short(text_of(cell), 100) for cell in row.cells)] for row in table.rows[:10]]
        st.dataframe([dict(zip(names, row, strict=False)) for row in cells], hide_index=True, alt="File")


def _safe(name: str) -> str:
    return short(name, 40) or "–"


def _column(role: str, table: Table, mapping: ColumnMapping, key: Key) -> str | None:
    names: dict[str | None, str] = {None: "– not in this table –"} | {name: _safe(name) for name in table.columns}
    chosen: str | None = getattr(mapping, role)
    return forms.select(ROLES[role], names, key(role), chosen=chosen)


def _keywords(table: Table, mapping: ColumnMapping, key: Key) -> tuple[KeywordColumn, ...]:
    known = dict(mapping.keywords)
    signs = {
        sign: name.capitalize() if sign else "Nothing: the cell is one keyword" for sign, name in SEPARATORS.items()
    }
    columns = []
    for name in _several("Keywords", "keywords", table, tuple(known), key):
        sign = known.get(name) or find_separator(table, name)
        widget = key(f"separator_{table.columns.index(name)}")
        label = f"Between keywords in “{input_label(name, 40)}”"
        columns.append(KeywordColumn(name, forms.select(label, signs, widget, chosen=sign)))
    return tuple(columns)


def _several(
    label: str, name: str, table: Table, chosen: Sequence[str], key: Key, help_text: str | None = None
) -> tuple[str, ...]:
    default = [column for column in chosen if column in table.columns]
    options: dict[str, Any] = {"key": key(name), "placeholder": "None", "help": help_text}
    return tuple(st.multiselect(label, table.columns, default=default, format_func=_safe, **options))


def _more(table: Table, mapping: ColumnMapping, key: Key) -> ColumnMapping:
    columns = st.columns(3)
    roles: dict[str, Any] = {}
    for number, role in enumerate(_MORE):
        with columns[number % 3]:
            roles[role] = _column(role, table, mapping, key)
    metadata = _several("Store as custom metadata", "metadata", table, mapping.metadata, key)
    left_help = "Columns you do not want to be reminded of."
    left_out = _several("Leave out", "left_out", table, mapping.left_out, key, left_help)
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        finished = _column("finished", table, mapping, key)
    finish_all = right.checkbox(
        "Mark every question finished",
        mapping.finish_all,
        key=key("finish_all"),
        help="Only finished questions take part in runs. Otherwise finish them on Questions once they are checked.",
    )
    return replace(mapping, **roles, metadata=metadata, left_out=left_out, finished=finished, finish_all=finish_all)


def _answers(table: Table, mapping: ColumnMapping, key: Key) -> ColumnMapping:
    ways = list(_WAYS)
    way = st.radio(
        "How the table holds answers of models",
        ways,
        index=ways.index("long" if mapping.response else "wide" if mapping.model_columns else "none"),
        format_func=_WAYS.__getitem__,
        key=key("way"),
        help="Answers you have already, from any model: they can be judged without asking the model again.",
    )
    wide: tuple[str, ...] = ()
    model = response = None
    if way == "wide":
        wide = _several("Columns with answers", "model_columns", table, mapping.model_columns, key)
        if wide:
            st.caption("Models: " + ", ".join(plain(model_of(name), 60) for name in wide))
    elif way == "long":
        left, right = st.columns(2)
        with left:
            model = _column("model", table, mapping, key)
        with right:
            response = _column("response", table, mapping, key)
    return replace(mapping, model=model, response=response, model_columns=wide)
