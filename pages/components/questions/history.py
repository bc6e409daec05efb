"""What a question was before: the list of its versions, what each save changed, and going back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.differences import Piece, line_diff, word_diff
from karenina_core.runs import FIELDS, KEPT_VERSIONS, BenchmarkRow, QuestionVersion, content_of, restore_version
from karenina_core.text import counted
from pages.components import forms, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafts import Draft
from pages.components.text import plain, short, visible

NAMES = {
    "question": "text",
    "raw_answer": "reference answer",
    "answer_notes": "notes",
    "answer_template": "template",
    "question_rubric": "rubric",
    "few_shot_examples": "few-shot examples",
}
"""What fields are called, where that is not their name."""
_TEXTS = frozenset({"question", "raw_answer", "answer_notes", "workspace_path"})
_BLANKS = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})
_COMPARE = {"then": "What this save changed", "now": "What is different now"}


def draw(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw the versions of a question."""
    versions = services.store().benchmarks.versions(row.id, question.id)
    if not versions:
        st.info("There is no earlier version yet. Every save stores what it replaces.", icon=":material/history:")
        return
    st.caption(f"{counted(len(versions), 'earlier version')}; the last {KEPT_VERSIONS} are stored. Times are UTC.")
    by_id = {str(version.id): version for version in versions}
    # A new version makes earlier choices out of date: what was just saved is what one looks for.
    list_name = f"versions_{question.id}_{versions[0].id}"
    columns = forms.widths(Replaced=150, By=140, Changed="large")
    version = forms.browse(list_name, by_id, _row, alt="Versions", most=6, columns=columns) or versions[0]
    present = content_of(question)
    after: Any = present
    if forms.segments("Compare", _COMPARE, "version_compare") == "then" and version != versions[0]:
        after = versions[versions.index(version) - 1].content
    _differences(version.content, after)
    _revert(row, question, version, present, draft)


def _row(version: QuestionVersion) -> Mapping[str, str]:
    return {
        "Replaced": version.saved[:19].replace("T", " "),
        "By": short(version.author, 60) or "–",
        "Changed": ", ".join(map(name_of, version.changed)),
    }


def name_of(field: str) -> str:
    """Return what a field is called within a sentence."""
    return NAMES.get(field, field.replace("_", " "))


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    changed = [name for name in FIELDS if before[name] != after[name]]
    if not changed:
        st.caption(":material/check_circle: There is no difference.")
    for name in changed:
        st.markdown(f"**{name_of(name).capitalize()}**")
        if name in _TEXTS:
            st.markdown("".join(map(marked, word_diff(before[name] or "", after[name] or ""))))
            st.caption(":red[~~struck out~~]: only before · :green[**bold**]: only after")
        elif name == "finished":
            st.markdown("not finished → **finished**" if after[name] else "finished → **not finished**")
        else:
            lines = line_diff(_lines(before[name]), _lines(after[name]))
            st.code(visible(lines), language="diff", wrap_lines=True)


def marked(piece: Piece) -> str:
    """Return a piece of a difference as Markdown; struck out or bold, so that colour is not the only sign."""
    if piece.kind == "same":
        return plain(piece.text).replace("\n", "  \n")
    # Blanks at the edge of a mark would keep Markdown from seeing it.
    core = piece.text.strip() or piece.text.translate(_BLANKS)
    body = plain(core).replace("\n", " ⏎ ")
    shown = f":red[~~{body}~~]" if piece.kind == "removed" else f":green[**{body}**]"
    return f"{' ' if piece.text[0].isspace() else ''}{shown}{' ' if piece.text[-1].isspace() else ''}"


def _lines(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _revert(
    row: BenchmarkRow, question: BenchmarkQuestion, version: QuestionVersion, present: Mapping[str, Any], draft: Draft
) -> None:
    same = all(version.content[name] == present[name] for name in ("id", *FIELDS))
    help_text = "Everything about the question becomes what it was then; can be undone."
    if draft.edits:
        help_text = "Save or discard your unsaved edits first."
    elif same:
        help_text = "The question is as it was then."
    options = {"disabled": bool(draft.edits) or same, "help": help_text}
    if not forms.button("Go back to before this save", "settings_backup_restore", "revert_version", **options):
        return
    then = str(version.content["id"])

    def revert(benchmark: Benchmark) -> str:
        restore_version(benchmark, question.id, version.content)
        moment = plain(version.saved[:16].replace("T", " "))
        return f"Reverted **{plain(question.question, 50)}** to what it was before {moment}"

    benchmark_choice.apply(
        row, revert, lambda it: restore_version(it, then, present), then=lambda: state.choose("q", then), q=question.id
    )
