"""Models against each other: what can be said, how sure it is, who is ahead, and on which questions they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import (
    ARM,
    ASSUMED_SD,
    Pair,
    Parts,
    compare_differences,
    compare_leaderboard,
    compare_repeats,
    interval_sentence,
    left_out_sentence,
    level_text,
    match,
    most_repeats,
    pairs_frame,
    parts_frame,
    percent,
    points,
    power_sentence,
    questions_needed,
    unsigned_points,
    verdict_sentence,
)
from karenina_core.text import counted
from pages.components import figure as page_figure
from pages.components import forms, frame, state
from pages.components.answer import side_by_side
from pages.components.answer.side_by_side import Side
from pages.components.compare import data as compare_data
from pages.components.compare.data import Compared
from pages.components.results.data import SIGN
from pages.components.text import plain, short, unbroken
from pages.components.widgets import pick

_ICONS = {
    "better": ":material/arrow_upward:",
    "worse": ":material/arrow_downward:",
    "open": ":material/drag_handle:",
    "too_few": ":material/help:",
    "nothing": ":material/block:",
}


def sentence(compared: Compared) -> None:
    """Draw what can be said of baseline and candidate."""
    pair = _pair(compared)
    with st.container(border=True, key="compare_sentence"):
        st.markdown(unbroken(f"### {_ICONS[pair.finding]} {plain(verdict_sentence(pair, compared.labels))}"))
        if remark := interval_sentence(pair):
            st.markdown(f":material/info: {plain(remark)}")
        st.caption(plain(" ".join(filter(None, [power_sentence(pair), left_out_sentence(pair)]))))
        if number := pair.unmatched + pair.undecided:
            title = f"{counted(number, 'question')} not compared"
            with st.expander(title, on_change="rerun", key="compare_missing") as listed:
                if listed.open:
                    _unmatched(compared)


def _pair(compared: Compared) -> Pair:
    return next(item for item in compare_data.pairs(compared) if item.candidate == compared.candidate)


def _unmatched(compared: Compared) -> None:
    """List the questions that are not compared."""
    found = compare_data.tables(compared.stamp)
    matched, texts = match(found.counts, compared.baseline, compared.candidate), found.questions["question"]
    for why, ids in {
        f"Only {compared.labels[compared.baseline]} was asked": matched.only_baseline,
        f"Only {compared.labels[compared.candidate]} was asked": matched.only_candidate,
        "Without a verdict on one side at least": matched.undecided,
    }.items():
        if ids:
            st.markdown(f"{plain(why)}: {counted(len(ids), 'question')}")
            forms.table([{"Question": short(texts.get(name, name), 500)} for name in ids], plain(why))


def chart(name: str, question: str, drawing: Any, reading: str, table: pd.DataFrame) -> list[Any] | None:
    """Draw a chart with its numbers; return what a new click on a mark stands for, once for every click."""
    st.markdown(f"**{question}**")
    mark = page_figure.chart(drawing, f"compare_figure_{name}", question)
    st.caption(reading)
    page_figure.numbers(f"compare_{name}", question, lambda: table, f"compare-{name}.csv")
    seen, st.session_state[f"_compare_clicked_{name}"] = st.session_state.get(f"_compare_clicked_{name}"), mark
    return mark if mark != seen else None


def draw(compared: Compared) -> None:
    """Draw the comparison of all chosen models."""
    _differences(compared, compare_data.pairs(compared))
    _planning(_pair(compared))
    if len(compared.arms) > 2:
        _leaderboard(compared)
    _repeats(compared)


def _differences(compared: Compared, pairs: Sequence[Pair]) -> None:
    together = max(pair.pairs for pair in pairs)
    several = f"thick for this candidate alone, thin for all {together} together ({level_text(together)} each)"
    lines = f"its 95 % interval{', ' + several if together > 1 else ''} (bootstrap over questions)"
    beyond = "A triangle is a difference beyond chance, corrected for the number of candidates."
    clicked = chart(
        "differences",
        "How much better or worse is each candidate, and how sure is that?",
        compare_differences(pairs, compared.labels),
        f"A mark is the difference from the baseline, the line {lines}. {beyond} Click a mark to look at it.",
        pairs_frame(pairs, dict(compared.labels)),
    )
    _look_at(clicked, compared)


def _look_at(clicked: list[Any] | None, compared: Compared) -> None:
    """Make the arm whose mark was clicked the candidate."""
    if clicked and clicked[0] not in (compared.baseline.id, compared.candidate.id):
        state.choose("b", clicked[0])
        st.rerun()


def _planning(pair: Pair) -> None:
    """Say how many questions a difference that matters takes."""
    with st.expander("How many more questions?", key="compare_planning"):
        label = "A difference that would matter to you, in percentage points"
        share = st.number_input(label, 1, 50, 5, key="compare_points") / 100
        own = bool(pair.scatter) and pair.questions > 1
        needed = questions_needed(share, pair.scatter if own else ASSUMED_SD)
        if needed is not None:
            basis = "the scatter of this pair" if own else "the scatter usual between two models"
            more = needed - pair.questions
            enough = f"{counted(more, 'more question')} than there are" if more > 0 else "there are enough"
            show = f"show a difference of {unsigned_points(share)} points four times out of five: {enough}."
            st.markdown(f"With {basis}, {counted(needed, 'matched question')} {show}")
        st.caption("By the power of the paired t test over questions, at 5 % significance and 80 % power.")


def _leaderboard(compared: Compared) -> None:
    table = compare_data.board(compared.stamp, compared.arms)
    shared = counted(int(table["shared_questions"].iloc[0]), "question")
    clicked = chart(
        "leaderboard",
        "Who is ahead, and who cannot be told apart?",
        compare_leaderboard(table, compared.labels),
        "Models that share a letter cannot be told apart: every two were tested on their common questions, corrected "
        f"by Holm. The order is that of the {shared} that all have a verdict for. A dot is the share of a model's own "
        "answers that are right, with its 95 % interval; whether two intervals overlap decides nothing.",
        table,
    )
    _look_at(clicked, compared)


def _repeats(compared: Compared) -> None:
    question = "Does trying again help, and can one rely on the answer?"
    if most_repeats(compare_data.tables(compared.stamp).counts, compared.arms) < 2:
        st.markdown(f"**{question}**")
        st.caption("Every question was answered once. Repeat a run to see how often one of several tries is right.")
        run_id = compared.stamp[0][0]
        frame.link_button("Add repeats to this run", frame.MONITOR, "compare_add_repeats", run=run_id)
        return
    table = compare_data.repeats(compared.stamp, compared.arms)
    chart(
        "repeats",
        question,
        compare_repeats(table, compared.labels),
        "Solid lines: at least one of k tries is right (pass@k). Dashed: all k are right (pass^k). "
        "Means over the questions with at least k verdicts, with their 95 % intervals.",
        table,
    )


# Question by question

_OUTCOMES = {
    "better": "▲ better",
    "worse": "▼ worse",
    "both_right": "✓ both right",
    "both_wrong": "✗ both wrong",
    "both_partly": "≈ both partly",
}
_MOST_ROWS = 1_000
_VIEWS = {"differ": "Where they differ", **_OUTCOMES, "all": "All"}
_SHOWN = {"differ": ("better", "worse"), **{name: (name,) for name in _OUTCOMES}, "all": tuple(_OUTCOMES)}


def draw_questions(compared: Compared) -> None:
    """Draw the table of questions, and the answers of the chosen one."""
    table = compare_data.matched(compared)
    if table.empty:
        st.info("No question has a verdict on both sides.", icon=":material/info:")
        return
    forms.refuse_lost("q", [str(name) for name in table.index], "question")
    shown = _filtered(compared, table)
    first = f"; the first {_MOST_ROWS:,} are listed" if len(shown) > _MOST_ROWS else ""
    st.caption(f"{len(shown)} of {counted(len(table), 'matched question')} shown{first}")
    if shown.empty:
        st.info("No question is like that. Choose another view above.", icon=":material/info:")
        return
    shown = shown.head(_MOST_ROWS)
    ids, linked = [str(name) for name in shown.index], st.query_params.get("q")
    cells, look = [_cells(row) for row in shown.to_dict("records")], forms.widths(Question="large")
    before, alt = linked if linked in ids else None, "Questions compared"
    chosen = pick("compare_questions", ids, cells, before, alt=alt, most=10, columns=look)
    if chosen != linked:
        state.choose("q", chosen)
    page_figure.csv("Download as CSV", table.reset_index, "compare-questions.csv", "compare_download_questions")
    if chosen is None:
        st.caption("Choose a question to see both answers side by side.")
    else:
        _answers(compared, chosen)


def _filtered(compared: Compared, table: pd.DataFrame) -> pd.DataFrame:
    counts = table["outcome"].value_counts()
    numbers = {name: int(counts.reindex(kept, fill_value=0).sum()) for name, kept in _SHOWN.items()}
    views = [name for name in _VIEWS if numbers[name] or name in ("differ", "all")]
    titles = {name: f"{_VIEWS[name]} {numbers[name]}" for name in views}
    left, right = st.columns([72, 28], vertical_alignment="bottom")
    with left:
        key = f"compare_outcome_{compared.baseline.id}_{compared.candidate.id}"
        view = forms.segments("Questions", titles, key, wrap=True)
    search = right.text_input("Search in questions", type="search", key="compare_search")
    shown = table[table["outcome"].isin(_SHOWN[view])]
    if search:
        shown = shown[shown["question"].str.contains(search, case=False, regex=False)]
    return shown.sort_values("difference", kind="stable")


def _cells(row: dict[Any, Any]) -> dict[str, str]:
    def share(side: str) -> str:
        evaluated, passed = row[f"{side}_evaluated"], row[f"{side}_passed"]
        if evaluated == 1:
            return "✓ right" if passed else "✗ wrong"
        return f"{passed} of {evaluated} ({percent(passed / evaluated)})"

    return {
        "": _OUTCOMES[row["outcome"]],
        "Question": short(row["question"]),
        "Baseline": share("baseline"),
        "Candidate": share("candidate"),
    }


def _answers(compared: Compared, question: str) -> None:
    """Draw the answers of baseline and candidate to a question, of the repeat on which they differ at first."""
    results = compare_data.tables(compared.stamp).results
    asked = results[results["question_id"] == question]
    both = (compared.baseline, compared.candidate)
    a, b = (asked[(asked[ARM] == list(arm)).all(axis=1)].set_index("replicate") for arm in both)
    heading = st.empty()
    common = {number: (a.loc[number], b.loc[number]) for number in a.index if number in b.index}
    differ = (number for number, (one, other) in common.items() if one["verdict"] != other["verdict"])
    number: Any = next(differ, next(iter(common), None))
    if len(common) > 1:
        signs = {n: f"{n}  {SIGN[str(one['verdict'])]}{SIGN[str(two['verdict'])]}" for n, (one, two) in common.items()}
        key = "compare_repeat_" + "_".join(str(row["result_id"]) for row in common[number])
        options: Any = {"default": number, "required": True, "format_func": signs.__getitem__, "key": key}
        number = st.segmented_control("Repeat", list(common), **options)
    sides = []
    for title, arm, table in (("Baseline", compared.baseline, a), ("Candidate", compared.candidate, b)):
        row = table.iloc[0] if number is None else table.loc[number]
        sides.append(Side(title, arm.run_id, str(row["result_id"]), plain(compared.labels[arm])))
    heading.subheader(plain(side_by_side.draw(sides, "compare"), 400))


# Keywords and fields

_FINDINGS = {
    "better": "▲ better beyond chance",
    "worse": "▼ worse beyond chance",
    "open": "= no difference can be told",
    "too_few": "? too few disagreements to tell",
}


def draw_parts(compared: Compared) -> None:
    """Draw where baseline and candidate differ: by keyword and by template field."""
    about = (compared.stamp, compared.baseline, compared.candidate)
    _parts(compare_data.keyword_parts(*about), "keyword", "On which subjects do they differ?")
    _parts(compare_data.field_parts(*about), "field", "Which facts does one get right and the other not?")


def _parts(parts: Parts, part: str, question: str) -> None:
    st.markdown(f"**{question}**")
    if not parts:
        st.caption(f"No {part} can be compared.")
        return
    table = parts_frame(parts, part)
    shown = {
        part.capitalize(): table[part].map(short),
        "From questions": table["questions"],
        "Finding": table["finding"].map(_FINDINGS),
        "Difference": table["difference"].map(points),
        "From": table["joint_low"].map(points),
        "To": table["joint_high"].map(points),
        "Baseline": table["baseline_rate"].map(percent),
        "Candidate": table["candidate_rate"].map(percent),
        "Better on": table["better"],
        "Worse on": table["worse"],
    }
    st.dataframe(pd.DataFrame(shown), hide_index=True, alt=question)
    together = max(pair.pairs for pair in parts.values())
    each = f" for all {together} {part}s together ({level_text(together)} each)" if together > 1 else ""
    apart = " A question with several keywords counts under each." if part == "keyword" else ""
    st.caption(
        f"Questions that share a {part} are taken together, even where it means something else in each of them.{apart} "
        f"Differences are percentage points, candidate minus baseline, with 95 % intervals{each}. Findings are "
        f"corrected for all {part}s together; where interval and finding disagree, the test decides."
    )
    page_figure.csv("Download as CSV", lambda: table, f"compare-{part}s.csv", f"compare_download_{part}s")
