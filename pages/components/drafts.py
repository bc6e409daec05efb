"""Edits that are not saved yet: kept while typing, found again after a page switch or a reload.

A draft belongs to one thing with a few named values, such as a question. Its widgets take key and value from
`Draft.text` or `Draft.choice`; what is typed is collected at the start of every run and kept in the store until saved
or discarded.

A browser that has forgotten a widget, as after a page switch, draws it with its default value and reports that as
what the user typed. So the default is, in every run, the value of the draft.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.components import services

_DRAFTS = "_drafts"
_GENERATION = "_draft_generation"
_PREFIX = "draft/"


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
    generation: int = field(default_factory=lambda: _next_generation())
    _kept: dict[str, Any] | None = field(default=None, repr=False)

    def text(self, name: str) -> dict[str, Any]:
        """Return the `key` and the `value` of the widget that edits a value."""
        return {"key": self._widget(name), "value": self.values[name]}

    def choice(self, name: str) -> dict[str, Any]:
        """Return the `key` and the `default` of the widget that chooses a value."""
        return {"key": self._widget(name), "default": self.values[name]}

    def put(self, name: str, value: Any) -> None:
        """Set a value as if it had been typed; draw the page anew afterwards."""
        self.values = self.values | {name: value}
        self.generation = _next_generation()

    def _widget(self, name: str) -> str:
        return f"{name}:{_digest(self.name)}:{self.generation}"

    @property
    def edits(self) -> dict[str, Any]:
        """The values that differ from the base."""
        return {name: value for name, value in self.values.items() if value != self.base.get(name)}

    def collect(self) -> None:
        """Take over what was typed since the last run, and keep it."""
        for name in self.values:
            self.values[name] = st.session_state.get(self._widget(name), self.values[name])
        kept = {"name": self.name, "base": self.base, "values": dict(self.values)} if self.edits else None
        if kept != self._kept:
            self._kept = kept
            if kept is None:
                services.store().remove_setting(_setting(self.name))
            else:
                services.store().set_setting(_setting(self.name), kept)

    def start_over(self, stored: Mapping[str, Any]) -> None:
        """Forget the edits and show the stored values."""
        self.base, self.values = dict(stored), dict(stored)
        self.generation = _next_generation()
        self.collect()


def collect() -> None:
    """Take over what was typed since the last run; call it before anything reads or switches drafts."""
    for draft in _drafts().values():
        draft.collect()


def draft_of(name: str, stored: Mapping[str, Any]) -> Draft:
    """Return the draft of a thing, started from its stored values where there is none yet."""
    draft = _drafts().setdefault(name, Draft(name, dict(stored), dict(stored)))
    if draft.base != stored and (not draft.edits or draft.values == stored or set(draft.values) != set(stored)):
        draft.start_over(stored)
    return draft


def unsaved(prefix: str) -> list[str]:
    """Return the names of drafts with edits that start with a prefix."""
    return [name for name, draft in _drafts().items() if name.startswith(prefix) and draft.edits]


def discard(name: str) -> None:
    """Forget a draft altogether."""
    if _drafts().pop(name, None) is not None:
        services.store().remove_setting(_setting(name))


def _drafts() -> dict[str, Draft]:
    if _DRAFTS not in st.session_state:
        kept = services.store().settings(_PREFIX).values()
        st.session_state[_DRAFTS] = {
            item["name"]: Draft(item["name"], item["base"], item["values"], _kept=item) for item in kept
        }
    drafts: dict[str, Draft] = st.session_state[_DRAFTS]
    return drafts


def _next_generation() -> int:
    st.session_state[_GENERATION] = st.session_state.get(_GENERATION, 0) + 1
    return int(st.session_state[_GENERATION])


def _setting(name: str) -> str:
    return f"{_PREFIX}{_digest(name)}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]
