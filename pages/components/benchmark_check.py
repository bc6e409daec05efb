"""What is to be mended in a whole benchmark: every finding of the linter, with fixes that need one click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from karenina_core.analysis.summary import counted
from karenina_core.authoring import BenchmarkFindings, Finding, lint, lint_benchmark
from karenina_core.authoring.benchmark_repair import mend
from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from pages.components import benchmark_choice, feedback, frame, services, state, upload
from pages.components.picker import pick
from pages.components.text import plain, short

_SIGNS = {"error": "✗ error", "warning": "! warning", "hint": "i hint"}
_BADGES = {
    "error": ":red-badge[:material/error: error]",
    "warning": ":orange-badge[:material/warning: warning]",
    "hint": ":blue-badge[:material/info: hint]",
}
_GLOBAL = "All questions"


@dataclass(frozen=True)
class Place:
    """A finding and where it is.

    Attributes:
        question_id: The question; None for the global rubric.
        in_rubric: Whether it is about a trait rather than the template.
    """

    question_id: str | None
    in_rubric: bool
    finding: Finding

    @property
    def key(self) -> str:
        """What identifies it among the findings of the benchmark."""
        return f"{self.question_id}/{self.in_rubric}/{self.finding.code}/{self.finding.field}/{self.finding.what}"


def draw(row: BenchmarkRow) -> None:
    """Draw the section."""
    benchmark = benchmark_choice.reading(row.id, row.revision)
    with st.spinner("Looking through every template …", show_time=True):
        places = _places(found(row.id, row.revision))
    _headline(places)
    if places:
        _list(row, benchmark, places)
    problems = benchmark_choice.checked(row.id, row.revision).problems
    st.markdown("**The benchmark as a whole**")
    upload.problems_table(problems)


@st.cache_resource(max_entries=8, show_spinner=False)
def found(benchmark_id: str, revision: int) -> BenchmarkFindings:
    """Return the findings of a stored benchmark."""
    return lint_benchmark(benchmark_choice.reading(benchmark_id, revision), lint_template=_linted)


# After an edit of one question, the templates of all others need no second look.
@lru_cache(maxsize=20_000)
def _linted(source: str, *, question: str, reference_answer: str, config: None) -> tuple[Finding, ...]:
    return tuple(lint(source, question=question, reference_answer=reference_answer))


def _places(findings: BenchmarkFindings) -> list[Place]:
    every = [Place(None, True, finding) for finding in findings.rubric]
    for name, of_question in findings.questions.items():
        every += [Place(name, False, finding) for finding in of_question.template]
        every += [Place(name, True, finding) for finding in of_question.rubric]
    return sorted(every, key=lambda place: list(_SIGNS).index(place.finding.severity))


def in_short(findings: BenchmarkFindings) -> str:
    """Return how many findings of which severity there are."""
    parts = [counted(number, severity) for severity, number in findings.count.items() if number]
    return " · ".join(parts) or "nothing to mend"


def _headline(places: Sequence[Place]) -> None:
    if not places:
        st.caption(":material/check_circle: Nothing is to be mended in the templates and rubrics.")
        return
    count = Counter(place.finding.severity for place in places)
    words = " · ".join(counted(count[name], name) for name in _SIGNS if count[name])
    fixable = sum(place.finding.fix is not None for place in places)
    st.markdown(f"**{words}** in {counted(len({place.question_id for place in places}), 'place')}")
    st.caption(
        "Errors let right answers fail or wrong ones pass; warnings are probably not as meant; hints could be better. "
        f"{fixable} of {counted(len(places), 'finding')} can be fixed with one click."
    )


def _list(row: BenchmarkRow, benchmark: Benchmark, places: Sequence[Place]) -> None:
    shown = _filtered(row, places)
    left, right = st.columns([60, 40], gap="medium")
    with left:
        by_key = {place.key: place for place in shown}
        remembered = st.session_state.get("_finding")
        first = remembered if remembered in by_key else next(iter(by_key))
        columns = {
            "Severity": st.column_config.TextColumn(width=90),
            "What": st.column_config.TextColumn(width=230),
            "Question": st.column_config.TextColumn(width=160),
            "Field or trait": st.column_config.TextColumn(width=120),
            "Fix": st.column_config.TextColumn(width=180),
        }
        rows = [_row(benchmark, place) for place in by_key.values()]
        picked = pick("findings_table", list(by_key), rows, first, alt="Findings", most=12, columns=columns)
        st.session_state["_finding"] = picked
    with right:
        _detail(row, benchmark, by_key[picked or first])


def _filtered(row: BenchmarkRow, places: Sequence[Place]) -> Sequence[Place]:
    """Draw the choice of one kind of finding, and the fix for all of it; return the findings of that kind."""
    codes = Counter(place.finding.code for place in places)
    options = [None, *(code for code, _ in codes.most_common())]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        code = st.selectbox(
            "Kind of finding",
            options,
            format_func=lambda name: f"{in_words(name)} ({codes[name]})" if name else f"All kinds ({len(places)})",
            key=f"check_kind_{row.id}_{len(options)}",
            width=320,
        )
        shown = [place for place in places if code in (None, place.finding.code)]
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
        "What": short(finding.what, 160),
        "Question": short(_asked(benchmark, place), 100),
        "Field or trait": short(finding.field or "", 40),
        "Fix": short(finding.fix.label, 60) if finding.fix else "",
    }


def _asked(benchmark: Benchmark, place: Place) -> str:
    return _GLOBAL if place.question_id is None else benchmark.get_question(place.question_id).question


def _detail(row: BenchmarkRow, benchmark: Benchmark, place: Place) -> None:
    finding = place.finding
    with st.container(border=True):
        where = f" · {plain(finding.field, 60)}" if finding.field else ""
        st.markdown(f"{_BADGES[finding.severity]} **{in_words(finding.code)}**{where}")
        st.caption(plain(_asked(benchmark, place), 240))
        st.markdown(plain(finding.what, 400))
        st.markdown(f"*Why it matters:* {plain(finding.why, 400)}")
        st.markdown(f"*What to do:* {plain(finding.next, 400)}")
        with st.container(horizontal=True):
            if finding.fix is not None and st.button(
                plain(finding.fix.label, 60), type="primary", icon=":material/auto_fix_high:", key="check_fix"
            ):
                _mend(row, [place], finding.field)
            if st.button("Open in the editor", icon=":material/edit:", key="check_open"):
                _open(row, place)


def _mend(row: BenchmarkRow, places: Sequence[Place], field: str | None) -> None:
    before = services.store().load_benchmark(row.id)
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            made = mend(benchmark, [place.question_id for place in places], places[0].finding.code, field)
        if not made:
            feedback.say("The source holds code of its own here; open it in the editor.")
            st.rerun()
        revision = services.store().benchmark(row.id).revision

        def undo() -> None:
            # Whatever was changed after the fix would be lost; then the store refuses.
            services.store().save_benchmark(before, row.id, expected_revision=revision)

        feedback.offer_undo(f"Fixed {counted(made, 'finding')}.", undo)
        st.rerun()


def _open(row: BenchmarkRow, place: Place) -> None:
    if place.in_rubric:
        link = {"benchmark": row.id, "scope": "question" if place.question_id else "global"}
        st.switch_page(frame.RUBRICS, query_params=link | ({"q": place.question_id} if place.question_id else {}))
    assert place.question_id is not None
    state.choose("q", place.question_id)
    st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id, "q": place.question_id})


def in_words(code: str) -> str:
    """Return the short name of a kind of finding for people."""
    return code.replace("_", " ").capitalize()
