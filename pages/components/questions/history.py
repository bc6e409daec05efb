"""What a question was before: the list of its versions, what each save changed, and going back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.benchmark import BenchmarkQuestion
from karenina_core.differences import Piece, line_diff, word_diff
from karenina_core.runs import FIELDS, KEPT_VERSIONS, BenchmarkRow, QuestionVersion, content_of, restore_version
from karenina_core.text import counted
from pages.components import feedback, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafts import Draft
from pages.components.text import plain, short, visible
from pages.components.widgets import pick

NAMES = {
    "question": "text",
    "raw_answer": "reference answer",
    "keywords": "keywords",
    "answer_notes": "notes",
    "finished": "finished",
    "answer_template": "template",
    "question_rubric": "rubric",
    "author": "author",
    "sources": "sources",
    "few_shot_examples": "few-shot examples",
    "workspace_path": "workspace path",
    "custom_metadata": "custom metadata",
    "deleted": "deleted",
}
_TEXTS = frozenset({"question", "raw_answer", "answer_notes", "workspace_path"})
_BLANKS = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})
_THEN = "What this save changed"
_NOW = "What is different now"


def draw(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw the versions of a question."""
    versions = services.store().benchmarks.versions(row.id, question.id)
    if not versions:
        st.info("There is no earlier version yet. Every save keeps what it replaces.", icon=":material/history:")
        return
    st.caption(f"{counted(len(versions), 'earlier version')}; the last {KEPT_VERSIONS} are kept. Times are UTC.")
    by_id = {str(version.id): version for version in versions}
    latest = next(iter(by_id))
    # A new version makes earlier choices out of date: what was just saved is what one looks for.
    key = f"_version_of_{row.id}_{question.id}_{latest}"
    known = st.session_state.get(key)
    chosen = known if known in by_id else latest
    rows = [_row(version) for version in versions]
    columns = {
        "Replaced": st.column_config.TextColumn(width=150),
        "By": st.column_config.TextColumn(width=140),
        "Changed": st.column_config.TextColumn(width="large"),
    }
    chosen = pick("version_table", list(by_id), rows, chosen, alt="Versions", most=6, columns=columns) or chosen
    st.session_state[key] = chosen
    version = by_id[chosen]
    present = content_of(question)
    way = st.segmented_control(
        "Compare", [_THEN, _NOW], default=_THEN, required=True, key="version_compare", label_visibility="collapsed"
    )
    _differences(version.content, present if way == _NOW else _after(versions, version, present))
    _revert(row, question, version, present, draft)


def _row(version: QuestionVersion) -> Mapping[str, str]:
    return {
        "Replaced": version.saved[:19].replace("T", " "),
        "By": short(version.author, 60) or "–",
        "Changed": ", ".join(NAMES[name] for name in version.changed),
    }


def _after(versions: Sequence[QuestionVersion], version: QuestionVersion, present: Mapping[str, Any]) -> Any:
    place = versions.index(version)
    return versions[place - 1].content if place else present


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    changed = [name for name in FIELDS if before[name] != after[name]]
    if not changed:
        st.caption(":material/check_circle: There is no difference.")
    for name in changed:
        st.markdown(f"**{NAMES[name].capitalize()}**")
        _difference(name, before[name], after[name])


def _difference(name: str, before: Any, after: Any) -> None:
    if name in _TEXTS:
        st.markdown("".join(map(marked, word_diff(before or "", after or ""))))
        st.caption(":red[~~struck out~~]: only before · :green[**bold**]: only after")
    elif name == "finished":
        st.markdown("not finished → **finished**" if after else "finished → **not finished**")
    else:
        st.code(visible(line_diff(_lines(before), _lines(after))), language="diff", wrap_lines=True)


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
    help_text = (
        "The question is as it was then." if same else "Everything of it becomes what it was then; can be undone."
    )
    if draft.edits:
        help_text = "Save or discard your unsaved edits first."
    if not st.button(
        "Go back to before this save",
        icon=":material/settings_backup_restore:",
        key="revert_version",
        disabled=bool(draft.edits) or same,
        help=help_text,
    ):
        return
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            new_id = restore_version(benchmark, question.id, version.content)

        def undo() -> None:
            with benchmark_choice.changing(row.id) as benchmark:
                restore_version(benchmark, new_id, present)
            state.choose("q", question.id)

        state.choose("q", new_id)
        moment = plain(version.saved[:16].replace("T", " "))
        feedback.offer_undo(f"Reverted **{plain(question.question, 50)}** to what it was before {moment}", undo)
        st.rerun()
