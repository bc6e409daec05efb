"""Edits that are not saved yet: kept while typing, found again after a page switch or a reload.

A draft belongs to one thing with a few named values, such as a question. Its widgets take key and value from
`Draft.text`, `Draft.choice` or `Draft.table`; what is typed is taken over at once, and at the start of every run also
kept in the store until saved or discarded.

A browser that has forgotten a widget, as after a page switch, draws it with its default value and reports that as
what the user typed. So the default is, in every run, the value of the draft.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import streamlit as st

from pages.components import services
from pages.components.widgets import fingerprint, next_number

_DRAFTS = "_drafts"
_PREFIX = "draft/"

Rows = list[dict[str, Any]]
Merge = Callable[[Rows, Mapping[str, Any], Any], Any]
"""Makes a value of the rows of a table, the edits of its widget, and the value so far."""


class _Table(NamedTuple):
    value: str
    rows: Rows
    merge: Merge


@dataclass
class Draft:
    """The edits of one thing.

    Attributes:
        name: What is edited, such as `BENCHMARK_ID/question/ID`.
        base: The stored values the edits started from.
        values: The values as they are now in the form.
        generation: Number of this filling of the form; part of the widget keys, so that old ones never show again.
    """

    name: str
    base: dict[str, Any]
    values: dict[str, Any]
    generation: int = field(default_factory=next_number)
    _kept: dict[str, Any] | None = field(default=None, repr=False)
    _tables: dict[str, _Table] = field(default_factory=dict, repr=False)

    def text(self, name: str) -> dict[str, Any]:
        """Return `key`, `value` and callback of the widget that edits a value."""
        return {"key": self._widget(name), "value": self.values[name], "on_change": self.take_over}

    def choice(self, name: str) -> dict[str, Any]:
        """Return `key`, `default` and callback of the widget that chooses a value."""
        return {"key": self._widget(name), "default": self.values[name], "on_change": self.take_over}

    def table(
        self, name: str, rows: Rows | None = None, merge: Merge | None = None, part: str = ""
    ) -> tuple[Rows, str]:
        """Return the rows and the key of the `st.data_editor` that edits a value; its callback is `take_over`.

        A data editor reports edits of the rows it was first given. These stay the same, therefore, as long as the
        browser remembers the widget.

        Args:
            name: The value; a list of rows, unless `merge` is given.
            rows: The rows to show, if they are not the value.
            merge: Makes the value of the rows and the edits; the rows as they are after the edits when not given.
            part: Which part of the value is shown; every part is a widget of its own.
        """
        key = f"{self._widget(name)}:{part}:rows"
        if key not in st.session_state or key not in self._tables:
            shown = self.values[name] if rows is None else rows
            self._tables[key] = _Table(
                name, deepcopy(list(shown)), merge or (lambda base, edits, _: edited(base, edits))
            )
        return deepcopy(self._tables[key].rows), key

    def put(self, name: str, value: Any) -> None:
        """Set a value as if it had been typed; draw the page anew afterwards."""
        self.generation = next_number()
        self.values = self.values | {name: value}
        self._tables.clear()

    def _widget(self, name: str) -> str:
        return f"{name}:{fingerprint(self.name)}:{self.generation}"

    @property
    def edits(self) -> dict[str, Any]:
        """The values that differ from the base."""
        return {name: value for name, value in self.values.items() if value != self.base.get(name)}

    def take_over(self) -> None:
        """Take over what was typed since the last time."""
        for name in self.values:
            self.values[name] = st.session_state.get(self._widget(name), self.values[name])
        for key, shown in self._tables.items():
            if key in st.session_state and shown.value in self.values:
                self.values[shown.value] = shown.merge(shown.rows, st.session_state[key], self.values[shown.value])

    def collect(self) -> None:
        """Take over what was typed since the last time, and keep it in the store."""
        self.take_over()
        kept = {"name": self.name, "base": self.base, "values": dict(self.values)} if self.edits else None
        if kept != self._kept:
            if kept is None:
                services.store().settings.remove(_setting(self.name))
            else:
                services.store().settings.set(_setting(self.name), kept)
            self._kept = kept

    def conflicts(self, stored: Mapping[str, Any]) -> list[str]:
        """Return the names of values that were edited here, and have become something else in the store since."""
        return [
            name
            for name, value in self.edits.items()
            if name in stored and stored[name] not in (self.base.get(name), value)
        ]

    def settle(self, name: str, stored: Any, mine: bool) -> None:
        """Settle a conflict: the edit goes on from what is stored now, or gives way to it."""
        self.base = self.base | {name: stored}
        if not mine:
            self.put(name, stored)

    def fit(self, stored: Mapping[str, Any]) -> None:
        """Go on from what is stored now; edits stay, but for those of values that are gone or have become the same."""
        edits = {name: value for name, value in self.edits.items() if name in stored and value != stored[name]}
        before = {name: self.base[name] for name in edits if name in self.base}
        base, values = {**stored, **before}, {**stored, **edits}
        if (base, values) != (self.base, self.values):
            self.generation, self.base, self.values = next_number(), base, values
            self._tables.clear()
            self.collect()


def edited(rows: Sequence[Mapping[str, Any]], edits: Mapping[str, Any]) -> Rows:
    """Return rows as they are after the edits that an `st.data_editor` reports."""
    changed = {int(at): cells for at, cells in (edits.get("edited_rows") or {}).items()}
    gone = set(edits.get("deleted_rows") or ())
    kept = [{**row, **changed.get(at, {})} for at, row in enumerate(rows) if at not in gone]
    names = list(rows[0]) if rows else []
    added = [{**dict.fromkeys(names), **row} for row in edits.get("added_rows") or ()]
    return kept + added


def collect() -> None:
    """Take over what was typed since the last run; call it before anything reads or switches drafts."""
    for draft in _drafts().values():
        draft.collect()


def draft_of(name: str, stored: Mapping[str, Any]) -> Draft:
    """Return the draft of a thing, started from its stored values where there is none yet."""
    draft = _drafts().setdefault(name, Draft(name, dict(stored), dict(stored)))
    draft.fit(stored)
    return draft


def unsaved(prefix: str) -> list[str]:
    """Return the names of drafts with edits that start with a prefix."""
    return [name for name, draft in _drafts().items() if name.startswith(prefix) and draft.edits]


def discard(name: str) -> None:
    """Forget a draft altogether."""
    if _drafts().pop(name, None) is not None:
        services.store().settings.remove(_setting(name))


def move(old: str, new: str) -> None:
    """Let the drafts of a thing, and of its parts, go along when the thing gets another name."""
    known = _drafts()
    for name in [name for name in known if name == old or name.startswith(f"{old}/")]:
        draft = known.pop(name)
        services.store().settings.remove(_setting(name))
        draft.name, draft.generation = new + name.removeprefix(old), next_number()
        draft._kept = None
        draft._tables.clear()
        known[draft.name] = draft
        draft.collect()


def rekey(name: str, old: str, new: str) -> None:
    """Let the entry of a thing go along in the values of a draft that are kept by its name."""
    draft = _drafts().get(name)
    if draft is None or not any(isinstance(value, dict) and old in value for value in draft.values.values()):
        return
    for kind, value in list(draft.values.items()):
        if isinstance(value, dict) and old in value:
            draft.put(kind, {new if key == old else key: item for key, item in value.items()})
    draft.collect()


def _drafts() -> dict[str, Draft]:
    if _DRAFTS not in st.session_state:
        kept = services.store().settings.all(_PREFIX).values()
        st.session_state[_DRAFTS] = {
            item["name"]: Draft(item["name"], item["base"], item["values"], _kept=item) for item in kept
        }
    drafts: dict[str, Draft] = st.session_state[_DRAFTS]
    return drafts


def _setting(name: str) -> str:
    return f"{_PREFIX}{fingerprint(name, 24)}"
