"""How the results of several fields make the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.authoring import Composition, FormData, composition_of, set_composition, verified_names
from karenina_core.errors import InputError, KareninaError
from karenina_core.schemas import condition_from_dict
from karenina_core.templates import write_condition
from pages.components.drafts import Draft
from pages.components.templates.state import Form, bound
from pages.components.text import plain, short
from pages.components.widgets import fingerprint

_KINDS = {
    "all_of": "All of them are right",
    "any_of": "At least one is right",
    "at_least_n": "At least so many are right",
}


def draw(draft: Draft, form: Form) -> None:
    """Draw the composition; nothing where one field or none decides."""
    names = verified_names(form.data)
    now = _now(form.data)
    if len(names) < 2 and not form.data.get("verify_strategy"):
        return
    nested = now.kind == "nested"
    options = [*_KINDS, *(["nested"] if nested else [])]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "The answer is right when",
            options,
            index=options.index(now.kind),
            format_func=lambda kind: _KINDS.get(kind, "As nested in the source"),
            width=280,
            **bound(
                draft,
                form,
                form.key("composition"),
                lambda data, kind: data if kind == "nested" else set_composition(data, kind, *_counted(data)),
            ),
        )
        if now.kind == "at_least_n":
            most = max(len(now.fields), now.n, 1)
            st.number_input(
                "How many",
                value=now.n,
                min_value=1,
                max_value=most,
                step=1,
                width=140,
                **bound(
                    draft,
                    form,
                    form.key("composition", "n", most),
                    lambda data, n: set_composition(data, now.kind, _now(data).fields, int(n or 1)),
                ),
            )
    if nested:
        _written(form)
        return
    st.multiselect(
        "Fields that count",
        list(dict.fromkeys([*names, *now.fields])),
        default=list(now.fields),
        format_func=lambda name: short(name, 40),
        help="Leave it empty to count all of them.",
        **bound(
            draft,
            form,
            form.key("composition", "fields", fingerprint(repr(names))),
            lambda data, fields: set_composition(data, now.kind, fields, _now(data).n),
        ),
    )


def _now(data: FormData) -> Composition:
    try:
        return composition_of(data)
    except InputError:
        return Composition("nested", ())  # `_written` says what it is


def _counted(data: FormData) -> tuple[Sequence[str], int]:
    """Return what counts, and how much of it, as it is when a widget is changed; other changes may come first."""
    now = _now(data)
    return now.fields, now.n


def _written(form: Form) -> None:
    try:
        told = write_condition(condition_from_dict(form.data["verify_strategy"]))
    except (KareninaError, ValueError):
        told = "It is not complete."
    st.caption(f"{plain(told, 500)} A nested composition is edited in the source; choosing another one replaces it.")
