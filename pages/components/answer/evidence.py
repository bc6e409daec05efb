"""The answer with what the judge found in it marked, and a warning where a value stands nowhere."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from karenina_core.analysis import Match, ValueEvidence, evidence_spans, readable
from karenina_core.schemas import VerificationResult
from pages.components import forms
from pages.components.text import on_colour, plain, rendered, short, visible

_COLORS: dict[Match, str] = {"exact": "green", "normalised": "blue", "fuzzy": "orange"}
_WORDS: dict[Match, str] = {
    "exact": "✓ word for word",
    "normalised": "✓ written otherwise",
    "fuzzy": "~ something similar",
    "nowhere": "! ungrounded: stands nowhere in the answer",
    "judged": "– not checked",
}
_ABOUT = "Whether the value stands in the answer. Yes or no, and choices the answer does not name, are not checked."
_LONGEST = 20_000  # characters with marks; more is a burden for the browser


def show(result: VerificationResult, key: str) -> None:
    """Show the answer: with evidence, rendered, and as text.

    Args:
        result: An evaluation with an answer.
        key: Goes before the keys of widgets.
    """
    assert result.answer is not None
    text = result.answer.text
    found = evidence_spans(result)
    marked, nicely, source = st.tabs(["Evidence", "Rendered", "As text"], key=f"{key}_answer_tabs")
    with marked:
        nowhere = list(dict.fromkeys(item.field for item in found if item.match == "nowhere"))
        if nowhere:
            names = ", ".join(plain(name, 60) for name in nowhere)
            st.markdown(f":orange-badge[:material/warning: ungrounded] {names}: stands nowhere in the answer.")
        st.markdown(marked_text(text[:_LONGEST], found))
        if len(text) > _LONGEST:
            st.caption(f"The first {_LONGEST:,} of {len(text):,} characters; the other tabs have all of them.")
        if any(item.spans for item in found):
            st.caption("Marked: :green[word for word], :blue[written otherwise], :orange[something similar].")
    nicely.markdown(rendered(text))
    source.code(visible(text), language=None, wrap_lines=True)


def in_words(value: object) -> str:
    """Return what a judge extracted as text; what it did not find is `nothing`."""
    return readable(value) or "nothing"


def table(result: VerificationResult) -> None:
    """Show the extracted values, and whether each stands in the answer."""
    values = (result.template.parsed if result.template else None) or {}
    found = evidence_spans(result)
    rows = []
    for name, value in values.items():
        own = [item for item in found if item.field.partition(".")[0] == name]
        ways = list(dict.fromkeys(_WORDS[item.match] for item in own))
        shown = short(in_words(value), 300)
        rows.append({"Field": short(name, 60), "Value": shown, "In the answer": "; ".join(ways) or "–"})
    if not rows:
        st.caption("No values were extracted.")
        return
    columns = {"In the answer": st.column_config.TextColumn(help=_ABOUT)}
    forms.table(rows, "Extracted values", most=100, columns=columns)


def marked_text(text: str, found: Iterable[ValueEvidence]) -> str:
    """Return a foreign text as Markdown, character for character, with the places of values marked.

    Of overlapping marks the first and longest counts.
    """
    marks = [(place.start, -place.end, item.match) for item in found for place in item.spans]
    parts, at = [], 0
    for start, negative_end, how in sorted(marks):
        end = -negative_end
        if start >= at and end <= len(text):
            parts += [on_colour(text[at:start]), on_colour(text[start:end], _COLORS[how])]
            at = end
    return "".join([*parts, on_colour(text[at:])])
