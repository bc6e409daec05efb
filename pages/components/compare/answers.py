"""Two answers to one question side by side, with the words that only one of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from karenina_core.analysis import ARM, Arm, readable
from karenina_core.differences import Piece, side_by_side
from karenina_core.schemas import VerificationResult
from pages.components import services
from pages.components.answer import drawer as answer_drawer
from pages.components.compare import data as compare_data
from pages.components.compare.data import Compared
from pages.components.results import data as results_data
from pages.components.text import plain, short

# Both what was found and what was expected are in sight at once.
_WIDTHS = {
    name: st.column_config.Column(width=pixels)
    for name, pixels in {"": 40, "Field": 90, "Extracted": 115, "Expected": 115}.items()
}
_COLOURS = {"Baseline": "orange", "Candidate": "blue"}


def draw(compared: Compared, question: str) -> None:
    """Draw the answers of baseline and candidate to a question."""
    rows = _rows(compared, question)
    heading = st.empty()
    places = _repeat(rows)
    answers = {
        side: services.store().results.get(arm.run_id, places[side])
        for side, arm in (("Baseline", compared.baseline), ("Candidate", compared.candidate))
    }
    heading.subheader(plain(answers["Baseline"].question.question, 400))
    pieces = _pieces(answers)
    for column, (side, result) in zip(st.columns(2), answers.items(), strict=True):
        arm = compared.baseline if side == "Baseline" else compared.candidate
        with column, st.container(border=True, height="stretch", key=f"compare_{side.lower()}"):
            _answer(side, arm, compared.labels[arm], result, pieces[side])
    if pieces["Baseline"] or pieces["Candidate"]:
        st.caption("Bold on a coloured ground: the places where the texts differ.")


def _rows(compared: Compared, question: str) -> dict[str, pd.DataFrame]:
    results = compare_data.tables(compared.stamp).results
    asked = results[results["question_id"] == question]
    sides = {"Baseline": compared.baseline, "Candidate": compared.candidate}
    return {side: asked[(asked[ARM] == list(arm)).all(axis=1)].set_index("replicate") for side, arm in sides.items()}


def _repeat(rows: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return the result ids of the repeat that is looked at: the first one on which the sides differ."""
    a, b = rows["Baseline"], rows["Candidate"]
    common = [number for number in a.index if number in b.index]
    if not common:
        return {side: str(table["result_id"].iloc[0]) for side, table in rows.items()}
    differ = [number for number in common if a.loc[number, "verdict"] != b.loc[number, "verdict"]]
    number = (differ or common)[0]
    if len(common) > 1:
        number = (
            st.segmented_control(
                "Repeat",
                common,
                default=number,
                required=True,
                format_func=lambda place: f"{place}  {_signs(a, b, place)}",
                key=f"compare_repeat_{a.loc[number, 'result_id']}_{b.loc[number, 'result_id']}",
            )
            or number
        )
    return {side: str(table.loc[number, "result_id"]) for side, table in rows.items()}


def _signs(a: pd.DataFrame, b: pd.DataFrame, place: int) -> str:
    return results_data.SIGN[str(a.loc[place, "verdict"])] + results_data.SIGN[str(b.loc[place, "verdict"])]


def _pieces(answers: Mapping[str, VerificationResult]) -> dict[str, Sequence[Piece]]:
    texts = [result.raw_llm_response or "" for result in answers.values()]
    marked = side_by_side(*texts)
    if marked is None:
        return dict.fromkeys(answers, ())
    return dict(zip(answers, marked, strict=True))


def _answer(side: str, arm: Arm, label: str, result: VerificationResult, pieces: Sequence[Piece]) -> None:
    st.markdown(f"**{side}** · {plain(label)}")
    verdict = {"pass": "✓ right", "fail": "✗ wrong", "not_evaluated": "– not evaluated"}[result.verdict]
    failure = f": {result.failure.reason}" if result.failure else ""
    st.markdown(f"{verdict}{plain(failure)}")
    if pieces:
        st.markdown(marked_up(pieces, _COLOURS[side]))
    elif result.raw_llm_response:
        st.markdown(plain(result.raw_llm_response, 20_000))
    else:
        st.caption("There is no answer.")
    _fields(result, side)
    if st.button("Open this answer", icon=":material/article:", key=f"compare_open_{side.lower()}"):
        answer_drawer.open_drawer(arm.run_id, result.result_id)


def _fields(result: VerificationResult, side: str) -> None:
    fields = [item for item in result.template.fields if item.rule is not None] if result.template else []
    if fields:
        signs = {True: "✓", False: "✗", None: "–"}
        st.dataframe(
            [
                {
                    "": signs[item.result],
                    "Field": short(item.name),
                    "Extracted": short(readable(item.extracted) or "–"),
                    "Expected": short(readable(item.expected) or "–"),
                }
                for item in fields
            ],
            hide_index=True,
            alt=f"Fields of the {side.lower()}",
            column_config=_WIDTHS,
        )


def marked_up(pieces: Sequence[Piece], colour: str) -> str:
    """Return the pieces of an answer as Markdown: what only it has is bold on a coloured ground."""
    return "".join(_marked(piece.text, colour) if piece.own else _lines(piece.text) for piece in pieces)


def _marked(text: str, colour: str) -> str:
    # Marks do not reach over the end of a line, and hold no blanks at their ends.
    lines = []
    for line in text.split("\n"):
        words = line.strip()
        before, after = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :] if words else ""
        lines.append(f"{before}:{colour}-background[**{plain(words)}**]{after}" if words else line)
    return "  \n".join(lines)


def _lines(text: str) -> str:
    return plain(text).replace("\n", "  \n")
