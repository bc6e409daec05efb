"""Models against each other: what can be said, how sure it is, who is ahead, and what repeats tell."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.analysis import (
    ASSUMED_SD,
    Pair,
    compare_differences,
    compare_leaderboard,
    compare_repeats,
    interval_sentence,
    left_out_sentence,
    level_text,
    match,
    most_repeats,
    pairs_frame,
    power_sentence,
    questions_needed,
    unsigned_points,
    verdict_sentence,
)
from karenina_core.text import counted
from pages.components import state
from pages.components.compare import data as compare_data
from pages.components.compare import figure as compare_figure
from pages.components.compare.data import Compared
from pages.components.runs import growth
from pages.components.text import plain, unbroken

_SIGN = {
    "better": ":material/arrow_upward:",
    "worse": ":material/arrow_downward:",
    "open": ":material/drag_handle:",
    "too_few": ":material/help:",
    "nothing": ":material/block:",
}


def sentence(compared: Compared) -> Pair:
    """Draw what can be said of baseline and candidate, and return their comparison."""
    pairs = compare_data.pairs(compared)
    pair = next(item for item in pairs if item.candidate == compared.candidate)
    with st.container(border=True, key="compare_sentence"):
        st.markdown(unbroken(f"### {_SIGN[pair.finding]} {plain(verdict_sentence(pair, compared.labels))}"))
        if remark := interval_sentence(pair):
            st.markdown(f":material/info: {plain(remark)}")
        st.caption(plain(" ".join(filter(None, [power_sentence(pair), left_out_sentence(pair)]))))
        _unmatched(compared, pair)
    return pair


def _unmatched(compared: Compared, pair: Pair) -> None:
    """List the questions that are not compared."""
    if not pair.unmatched + pair.undecided:
        return
    with st.expander(
        f"{counted(pair.unmatched + pair.undecided, 'question')} not compared", on_change="rerun", key="compare_missing"
    ) as listed:
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
                st.dataframe(
                    {"Question": [str(texts.get(name, name)) for name in ids]}, hide_index=True, alt=plain(why)
                )


def draw(compared: Compared) -> None:
    """Draw the comparison of all chosen models."""
    pairs = compare_data.pairs(compared)
    _differences(compared, pairs)
    _others(compared, pairs)
    _planning(next(item for item in pairs if item.candidate == compared.candidate))
    if len(compared.arms) > 2:
        _leaderboard(compared)
    _repeats(compared)


def _differences(compared: Compared, pairs: Sequence[Pair]) -> None:
    clicked = compare_figure.show(
        "differences",
        "How much better or worse is each candidate, and how sure is that?",
        compare_differences(pairs, compared.labels),
        f"Each mark is the difference from the baseline; {_lines(pairs)} (bootstrap over questions). "
        "A triangle is a difference beyond chance, corrected for the number of candidates. Click a mark to look at it.",
        pairs_frame(pairs, dict(compared.labels)),
    )
    if clicked and clicked[0] != compared.candidate.id:
        state.choose("b", clicked[0])
        st.rerun()


def _lines(pairs: Sequence[Pair]) -> str:
    together = max(pair.pairs for pair in pairs)
    if together < 2:
        return "the line is its 95 % interval"
    return (
        "the thick line is its 95 % interval, made for this candidate alone, and the thin line the "
        f"{level_text(together)} interval that allows for all {together} comparisons, as the finding does"
    )


def _others(compared: Compared, pairs: Sequence[Pair]) -> None:
    """Say one sentence per further candidate."""
    others = [pair for pair in pairs if pair.candidate != compared.candidate]
    if others:
        with st.expander(f"Other candidates in words ({len(others)})", key="compare_other_sentences"):
            for pair in others:
                said = f"{verdict_sentence(pair, compared.labels)} {interval_sentence(pair)}"
                st.markdown(f"- {_SIGN[pair.finding]} {plain(said)}")


def _planning(pair: Pair) -> None:
    """Say how many questions a difference that matters takes."""
    with st.expander("How many more questions?", key="compare_planning"):
        points = st.number_input(
            "A difference that would matter to you, in percentage points", 1, 50, 5, key="compare_points"
        )
        scatter = pair.scatter if pair.scatter and pair.questions > 1 else ASSUMED_SD
        needed = questions_needed(points / 100, scatter)
        basis = "the scatter of this pair" if scatter == pair.scatter else "the scatter usual between two models"
        if needed is not None:
            more = max(0, needed - pair.questions)
            enough = f"{counted(more, 'more question')} than there are" if more else "there are enough"
            st.markdown(
                f"With {basis}, {counted(needed, 'matched question')} show a difference of "
                f"{unsigned_points(points / 100)} points four times out of five: {enough}."
            )
        st.caption("By the power of the paired t test over questions, at 5 % significance and 80 % power.")


def _leaderboard(compared: Compared) -> None:
    table = compare_data.board(compared)
    shared = int(table["shared_questions"].iloc[0])
    clicked = compare_figure.show(
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
    if most_repeats(compare_data.tables(compared.stamp).counts, compared.arms) < 2:
        st.markdown("**Does trying again help, and can one rely on the answer?**")
        st.caption("Every question was answered once. Repeat a run to see how often one of several tries is right.")
        run_id = compared.stamp[0][0]
        growth.ask_for(run_id, "Add repeats", "Repeats", "compare_add_repeats", icon=":material/repeat:")
        return
    table = compare_data.repeats(compared)
    compare_figure.show(
        "repeats",
        "Does trying again help, and can one rely on the answer?",
        compare_repeats(table, compared.labels),
        "Above: at least one of k tries is right (pass@k). Below: all k are right (pass^k). "
        "Means over the questions with at least k verdicts, with their 95 % intervals.",
        table,
    )
