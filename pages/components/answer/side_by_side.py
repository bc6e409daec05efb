"""Two evaluations of one question side by side, with the words that only one of the answers has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from karenina_core.analysis import readable
from karenina_core.differences import Piece, side_by_side
from karenina_core.schemas import VerificationResult
from pages.components import services
from pages.components.answer import drawer as answer_drawer
from pages.components.results.data import VERDICTS
from pages.components.text import on_colour, plain, short

_LONGEST = 20_000
_COLOURS = ("orange", "blue")
# Both what was found and what was expected are in sight at once.
_WIDTHS = {
    name: st.column_config.Column(width=pixels)
    for name, pixels in {"": 40, "Field": 90, "Extracted": 115, "Expected": 115}.items()
}


class Side(NamedTuple):
    """One of the two.

    Attributes:
        title: What it is, such as `Baseline`.
        run_id: Its run.
        result_id: The evaluation.
        about: Whose it is, as Markdown.
        among: The evaluations of its run that one walks through from there.
    """

    title: str
    run_id: str
    result_id: str
    about: str = ""
    among: Sequence[str] = ()


def draw(sides: Sequence[Side], key: str) -> str:
    """Draw both, and return the question.

    Args:
        sides: What is compared; the earlier one, or the baseline, first.
        key: Begins the keys of widgets.
    """
    results = [services.store().results.get(side.run_id, side.result_id) for side in sides]
    texts = [result.raw_llm_response or "" for result in results]
    same = texts[0] == texts[1]
    if same and texts[0]:
        with st.expander("Both have the same answer", expanded=True):
            st.markdown(plain(texts[0], _LONGEST))
    pieces = None if same or not all(texts) else side_by_side(*texts)
    for place, column in enumerate(st.columns(2)):
        side = sides[place]
        with column, st.container(border=True, height="stretch", key=f"{key}_{side.title.lower()}"):
            _heading(side, results[place])
            if pieces:
                st.markdown(marked_up(pieces[place], _COLOURS[place]))
            elif not same or not texts[0]:
                st.markdown(plain(texts[place] or "There is no answer.", _LONGEST))
            _fields(results[place], side.title)
            if st.button("Open this answer", icon=":material/article:", key=f"{key}_open_{side.title.lower()}"):
                answer_drawer.open_drawer(side.run_id, side.result_id, side.among)
    if pieces:
        st.caption("Bold on a coloured ground: the places where the texts differ.")
    return results[0].question.question


def marked_up(pieces: Sequence[Piece], colour: str) -> str:
    """Return the pieces of an answer as Markdown: what only it has is bold on a coloured ground."""
    return "".join(on_colour(piece.text, colour if piece.own else "", bold=True) for piece in pieces)


def _heading(side: Side, result: VerificationResult) -> None:
    st.markdown(" · ".join(filter(None, [f"**{side.title}**", side.about, VERDICTS[result.verdict]])))
    if result.failure:
        st.caption(plain(result.failure.reason))


def _fields(result: VerificationResult, title: str) -> None:
    fields = [item for item in result.template.fields if item.rule is not None] if result.template else []
    signs = {True: "✓", False: "✗", None: "–"}
    rows = [
        {
            "": signs[item.result],
            "Field": short(item.name),
            "Extracted": short(readable(item.extracted) or "–"),
            "Expected": short(readable(item.expected) or "–"),
        }
        for item in fields
    ]
    if rows:
        st.dataframe(rows, hide_index=True, alt=f"Fields of {title.lower()}", column_config=_WIDTHS)
