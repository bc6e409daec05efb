"""How prepared answers fit the questions, shown before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import AnswerMatch, match_answers
from pages.components.text import plain, short

_SHOWN = 50


def report(label: str, answers: Mapping[str, str], benchmark: Benchmark, question_ids: Iterable[str] | None) -> None:
    """Draw what fits and what does not, for one model."""
    match = match_answers(benchmark, answers, question_ids)
    sign = ":material/check_circle:" if match.complete else ":material/warning:"
    st.caption(f"{sign} {plain(label, 60)}: {plain(match.sentence)}")
    rows = _rows(match, benchmark)
    if rows:
        with st.expander(f"What does not fit ({len(rows)})"):
            st.dataframe(
                rows[:_SHOWN],
                hide_index=True,
                alt="Prepared answers that do not fit",
                height="content" if len(rows) < 8 else 280,
                column_config={"What": st.column_config.TextColumn(width=120)},
            )
            if len(rows) > _SHOWN:
                st.caption(f"{_SHOWN} of {len(rows)} shown.")


def _rows(match: AnswerMatch, benchmark: Benchmark) -> list[dict[str, str]]:
    kinds = (
        ("no answer", match.unanswered),
        ("blank answer", match.empty),
        ("two answers", match.twice),
    )
    known = [
        {"What": what, "Question": short(benchmark.get_question(name).question, 160)}
        for what, names in kinds
        for name in names
    ]
    return known + [{"What": "no such question", "Question": short(key, 160)} for key in match.unknown]
