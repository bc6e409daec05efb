"""What is to be mended in a whole benchmark: every finding of the linter, with fixes that need one click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import mend
from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, frame, services, sign_in, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.benchmarks import finishing, places
from pages.components.benchmarks.places import Place
from pages.components.drafting import link as drafting_link
from pages.components.text import plain, short
from pages.components.widgets import pick

_SIGNS = {"error": "✗ error", "warning": "! warning", "hint": "i hint"}
_BADGES = {
    "error": ":red-badge[:material/error: error]",
    "warning": ":orange-badge[:material/warning: warning]",
    "hint": ":blue-badge[:material/info: hint]",
}
_GLOBAL, _WHOLE = "All questions", "The benchmark as a whole"


def draw(row: BenchmarkRow) -> None:
    """Draw the section."""
    benchmark = benchmark_choice.reading(row.id, row.revision)
    with st.spinner("Looking through every template …", show_time=True):
        found = places.found(row.id, row.revision)
    every = places.places(found, benchmark_choice.checked(row.id, row.revision).problems)
    _headline(every)
    finishing.draw(row, benchmark, places.checked(row.id, row.revision))
    drafting_link.draw(row, benchmark)
    if every:
        _list(row, benchmark, every)


def _headline(found: Sequence[Place]) -> None:
    if not found:
        st.caption(":material/check_circle: Nothing is to be mended in the questions, templates and rubrics.")
        return
    count: Counter[str] = Counter(place.finding.severity for place in found)
    words = " · ".join(counted(count[name], name) for name in _SIGNS if count[name])
    fixable = sum(place.finding.fix is not None for place in found)
    st.markdown(f"**{words}** in {counted(len({place.question_id for place in found}), 'place')}")
    st.caption(
        "Errors let right answers fail or wrong ones pass; warnings are probably not as meant; hints could be better. "
        f"{fixable} of {counted(len(found), 'finding')} can be fixed with one click."
    )


def _list(row: BenchmarkRow, benchmark: Benchmark, found: Sequence[Place]) -> None:
    shown = _filtered(row, found)
    left, right = st.columns([60, 40], gap="medium")
    with left:
        by_key = {place.key: place for place in shown}
        remembered = st.session_state.get("_finding")
        first = remembered if remembered in by_key else next(iter(by_key))
        columns = {
            "Severity": st.column_config.TextColumn(width=90),
            "Question": st.column_config.TextColumn(width=220),
            "What": st.column_config.TextColumn(width=230),
            "Field or trait": st.column_config.TextColumn(width=120),
            "Fix": st.column_config.TextColumn(width=180),
        }
        rows = [_row(benchmark, place) for place in by_key.values()]
        picked = pick("findings_table", list(by_key), rows, first, alt="Findings", most=12, columns=columns)
        st.session_state["_finding"] = picked
    with right:
        _detail(row, benchmark, by_key[picked or first])


def _filtered(row: BenchmarkRow, found: Sequence[Place]) -> Sequence[Place]:
    """Draw the choice of one kind of finding, and the fix for all of it; return the findings of that kind."""
    codes = Counter(place.finding.code for place in found)
    options = [None, *(code for code, _ in codes.most_common())]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        code = st.selectbox(
            "Kind of finding",
            options,
            format_func=lambda name: (
                f"{places.in_words(name)} ({codes[name]})" if name else f"All kinds ({len(found)})"
            ),
            key=f"check_kind_{row.id}_{len(options)}",
            width=320,
        )
        shown = [place for place in found if code in (None, place.finding.code)]
        fixable = [place for place in shown if place.finding.fix is not None]
        if (
            code is not None
            and fixable
            and st.button(f"Fix all {len(fixable)}", icon=":material/auto_fix_high:", key="check_fix_all")
        ):
            _mend(row, fixable, None)
    return shown


def _row(benchmark: Benchmark, place: Place) -> dict[str, Any]:
    finding = place.finding
    return {
        "Severity": _SIGNS[finding.severity],
        "Question": short(_asked(benchmark, place), 100),
        "What": short(finding.what, 160),
        "Field or trait": short(finding.field or "", 40),
        "Fix": short(finding.fix.label, 60) if finding.fix else "",
    }


def _asked(benchmark: Benchmark, place: Place) -> str:
    if place.on_whole:
        return _WHOLE
    return _GLOBAL if place.question_id is None else benchmark.get_question(place.question_id).question


def _detail(row: BenchmarkRow, benchmark: Benchmark, place: Place) -> None:
    finding = place.finding
    with st.container(border=True):
        where = f" · {plain(finding.field, 60)}" if finding.field else ""
        st.markdown(f"{_BADGES[finding.severity]} **{places.in_words(finding.code)}**{where}")
        st.caption(plain(_asked(benchmark, place), 240))
        st.markdown(plain(finding.what, 400))
        if finding.why:
            st.markdown(f"*Why it matters:* {plain(finding.why, 400)}")
        if finding.next:
            st.markdown(f"*What to do:* {plain(finding.next, 400)}")
        with st.container(horizontal=True):
            if finding.fix is not None and st.button(
                plain(finding.fix.label, 60), type="primary", icon=":material/auto_fix_high:", key="check_fix"
            ):
                _mend(row, [place], finding.field)
            if not place.on_whole and st.button("Open in the editor", icon=":material/edit:", key="check_open"):
                _open(row, place)


def _mend(row: BenchmarkRow, found: Sequence[Place], field: str | None) -> None:
    before = services.store().benchmarks.load(row.id)
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            made = mend(benchmark, [place.question_id for place in found], found[0].finding.code, field)
        if not made:
            feedback.say("The source holds code of its own here; open it in the editor.")
            st.rerun()
        revision = services.store().benchmarks.row(row.id).revision

        def undo() -> None:
            # Whatever was changed after the fix would be lost; then the store refuses.
            services.store().benchmarks.save(before, row.id, expected_revision=revision, author=sign_in.person())

        feedback.offer_undo(f"Fixed {counted(made, 'finding')}.", undo)
        st.rerun()


def _open(row: BenchmarkRow, place: Place) -> None:
    if place.in_rubric:
        link = {"benchmark": row.id, "scope": "question" if place.question_id else "global"}
        st.switch_page(frame.RUBRICS, query_params=link | ({"q": place.question_id} if place.question_id else {}))
    assert place.question_id is not None
    state.choose("q", place.question_id)
    st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id, "q": place.question_id})
