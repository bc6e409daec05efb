"""A pattern trait, live: over a typed text, and over the stored answers of a run."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core import patterns
from karenina_core.analysis import interval, percent
from karenina_core.runs import PatternReport, Searched, flags_of, search_answers
from karenina_core.schemas import ManualRubricTrait
from karenina_core.text import counted
from pages.components.answer import drawer as answer_drawer
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain, short
from pages.components.traits import sample as trait_sample
from pages.components.widgets import pick

_PICKED = "_trait_answer"
_SHOWN_MATCHES = 20
_AROUND = 40  # characters before a match, in the table
_SHOWN_TEXT = 3_000
_FILTERS = {"all": "All", "found": "Found", "missing": "Not found"}


def draw(scope: Scope, trait: ManualRubricTrait, draft: Draft) -> None:
    """Draw both."""
    text = st.text_area(
        "Try it on a text", key=f"{draft.name}:tried", height=90, placeholder="Paste an answer; nothing is stored."
    )
    if text:
        _typed(trait, text)
    runs = trait_sample.runs_of(scope)
    if not runs:
        st.caption("When a run has stored answers, the pattern can be tried on them here.")
        return
    st.markdown("**On the stored answers of a run**")
    run_id = trait_sample.choose_run(runs, "trait_pattern_run")
    found = trait_sample.answers(run_id, scope)
    if not found.answers:
        st.caption("This run has no answer to this question." if scope.question_id else "This run has no answers.")
        return
    with st.spinner("Searching", show_time=True):
        report = search_answers(trait, found.answers)
    _report(trait, run_id, report, found.cut)


def _typed(trait: ManualRubricTrait, text: str) -> None:
    try:
        spans = patterns.spans(trait.pattern, text, flags_of(trait))
    except patterns.PatternTimeoutError as error:
        _stopped(str(error))
        return
    passes = bool(spans) != trait.invert
    verdict = ":material/check_circle: **Passes**" if passes else ":material/cancel: **Fails**"
    times = {0: "not found", 1: "found once"}.get(len(spans), f"found {len(spans)} times")
    st.markdown(f"{verdict} · the pattern is {times}")
    if spans:
        st.markdown(highlighted(text, spans))


def _stopped(why: str) -> None:
    st.warning(
        plain(f"{why} In a run the trait would have no value for such an answer."), title="The search was stopped"
    )


def _report(trait: ManualRubricTrait, run_id: str, report: PatternReport, cut: bool) -> None:
    if report.problem:
        _stopped(report.problem)
    searched = report.searched
    found = sum(bool(item.spans) for item in searched)
    passing = sum(item.passes for item in searched)
    rest = f" Only the first {len(searched):,} were read." if cut else ""
    rest += f" {report.total - len(searched):,} more were not searched." if report.problem else ""
    st.markdown(f"Found in **{found} of {counted(len(searched), 'answer')}**; the trait holds for {passing}.{rest}")
    if not searched:
        return
    st.dataframe(
        [_share(model, items) for model, items in report.by_model().items()],
        hide_index=True,
        alt="Matches by model",
        column_config={
            "Share": st.column_config.TextColumn(
                help="Of the answers for which the trait holds, with its 95 % interval."
            )
        },
    )
    which = st.segmented_control(
        "Show",
        list(_FILTERS),
        format_func=lambda name: f"{_FILTERS[name]} ({_number(name, found, len(searched))})",
        default="all",
        required=True,
        key="trait_pattern_filter",
    )
    shown = [item for item in searched if which == "all" or bool(item.spans) == (which == "found")]
    if not shown:
        st.caption("None.")
        return
    _answers(run_id, shown, trait)


def _share(model: str, items: Sequence[Searched]) -> dict[str, object]:
    from karenina_core.analysis import proportion

    share = proportion([item.passes for item in items], [item.answer.question_id for item in items])
    return {
        "Model": short(model, 40),
        "Found in": f"{sum(bool(item.spans) for item in items)} of {share.n}",
        "Trait holds": f"{share.successes} of {share.n}",
        "Share": f"{percent(share.rate)} ({interval(share.low, share.high)})",
    }


def _number(name: str, found: int, total: int) -> int:
    return {"all": total, "found": found, "missing": total - found}[name]


def _answers(run_id: str, shown: list[Searched], trait: ManualRubricTrait) -> None:
    ids = [item.answer.result_id for item in shown]
    # Another pattern begins with its own first match.
    pattern, last = st.session_state.get(_PICKED, ("", None))
    last = last if pattern == trait.pattern else None
    first = next((item.answer.result_id for item in shown if item.spans), ids[0])
    chosen = pick(
        "trait_answers",
        ids,
        [_row(item) for item in shown],
        last if last in ids else first,
        alt="Answers searched",
        most=8,
    )
    st.session_state[_PICKED] = (trait.pattern, chosen)
    item = shown[ids.index(str(chosen))]
    with st.container(border=True, height=220):
        st.markdown(highlighted(item.answer.text[:_SHOWN_TEXT], list(item.spans)))
    if st.button("Open the answer", key="trait_open_answer", icon=":material/article:"):
        answer_drawer.open_drawer(run_id, item.answer.result_id)


def _row(item: Searched) -> dict[str, object]:
    text, start = item.answer.text, max(0, item.spans[0][0] - _AROUND) if item.spans else 0
    return {
        "Trait": "✓ holds" if item.passes else "✗ fails",
        "Matches": len(item.spans),
        "Model": short(item.answer.model, 40),
        "Answer": ("…" if start else "") + short(text[start : start + 400], 120),
        "Question": short(item.answer.question, 80),
    }


def highlighted(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text as Markdown that shows it character for character, with matches marked.

    Args:
        text: Foreign text.
        spans: Start and end of the matches, in order; those beyond the text are left out.
    """
    parts, end = [], 0
    for start, stop in [span for span in spans if span[1] <= len(text)][:_SHOWN_MATCHES]:
        found = plain(text[start:stop])
        parts += [plain(text[end:start]), f":orange-background[{found}]" if found.strip() else found]
        end = stop
    return "".join([*parts, plain(text[end:])]).replace("\n", "  \n")
