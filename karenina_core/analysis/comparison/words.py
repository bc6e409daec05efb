"""What a comparison says, in plain sentences for pages, reports and the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping

from karenina_core.analysis.comparison.arms import Arm
from karenina_core.analysis.comparison.pairs import Pair
from karenina_core.analysis.comparison.significance import (
    ALPHA,
    ASSUMED_SD,
    FEWEST,
    detectable,
    fewest,
    joint_level,
    questions_needed,
)
from karenina_core.analysis.summary import percent
from karenina_core.text import counted

Labels = Mapping[Arm, str]
_CLOSE = "the two are made in different ways, the finding is close, and the test decides."


def verdict_sentence(pair: Pair, labels: Labels) -> str:
    """Return what can be said of a pair in one sentence, with the numbers it rests on."""
    baseline, candidate = labels[pair.baseline], labels[pair.candidate]
    match pair.finding:
        case "nothing":
            return f"{candidate} and {baseline} cannot be compared: no question has a verdict for both."
        case "too_few" if not pair.disagreements:
            one = "the one matched question" if pair.questions == 1 else f"all {pair.questions:,} matched questions"
            return f"{candidate} and {baseline} do equally well on {one}: no disagreement, so nothing to tell."
        case "too_few":
            takes = f"{FEWEST} at least"
            if pair.pairs > 1:
                # The correction asks for more of all but the least clear comparison.
                takes += f" for this pair alone, and up to {fewest(pair.pairs)} among {pair.pairs} comparisons"
            return (
                f"Too few disagreements to tell {candidate} from {baseline}: {_numbers(pair)}; they differ on "
                f"{counted(pair.disagreements, 'question')} ({directions(pair)}), and it takes {takes}."
            )
        case "open":
            return f"No difference can be told between {candidate} and {baseline}: {_numbers(pair)}; {_chance(pair)}."
        case _:
            return f"{candidate} is {pair.finding} than {baseline}: {_numbers(pair)}; {_chance(pair)}."


def interval_sentence(pair: Pair) -> str:
    """Return why the interval seems to say something else than the finding; an empty text where it does not."""
    if math.isnan(pair.low) or pair.off_zero == pair.told_apart:
        return ""
    if not pair.off_zero:
        return f"The interval reaches to zero, while the {pair.test} finds a difference: {_CLOSE}"
    if pair.finding == "too_few":
        return "The interval leaves out zero, but so few disagreements make it look surer than it is."
    if pair.p > ALPHA or pair.joint_low > 0 or pair.joint_high < 0:
        return f"The interval leaves out zero, while the {pair.test} finds no difference: {_CLOSE}"
    return (
        f"The interval leaves out zero because it is made for this pair alone; among {pair.pairs} comparisons one "
        "such interval easily does so by chance, and the corrected test decides."
    )


def level_text(pairs: int) -> str:
    """Return the level of an interval that allows for several comparisons: `98.3 %` for three."""
    return f"{100 * joint_level(pairs):.1f} %".replace(".0 %", " %")


def directions(pair: Pair) -> str:
    """Return on how many questions the candidate does better and worse."""
    return f"better on {pair.better}, worse on {pair.worse}"


def points(share: float) -> str:
    """Return a difference between shares as percentage points with its sign: `+17`, `−4`, `0`, `+0.4`."""
    if math.isnan(share):
        return "–"
    size = unsigned_points(abs(share))
    return size if size == "0" else f"{'+' if share > 0 else '−'}{size}"


def unsigned_points(share: float) -> str:
    """Return a share as percentage points, with one decimal below ten: `17`, `3.5`, `0`."""
    return f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.1f}".removesuffix(".0")


def left_out_sentence(pair: Pair) -> str:
    """Return what the pair leaves out, or an empty text when that is nothing."""
    parts = (
        (pair.unmatched, "question", " that only one side was asked"),
        (pair.undecided, "question", " without a verdict on one side at least"),
        (pair.left_out, "repeat", " without a verdict"),
    )
    left_out = ", ".join(f"{counted(number, noun)}{which}" for number, noun, which in parts if number)
    return f"Left out: {left_out}." if left_out else ""


def power_sentence(pair: Pair) -> str:
    """Return how many more questions would tell this pair apart, and what the present ones can tell."""
    if pair.questions < 2:
        return "With fewer than two matched questions, nothing tells how many more it takes."
    scatter, basis = (pair.scatter, "the scatter seen here") if pair.scatter else (ASSUMED_SD, "the usual scatter")
    ability = (
        f"With {basis}, {counted(pair.questions, 'matched question')} show a difference of "
        f"{unsigned_points(detectable(pair.questions, scatter))} percentage points or more four times out of five"
    )
    needed = questions_needed(pair.difference, scatter)
    if pair.told_apart:
        return f"{ability}."
    if needed is None:
        return f"{ability}. No number of questions shows a difference of {points(pair.difference)}."
    more = max(0, needed - pair.questions)
    if not more:
        return f"{ability}; this one may have been hidden by chance or by the correction for several pairs."
    return (
        f"{ability}. If the difference of {points(pair.difference)} points is real, it takes about "
        f"{counted(needed, 'question')} to show it: {counted(more, 'more question')} than there are."
    )


def _numbers(pair: Pair) -> str:
    matched = counted(pair.questions, "matched question")
    if pair.repeated:
        rates = f"{percent(pair.candidate_rate)} right against {percent(pair.baseline_rate)} over {matched}"
        rates += ", repeats averaged"
    else:
        candidate, baseline = (round(rate * pair.questions) for rate in (pair.candidate_rate, pair.baseline_rate))
        rates = f"right on {candidate:,} against {baseline:,} of {matched}"
    interval = "" if math.isnan(pair.low) else f" (95 % interval {points(pair.low)} to {points(pair.high)})"
    return f"{rates}, {points(pair.difference)} percentage points{interval}"


def _chance(pair: Pair) -> str:
    alone = f"{pair.test}, p {_p(pair.p)}"
    return alone if pair.pairs < 2 else f"{alone}; p {_p(pair.corrected)} corrected for {pair.pairs} comparisons"


def _p(chance: float) -> str:
    return "< 0.001" if chance < 0.001 else f"= {chance:.3f}" if chance < 0.1 else f"= {chance:.2f}"
