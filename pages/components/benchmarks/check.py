"""Everything to fix in a whole benchmark: what the linter says, and what stands in the way of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from karenina_core.authoring import (
    REVIEW_PROPERTY,
    BenchmarkFindings,
    Finding,
    Severity,
    lint,
    lint_benchmark,
    repair_benchmark,
)
from karenina_core.benchmark import UNFINISHED, Benchmark, Problem
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafting import start as drafting
from pages.components.text import plain, short

_SEVERITIES: dict[str, Severity] = {"error": "error", "warning": "warning", "info": "hint"}
_ORDER = list(_SEVERITIES.values())
_NAMES = {"no_answer": "No reference answer", "empty": "No questions", "other": "Note"}


@dataclass(frozen=True)
class Place:
    """A finding and where it is.

    Attributes:
        question_id: The question; None for the global rubric and the benchmark as a whole.
        in_rubric: Whether it is about a trait.
        finding: What it is.
        on_whole: Whether it is about the benchmark as a whole.
    """

    question_id: str | None
    in_rubric: bool
    finding: Finding
    on_whole: bool = False

    @property
    def key(self) -> str:
        """What identifies it among the findings of the benchmark."""
        return f"{self.question_id}/{self.in_rubric}/{self.finding.code}/{self.finding.field}/{self.finding.what}"

    def subject(self, benchmark: Benchmark) -> str:
        """Return what it is about in words, such as the text of the question."""
        if self.on_whole:
            return "The benchmark as a whole"
        return "All questions" if self.question_id is None else benchmark.get_question(self.question_id).question


@st.cache_resource(max_entries=8, show_spinner=False)
def _findings(benchmark_id: str, revision: int) -> BenchmarkFindings:
    return lint_benchmark(benchmark_choice.reading(benchmark_id, revision), lint_template=_linted)


# After an edit of one question, the templates of all others need no second look.
@lru_cache(maxsize=20_000)
def _linted(source: str, *, question: str, reference_answer: str, config: None) -> tuple[Finding, ...]:
    return tuple(lint(source, question=question, reference_answer=reference_answer))


def places(findings: BenchmarkFindings, problems: Sequence[Problem]) -> list[Place]:
    """Return what there is to fix, the gravest first. That questions are unfinished is left to the button for it."""
    every = [Place(None, True, finding) for finding in findings.rubric]
    for name, of_question in findings.questions.items():
        every += [Place(name, False, finding) for finding in of_question.template]
        every += [Place(name, True, finding) for finding in of_question.rubric]
    for problem in problems:
        # Why a template cannot be read is what the linter says of it.
        known = findings.questions.get(problem.question_id or "")
        if problem.code != "unfinished" and not (problem.code == "template" and known and known.template):
            about_trait = problem.code in ("trait", "conflict")
            field = problem.where.rpartition(", trait ")[2] if problem.code == "trait" else None
            severity = _SEVERITIES[problem.severity]
            finding = Finding(problem.code, severity, field, problem.what, "", problem.next, line=problem.line)
            every.append(
                Place(problem.question_id, about_trait, finding, problem.question_id is None and not about_trait)
            )
    return sorted(every, key=lambda place: _ORDER.index(place.finding.severity))


def _to_finish(row: BenchmarkRow, benchmark: Benchmark, findings: BenchmarkFindings) -> list[str]:
    """Return the unfinished questions that a run can evaluate, and in which nothing but hints was found."""
    states = benchmark_choice.checked(row.id, row.revision).states
    return [
        question.id
        for question in benchmark
        if states[question.id].obstacles == (UNFINISHED,)
        and (question.id not in findings.questions or findings.questions[question.id].worst == "hint")
        and not (question.custom_metadata or {}).get(REVIEW_PROPERTY)
    ]


def draw(row: BenchmarkRow) -> None:
    """Draw the section."""
    benchmark = benchmark_choice.reading(row.id, row.revision)
    with st.spinner("Checking every template …", show_time=True):
        findings = _findings(row.id, row.revision)
    every = places(findings, benchmark_choice.checked(row.id, row.revision).problems)
    _headline(every)
    _finish(row, benchmark, _to_finish(row, benchmark, findings))
    drafting.link(row, benchmark)
    if every:
        _list(row, benchmark, every)


def _headline(every: Sequence[Place]) -> None:
    if not every:
        st.caption(":material/check_circle: There is nothing to fix in the questions, templates and rubrics.")
        return
    words = forms.severities_in_short(place.finding.severity for place in every)
    fixable = sum(place.finding.fix is not None for place in every)
    st.markdown(f"**{words}** in {counted(len({place.question_id for place in every}), 'place')}")
    st.caption(
        "Errors let right answers fail or wrong ones pass; warnings are probably not as meant; hints could be better. "
        f"{fixable} of {counted(len(every), 'finding')} can be fixed with one click."
    )


def _finish(row: BenchmarkRow, benchmark: Benchmark, ready: Sequence[str]) -> None:
    """Say how many questions are unfinished, and draw the button for those that are ready."""
    unfinished = len(benchmark) - benchmark.finished_count
    if not unfinished:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        are = "is" if unfinished == 1 else "are"
        st.markdown(f"{counted(unfinished, 'question')} of {len(benchmark)} {are} not finished, and left out of runs.")
        help_text = "A run can evaluate them, and nothing but hints was found in them. The others stay as they are."
        label = f"Mark {counted(len(ready), 'checked question')} finished"
        if ready and forms.button(label, "done_all", "check_finish", type="primary", help=help_text):
            benchmark_choice.finish(row, ready)


def _list(row: BenchmarkRow, benchmark: Benchmark, every: Sequence[Place]) -> None:
    codes = Counter(place.finding.code for place in every)
    names = {"": f"All kinds ({len(every)})"} | {
        code: f"{_title(code)} ({number})" for code, number in codes.most_common()
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        code = forms.select("Kind of finding", names, f"check_kind_{row.id}_{len(names)}", width=320)
        shown = [place for place in every if code in ("", place.finding.code)]
        fixable = [place for place in shown if place.finding.fix is not None]
        if code and fixable and forms.button(f"Fix all {len(fixable)}", "auto_fix_high", "check_fix_all"):
            _fix(row, fixable, None)
    left, right = st.columns([60, 40], gap="medium")
    with left:
        columns = forms.widths(Severity=90, Question=220, What=230, Field_or_trait=120, Fix=180)
        chosen = forms.browse(
            "findings",
            {place.key: place for place in shown},
            lambda place: _row(benchmark, place),
            alt="Findings",
            columns=columns,
        )
    if chosen is not None:
        with right:
            _detail(row, benchmark, chosen)


def _title(code: str) -> str:
    return _NAMES.get(code) or code.replace("_", " ").capitalize()


def _row(benchmark: Benchmark, place: Place) -> dict[str, Any]:
    finding = place.finding
    return {
        "Severity": forms.severity_sign(finding.severity),
        "Question": short(place.subject(benchmark), 100),
        "What": short(finding.what, 160),
        "Field or trait": short(finding.field or "", 40),
        "Fix": short(finding.fix.label, 60) if finding.fix else "",
    }


def _detail(row: BenchmarkRow, benchmark: Benchmark, place: Place) -> None:
    finding = place.finding
    with st.container(border=True):
        where = f" · {plain(finding.field, 60)}" if finding.field else ""
        st.markdown(f"{forms.severity_badge(finding.severity)} **{_title(finding.code)}**{where}")
        st.caption(plain(place.subject(benchmark), 240))
        st.markdown(plain(finding.what, 400))
        if finding.why:
            st.markdown(f"*Why it matters:* {plain(finding.why, 400)}")
        if finding.next:
            st.markdown(f"*What to do:* {plain(finding.next, 400)}")
        with st.container(horizontal=True):
            if finding.fix is not None:
                label = plain(finding.fix.label, 60)
                if forms.button(label, "auto_fix_high", "check_fix", type="primary"):
                    _fix(row, [place], finding.field)
            if not place.on_whole and forms.button("Open in the editor", "edit", "check_open"):
                _open(row, place)


def _fix(row: BenchmarkRow, chosen: Sequence[Place], field: str | None) -> None:
    before = services.store().benchmarks.load(row.id)
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            fixed = repair_benchmark(benchmark, [place.question_id for place in chosen], chosen[0].finding.code, field)
        if fixed:
            benchmark_choice.offer_undo(row, f"Fixed {counted(fixed, 'finding')}.", before)
        else:
            feedback.say("The source holds code of its own here; open it in the editor.")
        st.rerun()


def _open(row: BenchmarkRow, place: Place) -> None:
    link = {"benchmark": row.id} | ({"q": place.question_id} if place.question_id else {})
    if place.in_rubric:
        scope = "question" if place.question_id else "global"
        st.switch_page(frame.RUBRICS, query_params=link | {"scope": scope})
    state.choose("q", place.question_id)
    st.switch_page(frame.QUESTIONS, query_params=link)
