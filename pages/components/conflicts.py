"""Edits that met another save, as from a second tab: both versions side by side, and one of them is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from pages.components import forms
from pages.components.drafts import Draft
from pages.components.text import plain, visible

_MOST = 20


class Conflict(NamedTuple):
    """A value that was edited here and saved elsewhere.

    Attributes:
        title: What it is, for people.
        stored: As it was saved elsewhere.
        mine: As it was edited here.
        settle: Takes whether the edit counts, and settles the conflict so.
    """

    title: str
    stored: Any
    mine: Any
    settle: Callable[[bool], None]


def of_draft(draft: Draft, stored: Mapping[str, Any], title: Callable[[str], str]) -> list[Conflict]:
    """Return the conflicts of a draft with what is stored; what was edited in one place only is none.

    Args:
        draft: The edits.
        stored: The values as they are stored now.
        title: Returns what a value is called.
    """

    return [
        Conflict(title(name), stored[name], draft.values[name], partial(draft.settle, name, stored[name]))
        for name in draft.conflicts(stored)
    ]


def draw(found: Sequence[Conflict]) -> None:
    """Draw conflicts, each with both versions and the choice; nothing where there are none."""
    if not found:
        return
    st.warning("Choose a version of each. Nothing is saved before.", title="This was changed elsewhere in the meantime")
    for at, conflict in enumerate(found[:_MOST]):
        with st.container(border=True):
            st.markdown(f"**{plain(conflict.title, 160)}**")
            versions = (("Stored now", conflict.stored, False), ("Yours", conflict.mine, True))
            for column, (label, value, mine) in zip(st.columns(2), versions, strict=True):
                with column:
                    st.caption(label)
                    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
                    st.code(visible(text) or " ", language=None, wrap_lines=True)
                    act: dict[str, Any] = {"on_click": conflict.settle, "args": (mine,)}
                    forms.button(f"Keep {'mine' if mine else 'the stored one'}", "check", f"keep_{mine}_{at}", **act)
    if len(found) > _MOST:
        st.caption(f"The first {_MOST} of {len(found)} are shown.")
