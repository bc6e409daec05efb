"""Failures by likely cause, for a person to confirm; and rules that are too strict, to be mended in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from karenina_core.analysis import Suggestion, disputes, stance, suggestions
from karenina_core.authoring import RelaxedRule
from karenina_core.schemas import CAUSE_WORDS, CAUSES, Annotation, Cause, Verdict, agrees_with, latest_reviews
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services
from pages.components.answer import drawer as answer_drawer
from pages.components.answer import reverify as answer_reverify
from pages.components.answer import review as answer_review
from pages.components.answer import scratch as answer_scratch
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.results.data import VERDICTS
from pages.components.text import plain

_PAGE = 20  # cards of one cause


class _Card(NamedTuple):
    result_id: str
    question: str
    models: str
    verdict: Verdict
    suggestion: Suggestion


class _Board(NamedTuple):
    cards: list[_Card]
    rules: list[RelaxedRule]


def board(run_id: str) -> None:
    """Draw the results without a pass by cause: suggested from the evidence, or as a person decided."""
    seen = _read(run_id)
    annotations = services.store().annotations.all(run_id)
    reviews, disputed = latest_reviews(annotations), disputes(annotations)
    decided = {name: review.cause for name, review in reviews.items() if review.cause is not None}
    st.markdown("**Whose fault is it?**")
    if not seen.cards:
        st.success("Every evaluation passed; there is nothing to sort.", icon=":material/check:")
        return
    confirmed = sum(card.result_id in decided for card in seen.cards)
    number = sum(card.result_id in disputed for card in seen.cards)
    people = f" People disagree about {counted(number, 'result')}; the last opinion places its card." if number else ""
    sorted_by = "without a pass, sorted by the cause the evidence suggests"
    say = f"{confirmed} of {len(seen.cards)} are confirmed by a person. A review never changes a verdict.{people}"
    st.caption(f"{counted(len(seen.cards), 'result')} {sorted_by}; {say}")
    answer_review.ask_author("triage_author")
    sorted_cards: dict[Cause, list[_Card]] = {cause: [] for cause in CAUSES}
    for card in seen.cards:
        sorted_cards[decided.get(card.result_id) or card.suggestion.cause].append(card)
    cause = st.segmented_control(
        "Cause",
        CAUSES,
        default=next(cause for cause, cards in sorted_cards.items() if cards),
        format_func=lambda one: f"{CAUSE_WORDS[one]} ({len(sorted_cards[one])})",
        key=f"triage_cause_{run_id}",
        required=True,
    )
    cards = sorted_cards[cause]
    waiting = [card for card in cards if card.result_id not in decided]
    if len(waiting) > 1 and forms.button(f"Confirm all {len(waiting)}", "done_all", f"triage_all_{cause}"):
        for card in waiting:
            _confirm(run_id, card, card.suggestion.cause)
        feedback.say(f"{counted(len(waiting), 'review')} stored.")
        st.rerun()
    for card in cards[:_PAGE]:
        _draw(run_id, card, decided.get(card.result_id), disputed.get(card.result_id, ()))
    if len(cards) > _PAGE:
        st.caption(f"The first {_PAGE} of {len(cards)}; those you confirm stay, with a mark.")


def relaxed_rules(run_id: str) -> None:
    """Draw the failures that would pass with one more normaliser or a little more tolerance."""
    found = _read(run_id).rules
    st.markdown("**Which failures would pass with a slightly more tolerant rule?**")
    if not found:
        st.info("No failure is that near to passing.", icon=":material/check:")
        return
    row = answer_scratch.stored_benchmark(run_id)
    st.caption("Each changes one field of one template. Look at what it also lets in; applying saves the template.")
    if row is None:
        st.warning("The benchmark of this run is not in the workspace any more, so rules cannot be saved.")
    for number, rule in enumerate(found[:50]):
        with st.container(border=True):
            rows = counted(len(rule.result_ids), "failure")
            st.markdown(f"**{rows} would pass**: {plain(rule.label)} · field **{plain(rule.field, 60)}**")
            st.caption(plain(rule.question, 200))
            also = f":material/warning: It would also let in: {plain('; '.join(rule.lets_in), 300)}"
            st.caption(also if rule.lets_in else "It lets in nothing else in this run, and no wrong variant.")
            with st.container(horizontal=True):
                key = f"rule_{number}_{rule.result_ids[0]}"
                if forms.button("See one", "article", f"{key}_see"):
                    answer_drawer.open_drawer(run_id, rule.result_ids[0], rule.result_ids)
                if forms.button("Apply and re-verify", "rule", f"{key}_apply", disabled=row is None):
                    _apply(run_id, rule)


def _apply(run_id: str, rule: RelaxedRule) -> None:
    row = answer_scratch.stored_benchmark(run_id)
    assert row is not None
    with frame.guard():
        before = benchmark_choice.reading(row.id, row.revision).get_template(rule.question_id)
        _set_template(row.id, rule.question_id, rule.source)
        feedback.offer_undo(
            f"The rule of {plain(rule.field, 60)} is saved in the benchmark.",
            lambda: _set_template(row.id, rule.question_id, before or rule.source),
        )
        answer_reverify.offer(run_id)
        st.rerun()


def _set_template(benchmark_id: str, question_id: str, source: str) -> None:
    with benchmark_choice.changing(benchmark_id) as benchmark:
        benchmark.update_template(question_id, source)


def _read(run_id: str) -> _Board:
    """Return cards and rules; worked out anew when the run or the benchmark has changed."""
    row = answer_scratch.stored_benchmark(run_id)
    return _work_out(run_id, services.version(run_id), row.revision if row else None)


@st.cache_resource(show_spinner="Looking at the failures", max_entries=4)
def _work_out(run_id: str, version: str, revision: int | None) -> _Board:
    failures = services.store().results.all(run_id, verdict=["fail", "not_evaluated"])
    found = suggestions(failures, answer_scratch.benchmark_of_today(run_id))
    cards = []
    for result in failures:
        suggestion = found.causes.get(result.result_id)
        if suggestion is not None:
            models = f"{result.answering_model} · judged by {result.parsing_model}"
            models += f" · repeat {result.replicate}" if result.replicate > 1 else ""
            cards.append(_Card(result.result_id, result.question.question, models, result.verdict, suggestion))
    return _Board(cards, found.rules)


def _draw(run_id: str, card: _Card, decided: Cause | None, opinions: Sequence[Annotation]) -> None:
    with st.container(border=True):
        mark = ":green-badge[:material/person_check: confirmed]" if decided else ":gray-badge[suggested]"
        mark = ":orange-badge[:material/group: people disagree]" if opinions else mark
        st.markdown(f"{mark} **{plain(card.question, 160)}**")
        st.caption(f"{VERDICTS[card.verdict]} · {plain(card.models, 160)} · {plain(card.suggestion.why, 300)}")
        if opinions:
            stances = "; ".join(f"{plain(one.who, 80)}: {stance(one)}" for one in opinions)
            st.caption(f":material/group: {stances}")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            key, cause = f"triage_{card.result_id}", decided or card.suggestion.cause
            names = {one: CAUSE_WORDS[one] for one in CAUSES}
            chosen = forms.select("Cause", names, key, chosen=cause, label_visibility="collapsed", width=260)
            if forms.button("Confirm", "check", f"{key}_ok", disabled=chosen == decided):
                _confirm(run_id, card, chosen)
                st.rerun()
            if forms.button("Look", "visibility", f"{key}_look"):
                answer_drawer.open_drawer(run_id, card.result_id)


def _confirm(run_id: str, card: _Card, cause: Cause) -> None:
    with frame.guard():
        answer_review.save(run_id, card.result_id, agrees_with(card.verdict, cause), cause)
