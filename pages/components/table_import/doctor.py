"""The import doctor's table: every finding by row, with what is done about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from karenina_core.benchmark import Choice, Choices, Finding, Import
from karenina_core.sheets import csv_text
from karenina_core.text import counted
from pages.components import forms
from pages.components.text import plain, short
from pages.components.widgets import ROW_HEIGHT, download, fingerprint

_ACTIONS: dict[Choice, str] = {"fix": "Fix", "keep": "Leave as it is", "skip": "Leave the row out"}
_CHOICES = {word: choice for choice, word in _ACTIONS.items()}
_VIEWS = {
    "All": lambda finding: True,
    "Left out": lambda finding: finding.choice == "skip",
    "Fixed": lambda finding: finding.choice == "fix",
    "As they are": lambda finding: finding.choice == "keep",
}
_MOST = 1_000
_CHANGED = "_doctor_changed"

Key = Callable[[str], str]
"""Makes the key of a widget from its name."""


def draw(examined: Import, choices: Choices, key: Key) -> Choices | None:
    """Draw the findings and return the decisions when they have changed.

    Args:
        examined: What the doctor says.
        choices: What was decided so far.
        key: Makes the key of a widget from its name.
    """
    _headline(examined)
    stored = _columns(examined, key)
    if stored:
        return _decided(choices, stored)
    findings = [finding for finding in examined.findings if finding.row is not None]
    if not findings:
        st.caption("Nothing is wrong with any row.")
        return None
    shown = _filtered(findings, key)
    listed = shown[:_MOST]
    st.caption(
        f"{len(listed):,} of {counted(len(findings), 'finding')} shown. Choose what to do in the column “Do”, or type "
        "a new value for the cell."
    )
    _table(listed, choices, key)
    with st.container(horizontal=True):
        for choice, word in _ACTIONS.items():
            able = [finding for finding in shown if choice in finding.choices and finding.choice != choice]
            if st.button(f"{word} ({len(able)})", key=key(f"bulk_{choice}"), disabled=not able):
                return _decided(choices, {finding.key: choice for finding in able})
        make = partial(as_csv, examined.findings)
        download("Findings as CSV", make, "findings.csv", "text/csv", key=key("findings_csv"))
    changed: Choices | None = st.session_state.pop(_CHANGED, None)
    return changed


def as_csv(findings: Sequence[Finding]) -> bytes:
    """Return findings as a CSV file."""
    rows = (
        (finding.row, finding.column, finding.code, finding.what, finding.advice, _ACTIONS[finding.choice])
        for finding in findings
    )
    return csv_text(("Row", "Column", "Code", "What", "Advice", "Done"), rows).encode("utf-8-sig", "replace")


def with_edits(edits: Mapping[int, Mapping[str, Any]], listed: Sequence[Finding], choices: Choices) -> Choices:
    """Return the decisions with what was changed in the table.

    Args:
        edits: Position in the table → column → new value, as the table reports them.
        listed: The findings of the table.
        choices: The decisions so far.
    """
    decided, typed = dict(choices.of_findings), dict(choices.edits)
    for position, changes in edits.items():
        finding = listed[position]
        choice = _CHOICES.get(str(changes.get("Do")))
        if choice in finding.choices:
            decided[finding.key] = choice
        if "Value" in changes and finding.row is not None and finding.column is not None:
            place, value = (finding.row, finding.column), changes["Value"]
            typed.pop(place, None)
            if value is not None:
                typed[place] = str(value)
    return Choices(decided, typed)


def _headline(examined: Import) -> None:
    fixed = sum(finding.choice == "fix" and finding.row is not None for finding in examined.findings)
    answers = f"{sum(examined.models.values())} answers of {counted(len(examined.models), 'model')}"
    parts = [
        f"**{examined.good} of {counted(examined.total, 'row')} can be imported**",
        f"{len(examined.left_out)} left out" if examined.left_out else "",
        f"{counted(fixed, 'cell')} fixed" if fixed else "",
        answers if examined.models else "",
    ]
    sign = ":material/stethoscope:" if examined.left_out else ":material/check_circle:"
    st.markdown(f"{sign} {' · '.join(part for part in parts if part)}")


def _columns(examined: Import, key: Key) -> dict[Any, Choice] | None:
    """Name the columns that will not be imported; return the decision to store them when it is made."""
    columns = [finding for finding in examined.findings if finding.row is None]
    stored = [finding for finding in columns if finding.choice == "fix"]
    unused = [finding for finding in columns if finding.choice != "fix"]
    if stored:
        st.caption(f":material/label: Stored as custom metadata: {_names(stored)}.")
    if unused:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/view_column: Not used, so not imported: **{_names(unused)}**")
            if forms.button("Store as custom metadata", "label", key("keep_columns")):
                return {finding.key: "fix" for finding in unused}
    return None


def _names(findings: Sequence[Finding]) -> str:
    return forms.first_few((plain(finding.column, 40) for finding in findings), 8)


def _filtered(findings: Sequence[Finding], key: Key) -> list[Finding]:
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.code, []).append(finding)
    names = {"": "Every kind of finding"} | {
        code: f"{len(some)} × {short(some[0].what.split(':')[0], 50)}" for code, some in kinds.items()
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = forms.viewed(key("doctor"), {str(at): item for at, item in enumerate(findings)}, _VIEWS)
        code = forms.select("Kind", names, key("code"), label_visibility="collapsed", width=320)
    return [finding for finding in shown.values() if code in ("", finding.code)]


def _table(listed: Sequence[Finding], choices: Choices, key: Key) -> None:
    # A new key for every state of the table: edits are reported by position.
    about = fingerprint(repr([(finding.key, finding.choice) for finding in listed]))
    name = key(f"doctor_{about}_{len(choices.edits)}_{len(choices.of_findings)}")

    def note() -> None:
        edited = st.session_state[name].get("edited_rows", {})
        st.session_state[_CHANGED] = with_edits({int(at): cells for at, cells in edited.items()}, listed, choices)

    rows = [
        {
            "Row": finding.row,
            "Column": short(finding.column, 40) if finding.column else "",
            "What": short(finding.what, 200),
            "Do": _ACTIONS[finding.choice],
            "Value": short(finding.value, 200) if finding.value else None,
            "Why, and what helps": short(finding.advice, 300),
        }
        for finding in listed
    ]
    actions = st.column_config.SelectboxColumn(width=150, options=list(_ACTIONS.values()), required=True)
    st.data_editor(
        rows,
        hide_index=True,
        num_rows="fixed",
        key=name,
        on_change=note,
        alt="Findings",
        disabled=("Row", "Column", "What", "Why, and what helps"),
        height="content" if len(listed) < 10 else 10 * ROW_HEIGHT,
        column_config={
            "Row": st.column_config.NumberColumn(width=60, format="%d"),
            "Do": actions,
            **forms.widths(**{"Column": 130, "What": 300, "Value": 200, "Why, and what helps": 420}),
        },
    )


def _decided(choices: Choices, more: Mapping[Any, Choice]) -> Choices:
    return Choices({**choices.of_findings, **more}, choices.edits)
