"""What if: edits of one result that are tried out, and never stored with the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.pipeline import decide_rules, decide_values
from karenina_core.runs import BenchmarkRow
from karenina_core.schemas import VerificationResult
from karenina_core.templates import read_template
from pages.components import forms, services
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import plain
from pages.components.widgets import next_number

_SCRATCH = "_scratch"


@dataclass
class Scratch:
    """The edits of one result.

    Attributes:
        run_id: The run.
        stored: The result as it is stored.
        asked: The result after another answer or another call; None while the stored one counts.
        values: Values by field, typed by hand; None while the judge's count.
        source: The edited template; None while the one of today counts.
        generation: Part of the widgets' keys, so that discarded edits never show again.
    """

    run_id: str
    stored: VerificationResult
    asked: VerificationResult | None = None
    values: Mapping[str, Any] | None = None
    source: str | None = None
    generation: int = field(default_factory=next_number)

    @property
    def base(self) -> VerificationResult:
        """The result that values and rules are applied to."""
        return self.asked or self.stored

    @property
    def edits(self) -> list[str]:
        """What was edited, in words."""
        parts = [("another answer or call", self.asked), ("values by hand", self.values), ("a rule", self.source)]
        return [words for words, edited in parts if edited is not None]

    def continue_with(self, asked: VerificationResult) -> None:
        """Go on with another answer or another reply of the judge; values typed for the old one are dropped."""
        self.asked, self.values = asked, None


def of(run_id: str, stored: VerificationResult) -> Scratch:
    """Return the edits of a result, none where it was not edited in this session."""
    scratch: Scratch | None = st.session_state.get(_SCRATCH)
    about = (run_id, stored.result_id, stored.timestamp)
    if scratch is None or (scratch.run_id, scratch.stored.result_id, scratch.stored.timestamp) != about:
        # Only one is kept: what was tried with another answer is not looked for again.
        scratch = st.session_state[_SCRATCH] = Scratch(run_id, stored)
    return scratch


def current(scratch: Scratch) -> VerificationResult:
    """Return the result with all edits.

    Raises:
        InputError: A typed value does not fit.
        TemplateError: The edited template cannot be read.
    """
    if not scratch.edits:
        return scratch.stored
    source = scratch.source or source_of_today(scratch.run_id, scratch.stored.question.id)
    if source is None:
        return scratch.base
    template = read_template(source)
    if scratch.values is not None:
        return decide_values(scratch.base, template, scratch.values)
    if scratch.base.template is None and template.needs_judge:
        return scratch.base
    return decide_rules(scratch.base, template)


def banner(scratch: Scratch) -> None:
    """Say that what is shown is not stored, and lead back."""
    if not scratch.edits:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="scratch_banner"):
        edited = f"Edited: {', '.join(scratch.edits)}."
        st.markdown(f":violet-badge[:material/science: What if — not saved] {edited}", width="stretch")
        forms.button("Back to the stored result", "undo", "scratch_back", on_click=discard, type="primary")


def edited_source() -> str | None:
    """Return the edited template of the result that is open; None where no rule was edited."""
    scratch: Scratch | None = st.session_state.get(_SCRATCH)
    return scratch.source if scratch else None


def discard() -> None:
    """Forget all edits."""
    st.session_state.pop(_SCRATCH, None)


def stored_benchmark(run_id: str) -> BenchmarkRow | None:
    """Return the stored benchmark of a run; None when it is gone or never was."""
    wanted = services.store().runs.get(run_id).benchmark_id
    return next((row for row in services.store().benchmarks.all() if row.id == wanted), None)


def benchmark_of_today(run_id: str) -> Benchmark:
    """Return the benchmark whose rules count now: the stored one, or the run's own copy. To be read only."""
    row = stored_benchmark(run_id)
    return benchmark_choice.reading(row.id, row.revision) if row else copy_of(run_id)


def copy_of(run_id: str) -> Benchmark:
    """Return the benchmark as the run saw it. To be read only."""
    return _copy(services.store().runs.get(run_id).snapshot, run_id)


@st.cache_resource(max_entries=4, show_spinner=False)
def _copy(snapshot: str, _run_id: str) -> Benchmark:
    return services.store().runs.plan(_run_id).benchmark


def source_of_today(run_id: str, question_id: str) -> str | None:
    """Return the template whose rules count now; None where the question has none."""
    for benchmark in (benchmark_of_today(run_id), copy_of(run_id)):
        if question_id in benchmark:
            return benchmark.get_template(question_id)
    return None


def say_changed(scratch: Scratch) -> None:
    """Say it when the template is another one than the run used."""
    part, source = scratch.stored.template, source_of_today(scratch.run_id, scratch.stored.question.id)
    if part is not None and source is not None and read_template(source).template_id != part.template_id:
        now = decide_rules(scratch.stored, read_template(source)).verdict.replace("_", " ")
        changed = "The template has changed since this run; edits start from the template of today"
        st.caption(f":material/info: {changed}. By it, the verdict is: {plain(now)}.")
