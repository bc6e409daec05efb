"""Plain sentences about a run, for pages, reports and the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.frames import calls_frame, results_frame
from karenina_core.analysis.statistics import call_totals, pass_rate
from karenina_core.schemas import VerificationResult, causes
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd

Results = Sequence[VerificationResult]


def headline(results: Results) -> str:
    """Return the outcome of a run in one sentence.

    For one model such as `Sample A: 8 of 12 right (67 %, 95 % interval 39–86 %), 1 not evaluated`; for several
    the counts over all of them, while `model_sentences` tells them apart.
    """
    if not results:
        return "No results yet."
    sentences = model_sentences(results)
    if len(sentences) == 1:
        return sentences[0]
    verdicts = Counter(result.verdict for result in results)
    parts = [f"{verdicts['pass']} right", f"{verdicts['fail']} wrong"]
    if verdicts["not_evaluated"]:
        parts.append(f"{verdicts['not_evaluated']} not evaluated")
    models = counted(len({result.answering_model for result in results}), "model")
    questions = counted(len({result.question.id for result in results}), "question")
    return f"{counted(len(results), 'result')} of {models} on {questions}: {', '.join(parts)}"


def model_sentences(results: Results) -> list[str]:
    """Return one sentence per answering model, and per judge where there are several."""
    return rate_sentences(results_frame(results)) if results else []


def rate_sentences(frame: pd.DataFrame) -> list[str]:
    """Return the same from a results table."""
    several = frame["parsing_model"].nunique() > 1
    by = ["answering_model", "parsing_model"] if several else ["answering_model"]
    return [f"{_who(row)}: {rate_sentence(row)}" for row in pass_rate(frame, by).to_dict("records")]


def rate_sentence(row: Mapping[Any, Any]) -> str:
    """Return a row of `statistics.pass_rate` in words, without the name of its group."""
    left_out = _left_out(row)
    if not row["evaluated"]:
        return f"none of {row['n']} evaluated{_errors(row)}"
    detail = f"{percent(row['rate'])}, 95 % interval {interval(row['low'], row['high'])}"
    if row["evaluated"] > row["questions"]:
        detail += f", {counted(row['questions'], 'question')} repeated"
    if row["few"]:
        detail += ", too few to tell"
    return f"{row['passed']} of {row['evaluated']} right ({detail}){left_out}"


def left_out_sentences(results: Results) -> list[str]:
    """Return why results have no verdict, the most frequent cause first, each with its reason or one of several."""
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.verdict == "not_evaluated":
            category = result.failure.category if result.failure else causes.NO_VERDICT
            reasons.setdefault(category, []).append(result.failure.reason if result.failure else "")
    return cause_sentences({category: len(told) for category, told in reasons.items()}, reasons)


def cause_sentences(counts: Mapping[str, int], reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one sentence per failure category, the most frequent first.

    Args:
        counts: How many results have no verdict, by category.
        reasons: By category the reasons of all these results, or of some of them.
    """
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [f"{causes.listed({name: number})}{_reason(reasons.get(name, ()), number)}" for name, number in ordered]


def judge_sentences(results: Results) -> list[str]:
    """Return what to keep in mind about the judges: a model that judged itself, the demo judge."""
    own = sorted({result.answering_model for result in results if result.answering_model == result.parsing_model})
    demo = sorted({result.parsing_model for result in results if _by_demo_judge(result)})
    return [
        *(f"{name}: this model judged itself, so its mistakes may go unnoticed." for name in own),
        *(f"{name}: the demo judge, for trying things out; its verdicts need checking." for name in demo),
    ]


def cost_sentence(results: Results) -> str:
    """Return what the run's model calls took; a call shared by several results counts once.

    Replies that were recorded or prepared are no calls.
    """
    calls = calls_frame(results)
    stored = calls["source"].isin(["recording", "manual"])
    number = calls.loc[stored, "key"].nunique()
    if stored.all():
        return "No model was called" + (f": {_replies(number)}." if number else ".")
    total = call_totals(calls[~stored], []).to_dict("records")[0]
    tokens = f"{total['input_tokens']:,} tokens in, {total['output_tokens']:,} out"
    others = f"; besides, {_replies(number)}" if number else ""
    return f"{counted(total['calls'], 'model call')}, {tokens}, {_money(total)}{others}"


def percent(share: float) -> str:
    """Return a share as whole per cents; `>99 %` and `<1 %` where rounding would claim all or none."""
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def interval(low: float, high: float) -> str:
    """Return both ends of an interval of shares, such as `39–86 %`."""
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _who(row: Mapping[Any, Any]) -> str:
    judge = f", judged by {row['parsing_model']}" if "parsing_model" in row else ""
    return f"{row['answering_model']}{judge}"


def _left_out(row: Mapping[Any, Any]) -> str:
    return f", {row['not_evaluated']} not evaluated{_errors(row)}" if row["not_evaluated"] else ""


def _errors(row: Mapping[Any, Any]) -> str:
    return f" ({counted(row['errors'], 'error')})" if row["errors"] else ""


def _reason(told: Sequence[str], number: int) -> str:
    if not told or not told[0]:
        return ""
    same = len(told) == number and len(set(told)) == 1
    return f": {told[0]}" if same else f"; for example: {told[0]}"


def _by_demo_judge(result: VerificationResult) -> bool:
    calls = [*(result.template.calls if result.template else ()), *result.rubric.calls]
    return any(str(call.provenance.get("note", "")).startswith("demo judge") for call in calls)


def _replies(number: int) -> str:
    return f"{number:,} recorded or prepared {'reply' if number == 1 else 'replies'}"


def _money(total: Mapping[Any, Any]) -> str:
    if total["unpriced"] == total["calls"]:
        return "cost not known"
    unknown = f" and {counted(total['unpriced'], 'call')} of unknown price" if total["unpriced"] else ""
    return f"${total['cost']:,.4f}{unknown}"
