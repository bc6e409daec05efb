"""Models against each other: what can be said, how sure it is, who is ahead, and on which questions they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import (
    ARM,
    ASSUMED_SD,
    Arm,
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
        if pair.unmatched + pair.undecided:
            _unmatched(compared, pair.unmatched + pair.undecided)


def _pair(compared: Compared) -> Pair:
    return next(item for item in compare_data.pairs(compared) if item.candidate == compared.candidate)


def _unmatched(compared: Compared, number: int) -> None:
    """List the questions that are not compared."""
    title = f"{counted(number, 'question')} not compared"
    with st.expander(title, on_change="rerun", key="compare_missing") as listed:
        if not listed.open:
            return
        found = compare_data.tables(compared.stamp)
        matched = match(found.counts, compared.baseline, compared.candidate)
        texts = found.questions["question"]
        for why, ids in (
            (f"Only {compared.labels[compared.baseline]} was asked", matched.only_baseline),
            (f"Only {compared.labels[compared.candidate]} was asked", matched.only_candidate),
            ("Without a verdict on one side at least", matched.undecided),
        ):
            if ids:
                st.markdown(f"{plain(why)}: {counted(len(ids), 'question')}")
                questions = {"Question": [short(texts.get(name, name), 500) for name in ids]}
                st.dataframe(questions, hide_index=True, alt=plain(why))


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
    lines = "the line is its 95 % interval"
    if together > 1:
        lines = (
            "the thick line is its 95 % interval, made for this candidate alone, and the thin line the "
            f"{level_text(together)} interval that allows for all {together} comparisons, as the finding does"
        )
    clicked = chart(
        "differences",
        "How much better or worse is each candidate, and how sure is that?",
        compare_differences(pairs, compared.labels),
        f"Each mark is the difference from the baseline; {lines} (bootstrap over questions). "
        "A triangle is a difference beyond chance, corrected for the number of candidates. Click a mark to look at it.",
        pairs_frame(pairs, dict(compared.labels)),
    )
    if clicked and clicked[0] != compared.candidate.id:
        state.choose("b", clicked[0])
        st.rerun()


def _planning(pair: Pair) -> None:
    """Say how many questions a difference that matters takes."""
    with st.expander("How many more questions?", key="compare_planning"):
        size = st.number_input(
            "A difference that would matter to you, in percentage points", 1, 50, 5, key="compare_points"
        )
        scatter = pair.scatter if pair.scatter and pair.questions > 1 else ASSUMED_SD
        needed = questions_needed(size / 100, scatter)
        basis = "the scatter of this pair" if scatter == pair.scatter else "the scatter usual between two models"
        if needed is not None:
            more = max(0, needed - pair.questions)
            enough = f"{counted(more, 'more question')} than there are" if more else "there are enough"
            st.markdown(
                f"With {basis}, {counted(needed, 'matched question')} show a difference of "
                f"{unsigned_points(size / 100)} points four times out of five: {enough}."
            )
        st.caption("By the power of the paired t test over questions, at 5 % significance and 80 % power.")


def _leaderboard(compared: Compared) -> None:
    table = compare_data.board(compared.stamp, compared.arms)
    shared = int(table["shared_questions"].iloc[0])
    clicked = chart(
        "leaderboard",
        "Who is ahead, and who cannot be told apart?",
        compare_leaderboard(table, compared.labels),
        "Models that share a letter cannot be told apart: every two were tested on the questions they have in common, "
        f"corrected by Holm. The order is that of the {counted(shared, 'question')} that all have a verdict for. "
        "Each dot is the share of a model's own evaluated answers that are right, with its 95 % interval; whether two "
        "of these overlap decides nothing, because the tests compare question by question.",
        table,
    )
    if clicked and clicked[0] not in (compared.baseline.id, compared.candidate.id):
        state.choose("b", clicked[0])
        st.rerun()


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
        "Above: at least one of k tries is right (pass@k). Below: all k are right (pass^k). "
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
    shown = _filtered(compared, table)
    st.caption(f"{len(shown)} of {counted(len(table), 'matched question')} shown")
    if shown.empty:
        st.info("No question is like that. Choose another view above.", icon=":material/info:")
        return
    if len(shown) > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} are listed. Search to see others.")
    shown = shown.head(_MOST_ROWS)
    ids, linked = [str(name) for name in shown.index], st.query_params.get("q")
    chosen = pick(
        "compare_questions",
        ids,
        [_cells(row) for row in shown.to_dict("records")],
        linked if linked in ids else None,
        alt="Questions compared",
        most=10,
        columns={"Question": st.column_config.TextColumn(width="large")},
    )
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

    def of(arm: Arm) -> pd.DataFrame:
        return asked[(asked[ARM] == list(arm)).all(axis=1)].set_index("replicate")

    heading = st.empty()
    a, b = of(compared.baseline), of(compared.candidate)
    common = [number for number in a.index if number in b.index]
    number = next((one for one in common if a.loc[one, "verdict"] != b.loc[one, "verdict"]), (common or [None])[0])
    if len(common) > 1:
        number = st.segmented_control(
            "Repeat",
            common,
            default=number,
            required=True,
            format_func=lambda one: f"{one}  {SIGN[str(a.loc[one, 'verdict'])]}{SIGN[str(b.loc[one, 'verdict'])]}",
            key=f"compare_repeat_{a.loc[number, 'result_id']}_{b.loc[number, 'result_id']}",
        )

    def side(title: str, arm: Arm, table: pd.DataFrame) -> Side:
        result_id = table["result_id"].iloc[0] if number is None else table.loc[number, "result_id"]
        return Side(title, arm.run_id, str(result_id), plain(compared.labels[arm]))

    sides = side("Baseline", compared.baseline, a), side("Candidate", compared.candidate, b)
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
    interval = "with its 95 % interval"
    if together > 1:
        each = level_text(together)
        interval = f"with intervals that hold for all {together} {part}s together 95 % of the time ({each} each)"
    st.caption(
        f"{_merged(parts, part)} Differences are percentage points, candidate minus baseline, {interval}. "
        f"What is beyond chance is corrected for all {part}s together; where a finding is close and its interval says "
        "otherwise, the test decides."
    )
    page_figure.csv("Download as CSV", lambda: table, f"compare-{part}s.csv", f"compare_download_{part}s")


def _merged(parts: Parts, part: str) -> str:
    """Say which lines are made of several questions, and that these need not ask for the same thing."""
    several = {name: pair.questions for name, pair in parts.items() if pair.questions > 1}
    if not several:
        return f"Every {part} stands in one question only."
    name, most = max(several.items(), key=lambda item: item[1])
    apart = " A question with several keywords counts under each." if part == "keyword" else ""
    return (
        f"Questions that share a {part} are taken together, even where it means something else in each of them: "
        f"{len(several)} of {counted(len(parts), part)} {'comes' if len(several) == 1 else 'come'} from several "
        f"questions, {plain(short(name, 60))} from {most}.{apart}"
    )
