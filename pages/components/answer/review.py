"""Reviewing a result: agree or disagree, why, a note, who and when. The machine's verdict stays as it is."""

from __future__ import annotations

from datetime import UTC

import streamlit as st

from karenina_core.runs import revisions
from karenina_core.schemas import (
    CAUSE_WORDS,
    CAUSES,
    MAX_AUTHOR,
    MAX_NOTE,
    Annotation,
    Cause,
    VerificationResult,
    agrees_with,
)
from pages.components import feedback, forms, frame, services, sign_in
from pages.components.text import plain, short

_AUTHOR = "_review_author"
_TYPED = "review_author"
_SHORT: dict[Cause, str] = {
    "answer_wrong": "Answer wrong",
    "judge_misread": "Judge misread",
    "rule_too_strict": "Rule too strict",
    "unparseable": "Unparseable",
    "abstained": "Abstained",
    "technical": "Technical",
}


def history(run_id: str, result: VerificationResult) -> None:
    """Show every review of a result, those taken back and those of other revisions of the run too."""
    store = services.store()
    known = revisions(store, run_id)
    reviews = [
        (item, review) for item in known for review in store.annotations.all(item.run.id, result.result_id, undone=None)
    ]
    if not reviews:
        st.caption("Nobody has reviewed this result yet.")
    for item, review in reviews:
        elsewhere = f" · on revision {item.number}" if item.run.id != run_id else ""
        st.markdown(f"{sentence(review)}{elsewhere}")
        if review.note:
            st.caption(plain(review.note, 1000))


def sentence(review: Annotation) -> str:
    """Return a review in one line, as Markdown."""
    stance = "agrees" if review.agrees else "disagrees"
    about = f" on {plain(review.field, 60)}" if review.field else ""
    cause = f": {CAUSE_WORDS[review.cause].lower()}" if review.cause else ""
    when = f"{review.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    text = f"**{plain(review.who, 80)}** {stance} with the verdict{about}{cause} · {when}"
    return f"~~{text}~~ · taken back" if review.undone else text


def author() -> str:
    """Return who reviews: the account signed in, or the name typed in this session; empty when nobody said."""
    return (sign_in.person() or str(st.session_state.get(_AUTHOR, "")))[:MAX_AUTHOR]


def ask_author(key: str = _TYPED) -> None:
    """Draw the field for the reviewer's name, where nobody is signed in."""
    if sign_in.person():
        return
    typed = st.text_input("Your name", value=author(), key=key, max_chars=MAX_AUTHOR, width=260)
    st.session_state[_AUTHOR] = typed.strip()


def form(run_id: str, result: VerificationResult) -> None:
    """Draw the ways to review a result. One press stores the review; it can be taken back."""
    store = services.store()
    reviews = store.annotations.all(run_id, result.result_id, undone=None)
    key = f"review_{result.result_id}_{len(reviews)}"
    fields = [item.name for item in (result.template.fields if result.template else ())]
    names: dict[str | None, str] = {None: "the whole result", **{name: f"field {short(name, 60)}" for name in fields}}
    about: str | None = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask_author()
        if len(fields) > 1:
            about = forms.select("About", names, f"{key}_field", width=260)
    note = st.text_input("Note", key=f"{key}_note", max_chars=MAX_NOTE, placeholder="Stored with the next press")
    pressed: tuple[bool, Cause | None] | None = None
    with st.container(horizontal=True, vertical_alignment="center"):
        if forms.button("Agree", "thumb_up", f"{key}_agree"):
            pressed = True, None
        if forms.button("Disagree", "thumb_down", f"{key}_disagree"):
            pressed = False, None
    st.caption("Because (keys 1 to 6):")
    with st.container(horizontal=True):
        for number, cause in enumerate(CAUSES, 1):
            if st.button(_SHORT[cause], shortcut=str(number), key=f"{key}_{cause}", help=CAUSE_WORDS[cause]):
                pressed = agrees_with(result.verdict, cause), cause
    if pressed is not None:
        with frame.guard():
            save(run_id, result.result_id, *pressed, about, note)
            st.rerun()
    standing = [review for review in reviews if not review.undone]
    if standing and forms.button("Take back the last review", "undo", f"{key}_undo", type="tertiary"):
        store.annotations.undo(standing[-1].id)
        st.rerun()


def save(
    run_id: str, result_id: str, agrees: bool, cause: Cause | None = None, field: str | None = None, note: str = ""
) -> None:
    """Store a review by whoever is here, and offer to take it back."""
    about = {"run_id": run_id, "result_id": result_id, "field": field, "cause": cause}
    review = Annotation(agrees=agrees, note=note.strip(), author=author(), **about)
    store = services.store()
    store.annotations.add(review)
    stance = CAUSE_WORDS[cause].lower() if cause else f"you {'agree' if agrees else 'disagree'} with the verdict"
    message = f"Reviewed **{plain(store.results.get(run_id, result_id).question.question, 60)}**: {stance}."
    feedback.offer_undo(message, lambda: store.annotations.undo(review.id), here=True)
