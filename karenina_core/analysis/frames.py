"""Evaluations as tables: pure functions from results to pandas data frames.

The columns, their types and meanings are in `columns.COLUMNS`. A table without rows has them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.answer_prices import answer_price
from karenina_core.analysis.cells import clean_text, readable, shorten
from karenina_core.analysis.columns import COLUMNS, ROW, FrameKind
from karenina_core.analysis.traits import Definitions, Known, by_name, known_traits, trait_rows
from karenina_core.errors import InputError
from karenina_core.schemas import AnyTrait, CallRecord, FieldEvidence, VerificationResult, field_state

if TYPE_CHECKING:
    import pandas as pd

Results = Sequence[VerificationResult]
Row = dict[str, Any]


def to_dataframe(results: Results, kind: FrameKind = "results", traits: Iterable[AnyTrait] = ()) -> pd.DataFrame:
    """Return results as a table.

    Args:
        results: The evaluations.
        kind: `results`, `fields`, `traits`, `metrics`, `calls` or `usage`: what one row stands for.
        traits: Definitions of the traits, for their ranges; used by `traits` only.

    Raises:
        InputError: There is no table of that kind.
    """
    frames: dict[str, Callable[[], pd.DataFrame]] = {
        "results": lambda: results_frame(results),
        "fields": lambda: fields_frame(results),
        "traits": lambda: traits_frame(results, traits),
        "metrics": lambda: metrics_frame(results),
        "calls": lambda: calls_frame(results),
        "usage": lambda: usage_frame(results),
    }
    if kind not in frames:
        raise InputError(f"There is no table of {kind!r}.", next=f"Use one of: {', '.join(frames)}.")
    return frames[kind]()


def results_frame(results: Results) -> pd.DataFrame:
    """Return one row per result."""
    return _frame((_result_row(result) for result in results), "results")


def fields_frame(results: Results) -> pd.DataFrame:
    """Return one row per result and verified field.

    A result that broke before its fields were checked has undecided rows for the fields that other results of the
    same question have, so that what is missing stays visible.
    """
    known: dict[str, dict[str, FieldEvidence]] = {}
    for result in results:
        known.setdefault(result.question.id, {}).update({item.name: item for item in _verified(result)})
    rows = (
        _field_row(result, item)
        for result in results
        for item in _verified(result) or _missed(result, known[result.question.id].values())
    )
    return _frame(rows, "fields")


def traits_frame(results: Results, traits: Iterable[AnyTrait] = ()) -> pd.DataFrame:
    """Return one row per result and trait; for metric traits one per metric.

    A trait without a value has a row with its error, so that what is missing stays visible.

    Args:
        results: The evaluations.
        traits: Definitions of the traits, which give ranges and directions. Results do not hold them.
    """
    known, definitions = known_traits(results), by_name(traits)
    return _frame((row for result in results for row in _trait_rows(result, known, definitions)), "traits")


def metrics_frame(results: Results) -> pd.DataFrame:
    """Return one row per result, metric trait and metric, with the items it was counted from."""
    traits = traits_frame(results)
    metrics = traits[(traits["kind"] == "metric") & (traits["metric"] != "")]
    return metrics[list(COLUMNS["metrics"])].reset_index(drop=True)


def calls_frame(results: Results) -> pd.DataFrame:
    """Return one row per result and model call.

    Results judged by several judges share the call that answered: count a `key` once when adding up.
    """
    return _frame((_call_row(result, call) for result in results for call in calls_of(result)), "calls")


def usage_frame(results: Results) -> pd.DataFrame:
    """Return one row per result and purpose of its calls: how many, what they took and what they cost.

    An answer that several judges read is in the rows of each; `statistics.call_totals` counts it once.
    """
    calls = calls_frame(results)
    calls = calls.assign(asked=(calls["source"] != "ledger").astype("int64"))
    groups = calls.groupby([*ROW, "purpose"], sort=False)
    sums = groups[["input_tokens", "output_tokens", "cost", "seconds"]].sum(min_count=1)
    table = sums.assign(calls=groups.size(), asked=groups["asked"].sum()).reset_index()
    columns = COLUMNS["usage"]
    return table[list(columns)].astype({name: column.dtype for name, column in columns.items()})


def _frame(rows: Iterable[Row], kind: FrameKind) -> pd.DataFrame:
    import pandas as pd

    columns = COLUMNS[kind]
    frame = pd.DataFrame(list(rows), columns=list(columns))
    return frame.astype({name: column.dtype for name, column in columns.items()})


def _identity(result: VerificationResult) -> Row:
    return {
        "result_id": result.result_id,
        "question_id": result.question.id,
        "question": shorten(result.question.question),
        "answering_model": result.answering_model,
        "parsing_model": result.parsing_model,
        "replicate": result.replicate,
    }


def _result_row(result: VerificationResult) -> Row:
    failure = result.failure
    call = result.answer.call if result.answer else None
    price = answer_price(call) if call else None
    return {
        **_identity(result),
        "keywords": list(result.question.keywords),
        "status": result.status,
        "verdict": result.verdict,
        "failure_category": failure.category if failure else None,
        "failure_group": failure.group if failure else None,
        "failure_stage": failure.stage if failure else None,
        "failure_reason": clean_text(failure.reason) if failure else None,
        "granular": result.verify_granular_result,
        "seconds": result.seconds,
        "answer_seconds": call.seconds if call and call.source in ("provider", "local") else None,
        "cost": result.usage.cost,
        "answer_cost": price.cost if price else None,
        "answer_origin": price.origin if price else None,
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "similarity": result.similarity.similarity if result.similarity else None,
        "flagged": bool(result.answer and result.answer.addresses_judge),
    }


def _verified(result: VerificationResult) -> list[FieldEvidence]:
    return [item for item in (result.template.fields if result.template else ()) if item.rule is not None]


def _missed(result: VerificationResult, known: Iterable[FieldEvidence]) -> list[FieldEvidence]:
    if result.failure is None:
        return []
    nothing: dict[str, Any] = {
        "extracted": None,
        "result": None,
        "similarity": None,
        "steps": [],
        "reason": result.failure.reason,
    }
    return [item.model_copy(update=nothing) for item in known]


def _field_row(result: VerificationResult, item: FieldEvidence) -> Row:
    return {
        **_identity(result),
        "field": item.name,
        "result": item.result,
        "state": field_state(result, item),
        "expected": readable(item.expected),
        "extracted": readable(item.extracted),
        "primitive": (item.rule or {}).get("type", ""),
        "weight": item.weight,
        "reason": clean_text(item.reason),
    }


def _trait_rows(result: VerificationResult, known: Mapping[str, Known], definitions: Definitions) -> Iterator[Row]:
    identity = _identity(result)
    return ({**identity, **row} for row in trait_rows(result, known, definitions))


def calls_of(result: VerificationResult) -> Iterator[CallRecord]:
    """Yield the model calls that led to a result."""
    parts = (result.answer, result.abstention, result.sufficiency)
    yield from (part.call for part in parts if part and part.call)
    yield from result.template.calls if result.template else ()
    yield from result.rubric.calls


def _call_row(result: VerificationResult, call: CallRecord) -> Row:
    return {
        **_identity(result),
        "purpose": call.purpose,
        "model": call.model,
        "source": call.source,
        "key": call.key,
        "finish_reason": call.finish_reason,
        "input_tokens": call.usage.input_tokens,
        "output_tokens": call.usage.output_tokens,
        "cost": call.usage.cost,
        "seconds": call.seconds,
    }
