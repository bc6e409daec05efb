"""Two answers to the same question, side by side, without names: which one is better?"""

from __future__ import annotations

import math

import streamlit as st

from karenina_core.analysis import Row, Tally, interval, pairs
from karenina_core.analysis.duels import Pair, tallies
from karenina_core.schemas import Duel, Winner
from karenina_core.text import counted
from pages.components import feedback, frame, services
from pages.components.answer import review as answer_review
from pages.components.text import plain, rendered, short

_LAST = "_last_duel"
_FEW = 6  # decided duels; fewer say nothing


def draw(run_id: str) -> None:
    """Draw the next pair, and what people have preferred so far."""
    store = services.store()
    rows = store.rows(run_id, status="completed")
    met = store.duels(run_id)
    done = {frozenset((duel.left_result, duel.right_result)) for duel in met}
    coming = list(pairs(rows, done))
    st.markdown("**Which answer is better?**")
    st.caption(
        "Two answers to the same question. Neither the models nor the verdicts are shown before you decide. "
        f"{counted(len(met), 'pair')} decided, {len(coming):,} to go."
    )
    _revealed(rows)
    if coming:
        answer_review.ask_author("duel_author")
        _pair(run_id, coming[0])
    elif not met:
        st.info("This run has no question that two models answered.", icon=":material/info:")
    else:
        st.success("Every pair is decided.", icon=":material/check:")
    _tallies(tallies(met, rows))


def _pair(run_id: str, pair: Pair) -> None:
    store = services.store()
    left, right = store.result(run_id, pair.left), store.result(run_id, pair.right)
    st.markdown(f"**{plain(left.question.question, 600)}**")
    for column, name, result in zip(st.columns(2), ("A", "B"), (left, right), strict=True):
        with column.container(border=True, height="stretch"):
            st.caption(f"Answer {name}")
            st.markdown(rendered(result.answer.text) if result.answer else "There is no answer.")
    _reference(left.question.raw_answer, f"duel_reference_{pair.left}_{pair.right}")
    with st.container(horizontal=True):
        choices: list[tuple[str, Winner, str]] = [
            ("A is better", "left", "1"),
            ("B is better", "right", "2"),
            ("No difference", "tie", "0"),
        ]
        for label, winner, shortcut in choices:
            if st.button(label, shortcut=shortcut, key=f"duel_{winner}_{pair.left}_{pair.right}"):
                _decide(run_id, pair, winner)


def _reference(answer: str, key: str) -> None:
    """Offer the reference answer; it starts hidden with every pair, so that one's own view comes first."""
    with st.expander("Show the reference answer", icon=":material/key:", on_change="rerun", key=key) as shown:
        if shown.open:
            st.markdown(plain(answer, 2000))


def _decide(run_id: str, pair: Pair, winner: Winner) -> None:
    with frame.guard():
        store = services.store()
        duel = Duel(
            run_id=run_id,
            left_result=pair.left,
            right_result=pair.right,
            winner=winner,
            author=answer_review.author(),
        )
        store.add_duel(duel)
        st.session_state[_LAST] = duel
        feedback.offer_undo("Your choice is stored.", lambda: _undo(duel.id), here=True)
        st.rerun()


def _undo(duel_id: str) -> None:
    services.store().undo_duel(duel_id)
    st.session_state.pop(_LAST, None)


def _revealed(rows: list[dict[str, object]]) -> None:
    """Say whose answers the last pair were, once, after the decision."""
    last: Duel | None = st.session_state.pop(_LAST, None)
    known: dict[object, Row] = {row["result_id"]: row for row in rows}
    if last is None or last.left_result not in known or last.right_result not in known:
        return
    left, right = known[last.left_result], known[last.right_result]
    said = {"left": "A was better", "right": "B was better", "tie": "No difference"}[last.winner]
    st.caption(f":material/visibility: {said}. A: {_who(left)} · B: {_who(right)}")


def _who(row: Row) -> str:
    return f"{plain(row['answering_model'], 60)} ({plain(str(row['verdict']).replace('_', ' '))})"


def _tallies(found: list[Tally]) -> None:
    if not found:
        return
    st.markdown("**What people preferred**")
    rows = [
        {
            "Model": short(tally.one, 40),
            "Against": short(tally.other, 40),
            "Better": tally.wins,
            "Worse": tally.losses,
            "No difference": tally.ties,
            "Share better": _share(tally),
            "Fail over pass": tally.against_verdict,
            "Pass over fail": tally.with_verdict,
        }
        for tally in found
    ]
    st.dataframe(rows, hide_index=True, alt="What people preferred", width="stretch")
    st.caption(
        "Share of decided pairs with its 95 % interval. “Fail over pass” counts pairs in which a failed answer was "
        "preferred to one that passed, which hints at a wrong rule."
    )


def _share(tally: Tally) -> str:
    decided = tally.wins + tally.losses
    if not decided or math.isnan(tally.low):
        return "–"
    few = ", too few to tell" if decided < _FEW else ""
    return f"{100 * tally.wins / decided:.0f} % ({interval(tally.low, tally.high)}{few})"
