"""The import doctor's table: every finding by row, with what is done about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.benchmark import Choice, Choices, Finding, Import
from karenina_core.csv_text import csv_text
from karenina_core.text import counted
from pages.components.text import plain, short
from pages.components.widgets import fingerprint

_WORDS: dict[Choice, str] = {"fix": "Fix", "keep": "Leave as it is", "skip": "Leave the row out"}
_CHOICE_OF = {word: choice for choice, word in _WORDS.items()}
_VIEWS = {"all": "All", "out": "Left out", "fixed": "Fixed", "as_is": "As they are"}
_OF_VIEW = {"out": "skip", "fixed": "fix", "as_is": "keep"}
_MOST = 1_000
_CHANGED = "_doctor_changed"
_ROW_HEIGHT = 35

Key = Callable[[str], str]


def draw(found: Import, choices: Choices, key: Key) -> Choices | None:
    """Draw the findings and return the decisions when they have changed.

    Args:
        found: What the doctor says.
        choices: What was decided so far.
        key: Makes the key of a widget from its name.
    """
    _headline(found)
    kept = _columns(found, key)
    if kept:
        return _decided(choices, kept)
    findings = [finding for finding in found.findings if finding.row is not None]
    if not findings:
        st.caption("Nothing is wrong with any row.")
        return None
    view, code = _filters(findings, key)
    shown = [
        finding
        for finding in findings
        if (view == "all" or finding.choice == _OF_VIEW[view]) and code in (None, finding.code)
    ]
    listed = shown[:_MOST]
    st.caption(
        f"{len(listed):,} of {counted(len(findings), 'finding')} shown. Change what is done in the column "
        "“Do”, or type a new value for the cell."
    )
    _table(listed, choices, key)
    with st.container(horizontal=True):
        for choice, word in _WORDS.items():
            able = [finding for finding in shown if choice in finding.choices and finding.choice != choice]
            if st.button(f"{word} ({len(able)})", key=key(f"bulk_{choice}"), disabled=not able):
                return _decided(choices, {finding.key: choice for finding in able})
        st.download_button(
            "Findings as CSV",
            lambda: as_csv(found.findings),
            file_name="findings.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
            key=key("findings_csv"),
        )
    changed = st.session_state.pop(_CHANGED, None)
    return changed if isinstance(changed, Choices) else None


def as_csv(findings: Sequence[Finding]) -> bytes:
    """Return findings as a CSV file."""
    rows = (
        (finding.row, finding.column, finding.code, finding.what, finding.why, finding.fix, _WORDS[finding.choice])
        for finding in findings
    )
    return csv_text(("Row", "Column", "Code", "What", "Why", "Fix", "Done"), rows).encode("utf-8-sig", "replace")


def taken(edits: Mapping[int, Mapping[str, Any]], listed: Sequence[Finding], choices: Choices) -> Choices:
    """Return the decisions with what was changed in the table.

    Args:
        edits: Position in the table → column → new value, as the table reports them.
        listed: The findings of the table.
        choices: The decisions so far.
    """
    decided = dict(choices.of_findings)
    typed = dict(choices.edits)
    for position, changes in edits.items():
        finding = listed[position]
        choice = _CHOICE_OF.get(str(changes.get("Do")))
        if choice in finding.choices:
            decided[finding.key] = choice
        if "Value" in changes and finding.row is not None and finding.column is not None:
            place = (finding.row, finding.column)
            value = changes["Value"]
            typed.pop(place, None)
            if value is not None:
                typed[place] = str(value)
    return Choices(decided, typed)


def _headline(found: Import) -> None:
    fixed = sum(finding.choice == "fix" and finding.row is not None for finding in found.findings)
    parts = [f"**{found.good} of {counted(found.total, 'row')} can be imported**"]
    if found.left_out:
        parts.append(f"{len(found.left_out)} left out")
    if fixed:
        parts.append(counted(fixed, "cell") + " put right")
    if found.models:
        parts.append(f"{sum(found.models.values())} answers of {counted(len(found.models), 'model')}")
    sign = ":material/check_circle:" if not found.left_out else ":material/stethoscope:"
    st.markdown(f"{sign} {' · '.join(parts)}")


def _columns(found: Import, key: Key) -> dict[Any, Choice] | None:
    """Name the columns that will not be imported; return the decision to keep them when it is made."""
    columns = [finding for finding in found.findings if finding.row is None]
    unsaid = [finding for finding in columns if finding.choice != "fix"]
    kept = [finding for finding in columns if finding.choice == "fix"]
    if kept:
        st.caption(f":material/label: Kept as custom metadata: {_names(kept)}.")
    if not unsaid:
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/view_column: Nothing is said about, so not imported: **{_names(unsaid)}**")
        if st.button("Keep as custom metadata", key=key("keep_columns"), icon=":material/label:"):
            return {finding.key: "fix" for finding in unsaid}
    return None


def _names(findings: Sequence[Finding]) -> str:
    more = f" and {len(findings) - 8} more" if len(findings) > 8 else ""
    return ", ".join(plain(finding.column, 40) for finding in findings[:8]) + more


def _filters(findings: Sequence[Finding], key: Key) -> tuple[str, str | None]:
    counts = {name: sum(finding.choice == choice for finding in findings) for name, choice in _OF_VIEW.items()}
    counts["all"] = len(findings)
    codes = list(dict.fromkeys(finding.code for finding in findings))
    with st.container(horizontal=True, vertical_alignment="center"):
        view = st.segmented_control(
            "View",
            list(_VIEWS),
            default="all",
            required=True,
            format_func=lambda name: f"{_VIEWS[name]} {counts[name]}",
            key=key("view"),
            label_visibility="collapsed",
        )
        code = st.selectbox(
            "Kind",
            [None, *codes],
            format_func=lambda name: _title(findings, name) if name else "Every kind of finding",
            key=key("code"),
            label_visibility="collapsed",
            width=320,
        )
    return view or "all", code


def _title(findings: Sequence[Finding], code: str) -> str:
    count = sum(finding.code == code for finding in findings)
    first = next(finding.what for finding in findings if finding.code == code)
    return f"{count} × {short(first.split(':')[0], 50)}"


def _table(listed: Sequence[Finding], choices: Choices, key: Key) -> None:
    # A new key for every state of the table: edits are reported by position.
    state = fingerprint(repr([(finding.key, finding.choice) for finding in listed]))
    name = key(f"doctor_{state}_{hash((len(choices.edits), len(choices.of_findings)))}")

    def note() -> None:
        edited = st.session_state[name].get("edited_rows", {})
        st.session_state[_CHANGED] = taken({int(at): changes for at, changes in edited.items()}, listed, choices)

    st.data_editor(
        [
            {
                "Row": finding.row,
                "Column": short(finding.column, 40) if finding.column else "",
                "What": short(finding.what, 200),
                "Do": _WORDS[finding.choice],
                "Value": short(finding.value, 200) if finding.value else None,
                "Why, and what helps": short(f"{finding.why} {finding.fix}", 300),
            }
            for finding in listed
        ],
        hide_index=True,
        num_rows="fixed",
        key=name,
        on_change=note,
        alt="Findings",
        disabled=("Row", "Column", "What", "Why, and what helps"),
        height="content" if len(listed) < 10 else 10 * _ROW_HEIGHT,
        column_config={
            "Row": st.column_config.NumberColumn(width=60, format="%d"),
            "Column": st.column_config.TextColumn(width=130),
            "What": st.column_config.TextColumn(width=300),
            "Do": st.column_config.SelectboxColumn(width=150, options=list(_WORDS.values()), required=True),
            "Value": st.column_config.TextColumn(width=200),
            "Why, and what helps": st.column_config.TextColumn(width=420),
        },
    )


def _decided(choices: Choices, more: Mapping[Any, Choice]) -> Choices:
    return Choices({**choices.of_findings, **more}, choices.edits)
