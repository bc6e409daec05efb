"""Verifying a run again with the rules of today: what would flip, before anything is saved; and its revisions."""

from __future__ import annotations

import streamlit as st

from karenina_core.analysis import interval, percent, proportion
from karenina_core.benchmark import Benchmark
from karenina_core.runs import FlipList, Revision, RunRow, Share, preview, reverify, revisions, wanted
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services, session_keys, state
from pages.components.answer import scratch as answer_scratch
from pages.components.results.data import VERDICTS
from pages.components.runs import spending
from pages.components.text import local_time, short

_OFFERED = "_reverify_offered"
_MOST = 1_000  # flips in the table


def draw(run_id: str) -> None:
    """Draw the button, the revisions there are, and what a revision still waits for."""
    run = services.store().runs.get(run_id)
    about = "Decides the stored answers by the present templates. No model is asked; you see what changes, then save."
    pressed = forms.button("Re-verify with the rules of today", "rule", "reverify", help=about, disabled=not run.done)
    offered, after = st.session_state.pop(_OFFERED, ("", ""))
    if pressed or offered == run_id:
        open_reverify(run_id, after if offered == run_id else "")
    _lineage(run_id)
    _waiting(run)


def offer(run_id: str, after: str = "") -> None:
    """Let the preview open when the page is next drawn.

    Args:
        run_id: The run.
        after: What was done just before, as Markdown; it stands in the preview, over which a toast would lie.
    """
    st.session_state[_OFFERED] = (run_id, after)


@st.dialog("Re-verify", width="large")
def open_reverify(run_id: str, after: str = "") -> None:
    """Show what verifying again would change, and offer to save it as a new revision."""
    with frame.guard():
        if after:
            st.caption(f":material/check: {after}")
        benchmark = answer_scratch.benchmark_of_today(run_id)
        with st.spinner("Deciding the stored answers again"):
            found = preview(services.store(), run_id, benchmark)
        st.markdown(sentence(found))
        st.caption("Stored answers, decided by the templates of today. Saving makes a new revision; this run stays.")
        if found.flips:
            _flips(found)
        _would_wait(run_id, found)
        if found.unmatched:
            st.caption(f"{counted(found.unmatched, 'row')} of questions that the benchmark has no more are left out.")
        if (known := _saved_before(run_id, benchmark, found)) is not None:
            st.caption(f":material/check: Revision {known.number} holds just this.")
            if known.run.id != run_id and forms.button("Open that revision", "history", "reverify_open"):
                state.choose("run", known.run.id)
                st.rerun()
        elif st.button("Save as a new revision", type="primary", icon=":material/save:", key="reverify_save"):
            with st.spinner("Saving the revision"):
                new_id = reverify(services.store(), run_id, benchmark)
            feedback.say("The new revision is saved. The verdicts of the earlier one stay readable.")
            state.choose("run", new_id)
            st.rerun()


def _saved_before(run_id: str, benchmark: Benchmark, found: FlipList) -> Revision | None:
    """Return the revision that has been decided by the same templates already; None where there is none."""
    runs = services.store().runs
    plan = runs.plan(run_id)
    new = wanted(benchmark, plan.config, plan.question_ids)
    for item in revisions(services.store(), run_id):
        other = runs.plan(item.run.id)
        asked = other.question_ids == new.question_ids and other.rows == new.rows
        here = item.run.id == run_id and bool(found.flips)  # decided by an earlier version of the rules' own code
        templates = ((one.benchmark.get_template(name) for name in new.question_ids) for one in (other, new))
        if asked and not here and list(next(templates)) == list(next(templates)):
            return item
    return None


def sentence(found: FlipList) -> str:
    """Return what changes in one sentence, as Markdown: `71 % → 78 %, 9 verdicts flip`."""
    flips = counted(len(found.flips), "verdict") + (" flips" if len(found.flips) == 1 else " flip")
    detail = f" ({len(found.improved)} to pass, {len(found.regressed)} from pass)" if found.flips else ""
    (old, before), (new, after) = (_share(share) for share in (found.before, found.after))
    return f"### {old} → {new}, {flips}{detail}\n\nBefore: {before}. After: {after}."


def _share(share: Share) -> tuple[str, str]:
    """Return the rate, and what it is made of."""
    left = f", {share.not_evaluated} not evaluated" if share.not_evaluated else ""
    counts = f"{share.passed} of {share.evaluated} right"
    if share.rate is None:
        return "no verdicts", f"{counts}{left}"
    known = proportion([True] * share.passed + [False] * (share.evaluated - share.passed))
    return percent(share.rate), f"{counts}, 95 % interval {interval(known.low, known.high)}{left}"


def _flips(found: FlipList) -> None:
    rows = [
        {
            "Question": short(flip.question, 80),
            "Model": short(flip.key.answering_model, 40),
            "Judge": short(flip.key.parsing_model, 40),
            "Repeat": flip.key.replicate,
            "Before": VERDICTS[flip.before],
            "After": VERDICTS[flip.after],
        }
        for flip in found.flips[:_MOST]
    ]
    forms.table(rows, "Verdicts that flip")
    if len(found.flips) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(found.flips):,}.")


def _would_wait(run_id: str, found: FlipList) -> None:
    """Say which rows only the judge can decide, and what asking it takes."""
    if not found.waiting:
        return
    questions = list(dict.fromkeys(key.question_id for key in found.waiting))
    rows = counted(len(found.waiting), "row")
    words = "the template now asks the judge for something else. After saving you can ask it; until then, no verdict."
    st.warning(f"{rows} of {counted(len(questions), 'question')}: {words}", title="These need the judge again")
    plan = services.store().runs.plan(run_id)
    expected = spending.expected(wanted(answer_scratch.benchmark_of_today(run_id), plan.config, questions))
    if expected is not None:
        st.markdown(spending.sentence(expected))


def _waiting(run: RunRow) -> None:
    """Offer to ask the judge for the rows of a revision that need it."""
    if run.parent_run is None or run.active:
        return
    store = services.store()
    number = len(store.results.rows(run.id, status="skipped", failure_stage="verify_template"))
    if not number:
        return
    rows = "1 row needs" if number == 1 else f"{number:,} rows need"
    with st.expander(f"{rows} the judge again", icon=":material/gavel:", on_change="rerun", key="top_up_open") as view:
        if not view.open:
            return
        plan = store.runs.plan(run.id)
        agreed = spending.confirm(spending.expected(plan, run.id), plan.config, "reverify")
        if st.button("Ask the judge", key="reverify_ask", disabled=not agreed, icon=":material/play_arrow:"):
            services.runner().start(run.id, keys=session_keys.source())
            st.switch_page(frame.MONITOR, query_params={"run": run.id})


def _lineage(run_id: str) -> None:
    """Show the revisions of a run, where there are several, and lead to the others."""
    known = revisions(services.store(), run_id)
    if len(known) < 2:
        return
    here = next(item for item in known if item.run.id == run_id)
    label, names = f"Revision {here.number} of {len(known)}", {item.run.id: _label(item) for item in known}
    picked = forms.select(label, names, f"revision_{run_id}_{len(known)}", chosen=run_id, width=420)
    if picked != run_id:
        state.choose("run", picked)
        st.rerun()


def _label(item: Revision) -> str:
    run = item.run
    evaluated = run.passed + run.failed
    rate = f"{percent(run.passed / evaluated)} of {evaluated} right" if evaluated else "no verdicts"
    kind = "as it was run" if item.number == 1 else "re-verified"
    return f"{item.number} · {kind} {local_time(run.created)} · {rate}"
