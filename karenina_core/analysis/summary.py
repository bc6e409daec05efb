"""Plain sentences about a run, and numbers in words, for pages, reports and the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.frames import calls_frame, calls_of, results_frame
from karenina_core.analysis.statistics import call_totals, pass_rate
from karenina_core.schemas import (
    NO_VERDICT,
    CallRecord,
    FieldEvidence,
    VerificationResult,
    failures_in_words,
    field_state,
)
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd

Results = Sequence[VerificationResult]
Row = Mapping[Any, Any]
_SIGNS = {"right": "✓ right", "wrong": "✗ wrong", "not_found": "– nothing found", "undecided": "– not decided"}


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


def number(value: float | None) -> str:
    """Return a number with two decimals, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.2f}"


def model_sentences(results: Results) -> list[str]:
    """Return one sentence per answering model, and per judge where there are several."""
    return rate_sentences(results_frame(results)) if results else []


def rate_sentences(frame: pd.DataFrame) -> list[str]:
    """Return the same from a results table."""
    several = frame["parsing_model"].nunique() > 1
    table = pass_rate(frame, ["answering_model", "parsing_model"] if several else ["answering_model"])
    return [
        f"{row['answering_model']}{', judged by ' + row['parsing_model'] if several else ''}: {rate_sentence(row)}"
        for row in table.to_dict("records")
    ]


def rate_sentence(row: Row) -> str:
    """Return a row of `statistics.pass_rate` in words, without the name of its group."""
    errors = f" ({counted(row['errors'], 'error')})" if row["errors"] else ""
    if not row["evaluated"]:
        return f"none of {row['n']} evaluated{errors}"
    detail = f"{percent(row['rate'])}, 95 % interval {interval(row['low'], row['high'])}"
    detail += f", {counted(row['questions'], 'question')} repeated" if row["evaluated"] > row["questions"] else ""
    detail += ", too few to tell" if row["few"] else ""
    left_out = f", {row['not_evaluated']} not evaluated{errors}" if row["not_evaluated"] else ""
    return f"{row['passed']} of {row['evaluated']} right ({detail}){left_out}"


def left_out_sentences(results: Results) -> list[str]:
    """Return why results have no verdict, the most frequent cause first, each with its reason or one of several."""
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.verdict == "not_evaluated":
            category = result.failure.category if result.failure else NO_VERDICT
            reasons.setdefault(category, []).append(result.failure.reason if result.failure else "")
    return cause_sentences({category: len(own) for category, own in reasons.items()}, reasons)


def cause_sentences(counts: Mapping[str, int], reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one sentence per failure category, the most frequent first.

    Args:
        counts: How many results have no verdict, by category.
        reasons: By category the reasons of all these results, or of some of them.
    """
    sentences = []
    for name, total in sorted(counts.items(), key=lambda item: -item[1]):
        own = reasons.get(name) or [""]
        same = len(own) == total and len(set(own)) == 1
        reason = f"{': ' if same else '; for example: '}{own[0]}" if own[0] else ""
        sentences.append(f"{failures_in_words({name: total})}{reason}")
    return sentences


def judge_sentences(results: Results) -> list[str]:
    """Return what to keep in mind about the judges: a model that judged itself, the demo judge."""
    own = sorted({result.answering_model for result in results if result.answering_model == result.parsing_model})
    demo = sorted({result.parsing_model for result in results if _by_demo_judge(result)})
    return [
        *(f"{name}: this model judged itself, so its mistakes may go unnoticed." for name in own),
        *(f"{name}: the demo judge, for trying things out; its verdicts need checking." for name in demo),
    ]


def _by_demo_judge(result: VerificationResult) -> bool:
    calls = [*(result.template.calls if result.template else ()), *result.rubric.calls]
    return any(str(call.provenance.get("note", "")).startswith("demo judge") for call in calls)


def cost_sentence(results: Results) -> str:
    """Return what the run's model calls took; a call shared by several results counts once.

    Replies that were recorded or prepared are no calls.
    """
    calls = calls_frame(results)
    stored = calls["source"].isin(["recording", "manual"])
    replies = calls.loc[stored, "key"].nunique()
    prepared = f"{replies:,} recorded or prepared {'reply' if replies == 1 else 'replies'}"
    if stored.all():
        return "No model was called" + (f": {prepared}." if replies else ".")
    [total] = call_totals(calls[~stored], []).to_dict("records")
    unknown = f" and {counted(total['unpriced'], 'call')} of unknown price" if total["unpriced"] else ""
    money = f"${total['cost']:,.4f}{unknown}" if total["unpriced"] < total["calls"] else "cost not known"
    tokens = f"{total['input_tokens']:,} tokens in, {total['output_tokens']:,} out"
    others = f"; besides, {prepared}" if replies else ""
    return f"{counted(total['calls'], 'model call')}, {tokens}, {money}{others}"


def provenance_sentences(results: Results) -> list[str]:
    """Return what a reader must know before any number: which replies were written by hand, recorded or prepared."""
    models: dict[str, dict[str, None]] = {}
    for result in results:
        for call in calls_of(result):
            if words := _provenance(call):
                models.setdefault(words, {})[call.model] = None
    return [f"{words} This holds for {_listed(list(names))}." for words, names in models.items()]


def _provenance(call: CallRecord) -> str:
    name = call.provenance.get("recording")
    if name is not None and call.provenance.get("kind") == "sample":
        return (
            f"Hand-written samples: the replies come from the recording {name!r}. "
            "No model gave them, so the numbers say nothing about any model."
        )
    if name is not None:
        return f"Recorded replies: they come from the recording {name!r}. No model was asked for them in this run."
    if call.source == "manual":
        return "Prepared answers: they were given in a file. No model was asked for them in this run."
    return ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def field_sign(result: VerificationResult, item: FieldEvidence) -> str:
    """Return what became of a field of a result; empty where no rule decides it but the template's own code.

    Args:
        result: The evaluation.
        item: One of its fields.
    """
    if item.result is not None:
        return _SIGNS["right" if item.result else "wrong"]
    if waits(item):
        part = result.similarity
        failed = part is not None and not part.performed and bool(part.reason)
        return f"{_SIGNS['undecided']}: the embedding check {'failed' if failed else 'was off'}"
    return _SIGNS.get(field_state(result, item), "")


def waits(item: FieldEvidence) -> bool:
    """Return whether a field has a value whose similarity was never measured, so that nothing decided it."""
    semantic = (item.rule or {}).get("type") == "SemanticMatch"
    return semantic and item.result is None and item.extracted is not None
