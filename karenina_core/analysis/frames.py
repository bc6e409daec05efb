"""Evaluations as pandas tables: from results in memory, or from the columns of a stored run.

The columns, their types and meanings are in `columns.COLUMNS`; a table without rows has them too. Either source gives
rows, and the same functions make tables of them. Tables of a stored run load no text of an answer: a hundred thousand
results take a few seconds and some megabytes, because texts that repeat are pandas categories. They go without the
columns of `columns.EVIDENCE_ONLY`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from karenina_core.analysis.cells import clean_text, items_in_words, readable, shorten, value_at
from karenina_core.analysis.columns import COLUMNS, EVIDENCE_ONLY, LONG, PATHS, ROW, FrameKind
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.schemas import (
    METRICS_BY_MODE,
    Annotation,
    AnyTrait,
    CallRecord,
    ConfusionPart,
    Failure,
    FieldEvidence,
    RubricTrait,
    VerificationResult,
    field_state,
)

if TYPE_CHECKING:
    import pandas as pd

    from karenina_core.runs import Store

Results = Sequence[VerificationResult]
Row = dict[str, Any]

Origin = Literal["model", "ledger", "recording", "manual"]
_COUNTS = ("tp", "fp", "tn", "fn")
_STATES = ("right", "wrong", "not_found", "undecided")
# Kinds of trait values in the store, and as the tables name them; an error has no kind.
_KINDS = {"score": "llm_score", "binary": "llm_binary", "literal": "llm_literal", "regex": "regex", "metric": "metric"}


def to_dataframe(results: Results, kind: FrameKind = "results", traits: Iterable[AnyTrait] = ()) -> pd.DataFrame:
    """Return results as a table.

    Args:
        results: The evaluations.
        kind: `results`, `fields`, `traits` or `calls`: what one row stands for.
        traits: Definitions of the traits, for their ranges; used by `traits` only.

    Raises:
        InputError: There is no table of that kind.
    """
    frames: dict[str, Callable[[Results], pd.DataFrame]] = {
        "results": results_frame,
        "fields": fields_frame,
        "traits": partial(traits_frame, traits=traits),
        "calls": calls_frame,
    }
    if kind not in frames:
        raise InputError(f"There is no table of {kind!r}.", next=f"Use one of: {', '.join(frames)}.")
    return frames[kind](results)


# Results


def results_frame(results: Results) -> pd.DataFrame:
    """Return one row per result."""
    return _shaped(_table(map(_result_row, results), COLUMNS["results"]), "results")


def stored_results(store: Store, run_id: str) -> pd.DataFrame:
    """Return one row per result of a stored run, in its order, as `results_frame` does; the index is the store's."""
    import numpy as np
    import pandas as pd

    from karenina_core.runs import evidence_of_unasked, question_columns, result_columns

    table = result_columns(store, [run_id])
    questions = {name: (shorten(text), keywords) for name, text, keywords in question_columns(store, [run_id])}
    origins = pd.Series(np.where(table["answer_seconds"].notna(), "model", ""), table.index, dtype="str")
    origins = origins.where(origins != "")
    costs = table["answer_cost"].copy()
    for row_id, text in evidence_of_unasked(store, run_id):
        if row_id in origins.index:  # otherwise it was stored a moment ago
            origins[row_id], costs[row_id] = _stored_price(text)
    ids = table["question_id"].array
    keywords = np.empty(len(ids.categories) + 1, dtype=object)
    keywords[:-1] = [questions[name][1] for name in ids.categories]
    complete = table.assign(
        question=_renamed(ids, lambda name: questions[name][0]),
        keywords=keywords[ids.codes],
        failure_group=_renamed(table["failure_category"].array, _failure_group),
        answer_cost=costs,
        answer_origin=origins.astype("category"),
        flagged=table["flagged"] == 1,
    )
    return _shaped(complete, "results", categories=True)


def outcomes(store: Store, run_ids: Iterable[str]) -> pd.DataFrame:
    """Return `run_id`, identity, status and verdict of every result of some runs, as `results_frame` names them."""
    from karenina_core.runs import result_columns

    names = ["run_id", "result_id", "question_id", "answering_model", "parsing_model", "replicate", "status", "verdict"]
    return result_columns(store, run_ids, names)


def question_texts(store: Store, run_ids: Iterable[str]) -> pd.DataFrame:
    """Return the questions of some runs: `question_id`, `question` (short) and `keywords`."""
    from karenina_core.runs import question_columns

    table = _table((), ("question_id", "question", "keywords"), list(question_columns(store, run_ids)))
    return table.assign(question=table["question"].map(shorten))


def _result_row(result: VerificationResult) -> Row:
    failure, call = result.failure, result.answer.call if result.answer else None
    origin, cost = answer_price(call.source, call.usage.cost, call.provenance) if call else (None, None)
    row = {name: value_at(result, path) for name, path in PATHS.items() if name in COLUMNS["results"]}
    return {
        **row,
        "question": shorten(row["question"]),
        "failure_reason": clean_text(failure.reason) if failure else None,
        "granular": result.verify_granular_result,
        "answer_seconds": call.seconds if call and call.source in ("provider", "local") else None,
        "answer_cost": cost,
        "answer_origin": origin,
        "flagged": bool(result.answer and result.answer.addresses_judge),
    }


def _identity(result: VerificationResult) -> Row:
    row = {name: value_at(result, PATHS[name]) for name in ROW}
    return row | {"question": shorten(row["question"])}


def answer_price(source: str, cost: float | None, provenance: Mapping[str, Any]) -> tuple[Origin, float | None]:
    """Return where an answer came from and what it cost, by what the record of its call says.

    What a run spent is one thing: an answer from the ledger costs it nothing. What a model charges for an answer is
    another: it is the same however often the answer is used, and the one to compare models by.

    Returns:
        `model` for an answer that was asked for in this run, `ledger` for one asked for before, `recording` or
        `manual` for one that no model was asked for; and the US dollars of the call when it was made, None when no
        model was asked or no price is known.
    """
    remembered = source == "ledger"
    first: Mapping[str, Any] = provenance.get("first_call") or {}
    asked = first.get("source") if remembered else source
    if asked in ("recording", "manual"):
        return cast("Origin", asked), None
    return ("ledger", first.get("cost")) if remembered else ("model", cost)


def _stored_price(evidence: str) -> tuple[Origin | None, float]:
    from pydantic_core import from_json

    call = (from_json(evidence).get("answer") or {}).get("call")
    if call is None:
        return None, math.nan
    origin, cost = answer_price(call["source"], (call.get("usage") or {}).get("cost"), call.get("provenance") or {})
    return origin, math.nan if cost is None else cost


def _failure_group(category: str) -> str:
    return Failure.model_validate({"category": category, "stage": "", "reason": ""}).group


# Template fields


def fields_frame(results: Results) -> pd.DataFrame:
    """Return one row per result and verified field.

    A result that broke before its fields were checked has undecided rows for the fields that other results of the
    same question have, so that what is missing stays visible.
    """
    rows = (
        {"row": number, **_field_row(result, item)}
        for number, result in enumerate(results)
        for item in (result.template.fields if result.template else ())
        if item.rule is not None
    )
    names = [name for name in COLUMNS["fields"] if name not in ROW]
    return _shaped(_fields(results_frame(results), _table(rows, ["row", *names])), "fields")


def stored_fields(store: Store, run_id: str, results: pd.DataFrame) -> pd.DataFrame:
    """Return one row per result and verified field of a stored run, as `fields_frame` does.

    Args:
        store: The store.
        run_id: The run.
        results: Its `stored_results`.
    """
    return _shaped(_fields(results, _stored_states(store, [run_id], results)), "fields", categories=True)


def field_outcomes(store: Store, run_ids: Iterable[str], results: pd.DataFrame) -> pd.DataFrame:
    """Return `run_id`, identity, `field` and `state` of the checked template fields of some runs.

    Args:
        store: The store.
        run_ids: The runs.
        results: Their `outcomes`.
    """
    known = _stored_states(store, run_ids, results)
    identity = [name for name in ("run_id", *ROW) if name in results]
    return (
        results[identity].iloc[known["row"]].reset_index(drop=True).assign(field=known["field"], state=known["state"])
    )


def _field_row(result: VerificationResult, item: FieldEvidence) -> Row:
    return {
        "field": item.name,
        "state": field_state(result, item),
        "expected": readable(item.expected),
        "extracted": readable(item.extracted),
        "primitive": (item.rule or {}).get("type", ""),
        "weight": item.weight,
        "reason": clean_text(item.reason),
    }


def _stored_states(store: Store, run_ids: Iterable[str], results: pd.DataFrame) -> pd.DataFrame:
    """Return `row` (its place in the results), `field` and `state` of every field that a rule checks."""
    import numpy as np
    import pandas as pd

    from karenina_core.runs import field_columns

    fields = field_columns(store, run_ids)
    fields = fields.assign(row=results.index.get_indexer(pd.Index(fields["id"])))
    fields = fields[fields["row"] >= 0].reset_index(drop=True)  # the others were stored a moment ago
    states = fields["state"].cat.set_categories(list(_STATES))
    unknown = fields["state"].isna()
    if unknown.any():
        # Earlier versions stored no state: there it follows from the verdict. A field that no rule ever decided is
        # compared by the template's own code and has none.
        decided = fields["result"]
        judged = results["verdict"].to_numpy()[fields["row"]] != "not_evaluated"
        derived = np.select([decided == 1, decided == 0, judged], ["right", "wrong", "not_found"], "undecided")
        questions = results["question_id"].to_numpy()[fields["row"]]
        ruled = decided.notna().groupby([questions, fields["field"]]).transform("any")
        known = states.astype(object).where(~unknown, pd.Series(derived).where(ruled))
        states = known.astype(pd.CategoricalDtype(list(_STATES)))
    return fields[["row", "field"]].assign(state=states)[states.notna()].reset_index(drop=True)


def _fields(results: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Return the table of fields, given the rows of those that were checked; rows of what is missing are added."""
    import numpy as np
    import pandas as pd

    questions = results["question_id"].to_numpy()
    broken = np.setdiff1d(np.flatnonzero(results["failure_category"].notna()), known["row"])
    of_question = known.assign(question=questions[known["row"]]).drop_duplicates(["question", "field"], keep="last")
    missed = pd.DataFrame({"row": broken, "question": questions[broken]}).merge(
        of_question.drop(columns="row"), on="question"
    )
    if len(missed):
        missed["state"] = pd.Categorical(["undecided"] * len(missed), categories=list(_STATES))
        if "reason" in missed:
            missed["extracted"], missed["reason"] = None, results["failure_reason"].to_numpy()[missed["row"]]
        known = known.assign(state=known["state"].astype(pd.CategoricalDtype(list(_STATES))))
        known = pd.concat([known, missed.drop(columns="question")], ignore_index=True)
    known = known.sort_values("row", kind="stable")
    right = known["state"].astype(object).map({"right": True, "wrong": False}).astype("boolean")
    return _beside(results, known.assign(result=right))


# Traits


def traits_frame(results: Results, traits: Iterable[AnyTrait] = ()) -> pd.DataFrame:
    """Return one row per result and trait; for metric traits one per metric.

    A trait without a value has a row with its error, so that what is missing stays visible.

    Args:
        results: The evaluations.
        traits: Definitions of the traits, which give ranges and directions. Results do not hold them.
    """
    rows = ({"row": number, **row} for number, result in enumerate(results) for row in trait_rows(result))
    table = _table(rows, ["row", "trait", "kind", "metric", "value", "label", *_COUNTS, *EVIDENCE_ONLY["traits"]])
    everywhere = table.loc[table["provenance"] == "global", "trait"].unique()
    types = {"trait": "category", "kind": "category", "metric": "category", "value": "float64"}
    return _shaped(_traits(results_frame(results), table.astype(types), everywhere, traits), "traits")


def stored_traits(store: Store, run_id: str, results: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return one row per result and trait of a stored run, for metric traits one per metric, as `traits_frame` does.

    Args:
        store: The store.
        run_id: The run.
        results: Its `stored_results`.
        benchmark: The benchmark as the run saw it, which knows ranges and directions; of traits that were scored
            later the store knows them.
    """
    import pandas as pd

    from karenina_core.runs import added_traits, score_columns

    table = score_columns(store, [run_id])
    definitions = [*added_traits(store, run_id), *traits_of(benchmark)]
    counted = table.loc[(table["kind"] == "metric") & (table["metric"] != ""), "tp"]
    if len(counted) and counted.isna().all():  # a run of an earlier version, which did not store them
        return traits_frame(store.results.all(run_id), definitions).drop(columns=list(EVIDENCE_ONLY["traits"]))
    rubric = benchmark.get_global_rubric()
    rows = table.assign(
        row=results.index.get_indexer(pd.Index(table["id"])),
        kind=_renamed(table["kind"].array, lambda kind: _KINDS.get(kind, "")),
    )
    everywhere = [trait.name for trait in rubric.traits] if rubric else []
    table = _traits(results, rows[rows["row"] >= 0].drop(columns="id"), everywhere, definitions)
    return _shaped(table, "traits", categories=True)


def traits_of(benchmark: Benchmark) -> list[AnyTrait]:
    """Return all traits of a benchmark, those for all questions last, so that they win where names are equal."""
    own = (benchmark.get_question_rubric(name) for name in benchmark.get_question_ids())
    return [trait for rubric in (*own, benchmark.get_global_rubric()) if rubric for trait in rubric.traits]


def trait_rows(result: VerificationResult) -> Iterator[Row]:
    """Yield the traits of one result: those with a value, for metric traits one row per metric, then errors."""
    rubric = result.rubric
    valued: dict[str, list[Row]] = {}
    for name, score in rubric.scores.items():
        kind = "llm_binary" if isinstance(score, bool) else "llm_score"
        valued[name] = [{"kind": kind, "value": float(score)}]
    for name, label in rubric.labels.items():
        valued[name] = [{"kind": "llm_literal", "value": rubric.scores.get(name), "label": clean_text(label)}]
    for name, found in rubric.regex.items():
        valued[name] = [{"kind": "regex", "value": float(found)}]
    for name in dict.fromkeys([*rubric.metrics, *rubric.confusion]):
        valued[name] = _metric_rows(rubric.metrics.get(name, {}), rubric.confusion.get(name))
    for name in dict.fromkeys([*valued, *rubric.errors]):
        part, error = rubric.confusion.get(name), rubric.errors.get(name)
        reason = rubric.reasons.get(name) or (items_in_words(part) if part else "")
        shared = {
            "trait": clean_text(name),
            "provenance": rubric.provenance.get(name, ""),
            "reason": clean_text(reason) if reason else None,
            "error": clean_text(error) if error else None,
        }
        for row in valued.get(name) or [{"kind": "metric" if name in valued else "", "value": None}]:
            yield {"metric": "", "label": None, **shared, **row}


def _metric_rows(metrics: Mapping[str, float], confusion: ConfusionPart | None) -> list[Row]:
    counts = {name: len(getattr(confusion, name)) for name in _COUNTS} if confusion else {}
    # A metric that is 0/0 may be left out of the values or stand there as 0: the list of undefined ones decides.
    undefined = [name for name in METRICS_BY_MODE["full_matrix"] if confusion and name in confusion.undefined]
    values: dict[str, float] = {**metrics, **dict.fromkeys(undefined, math.nan)}
    return [{**counts, "kind": "metric", "metric": name, "value": value} for name, value in values.items()]


def _traits(
    results: pd.DataFrame, rows: pd.DataFrame, everywhere: Iterable[str], definitions: Iterable[AnyTrait]
) -> pd.DataFrame:
    """Return the table of traits, given the rows of those with a value or an error, and the traits of all questions."""
    import numpy as np
    import pandas as pd

    rows = _with_missing_traits(results, rows, list(everywhere)).sort_values("row", kind="stable")
    by_name = {trait.name: trait for trait in definitions}
    counted = (rows["metric"] != "").to_numpy() & rows["tp"].notna().to_numpy()
    rows["undefined"] = counted & rows["value"].isna().to_numpy()
    # Worked out once for every trait and kind, and for every value that occurs.
    traits = rows[["trait", "kind"]].drop_duplicates()
    known = [(str(kind), by_name.get(str(trait))) for trait, kind in zip(traits["trait"], traits["kind"], strict=True)]
    ranges = np.asarray([_range_of(*pair) for pair in known], dtype="float64").reshape(-1, 2)
    better = pd.array([trait.higher_is_better if trait else None for _, trait in known], dtype="boolean")
    traits = traits.assign(minimum=ranges[:, 0], maximum=ranges[:, 1], higher_is_better=better)
    values = rows[["kind", "value", "label", "undefined"]].drop_duplicates()
    texts = pd.Categorical([_trait_label(*value) for value in values.itertuples(index=False)])
    values = values.assign(text=texts)
    found = rows.merge(traits, on=["trait", "kind"], how="left").merge(values, on=list(values)[:-1], how="left")
    return _beside(results, found.drop(columns=["label", "text"]).assign(label=found["text"]))


def _with_missing_traits(results: pd.DataFrame, rows: pd.DataFrame, everywhere: list[str]) -> pd.DataFrame:
    """Add rows without a value: for traits that could not be evaluated, and for results that broke before theirs."""
    import numpy as np
    import pandas as pd

    blank = {name: rows[name].cat.set_categories(rows[name].cat.categories.union([""])) for name in ("kind", "metric")}
    rows = rows.assign(**blank)
    valued, failed = rows[rows["kind"] != ""], rows[rows["kind"] == ""]
    lost = np.setdiff1d(np.flatnonzero(results["failure_category"].notna()), rows["row"])
    if failed.empty and not len(lost):
        return valued
    questions = results["question_id"].to_numpy()
    about = ["trait", *(name for name in ("provenance",) if name in rows)]
    asked = valued.assign(question=questions[valued["row"]])[["question", *about]].drop_duplicates(
        ["question", "trait"]
    )
    general = asked["trait"].isin(everywhere)
    broken = pd.DataFrame({"row": lost, "question": questions[lost]})
    if "error" in rows:
        broken["error"] = results["failure_reason"].to_numpy()[lost]
    missed = [
        broken.drop(columns="question").merge(asked.loc[general, about].drop_duplicates("trait"), how="cross"),
        broken.merge(asked[~general], on="question").drop(columns="question"),
    ]
    missing = pd.concat([failed.drop(columns=["kind", "metric"]), *missed], ignore_index=True)
    shapes = valued[["trait", "kind", "metric"]].drop_duplicates()
    missing = missing.merge(shapes, on="trait", how="left").fillna({"kind": "", "metric": ""})
    return pd.concat([valued, missing], ignore_index=True)


def _range_of(kind: str, definition: AnyTrait | None) -> tuple[float, float]:
    if kind in ("llm_binary", "regex", "metric"):
        return 0.0, 1.0
    if isinstance(definition, RubricTrait):
        if definition.classes:
            return 0.0, len(definition.classes) - 1.0
        return float(definition.min_score), float(definition.max_score)
    return math.nan, math.nan


def _trait_label(kind: str, value: Any, label: Any, undefined: bool) -> str:
    if kind == "llm_literal" and isinstance(label, str):
        return label
    if undefined:
        return "undefined"
    if value is None or value != value:
        return ""
    if kind in ("llm_binary", "regex"):
        return "yes" if value else "no"
    return f"{value:.2f}" if kind == "metric" else f"{value:g}"


# Model calls


def calls_frame(results: Results) -> pd.DataFrame:
    """Return one row per result and model call.

    Results judged by several judges share the call that answered: count a `key` once when adding up.
    """
    rows = (_identity(result) | _call_row(call) for result in results for call in calls_of(result))
    return _shaped(_table(rows, COLUMNS["calls"]), "calls")


def calls_of(result: VerificationResult) -> Iterator[CallRecord]:
    """Yield the model calls that led to a result."""
    parts = (result.answer, result.abstention, result.sufficiency)
    yield from result.answer.earlier_calls if result.answer else ()
    yield from (part.call for part in parts if part and part.call)
    yield from result.template.calls if result.template else ()
    yield from result.rubric.calls


def _call_row(call: CallRecord) -> Row:
    own = {name: getattr(call, name) for name in ("purpose", "model", "source", "key", "finish_reason", "seconds")}
    return own | {name: getattr(call.usage, name) for name in ("input_tokens", "output_tokens", "cost")}


# All in one


def long_frame(results: Results, annotations: Iterable[Annotation] = ()) -> pd.DataFrame:
    """Return one row per result for its verdict, and one per review, field, trait and metric of it.

    Args:
        results: The evaluations.
        annotations: What people said about them; what was taken back is left out.

    Returns:
        A table with the columns of `LONG`. The reviews of a result follow its verdict, the oldest first.
    """
    import pandas as pd

    evaluated, fields, traits = results_frame(results), fields_frame(results), traits_frame(results)
    right = evaluated["verdict"].map({"pass": True, "fail": False})
    verdicts = evaluated.assign(
        item="verdict", name="", value=evaluated["verdict"], result=right, reason=evaluated["failure_reason"]
    ).assign(raw_answer=[result.question.raw_answer for result in results])
    metric = traits["metric"] != ""
    parts = [
        verdicts,
        evaluated[list(ROW)].merge(_review_rows(annotations), on="result_id"),
        fields.assign(item="field", name=fields["field"], value=fields["extracted"]),
        traits.assign(
            item=metric.map({True: "metric", False: "trait"}),
            name=traits["trait"].where(~metric, traits["trait"] + " / " + traits["metric"]),
            number=traits["value"],
            value=traits["label"].where(~metric, traits["value"].map(str, na_action="ignore")),
            reason=traits["error"].fillna(traits["reason"]),
        ),
    ]
    table = pd.concat([part.reindex(columns=list(LONG)) for part in parts if len(part)] or [_table((), LONG)])
    table = table.astype({name: column.dtype for name, column in LONG.items()})
    table["number"] = table["number"].fillna(table["result"].astype("Float64").astype("float64"))
    order = {result.result_id: place for place, result in enumerate(results)}
    # Stable, so that the items of a result keep their order.
    return table.sort_values("result_id", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)


def _review_rows(annotations: Iterable[Annotation]) -> pd.DataFrame:
    rows = (
        {
            "result_id": item.result_id,
            "item": "review",
            "name": item.field or "",
            "value": "agrees" if item.agrees else "disagrees",
            "result": item.agrees,
            "reason": item.note,
            "cause": item.cause,
            "author": item.author,
            "at": item.at.isoformat(),
        }
        for item in sorted(annotations, key=lambda item: item.at)
        if not item.undone
    )
    return _table(rows, ["result_id", *(name for name in LONG if name not in ROW)])


# Rows to tables


def _table(rows: Iterable[Row], names: Iterable[str], values: list[Any] | None = None) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows) if values is None else values, columns=list(names))


def _beside(results: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the identity of the results that their column `row` gives the places of."""
    table = results[list(ROW)].iloc[rows["row"].to_numpy(dtype=int)].reset_index(drop=True)
    return table.assign(**{str(name): rows[name].array for name in rows if name != "row"})


def _shaped(table: pd.DataFrame, kind: FrameKind, *, categories: bool = False) -> pd.DataFrame:
    """Return a table with the columns of its kind, in their order and of their types; or texts as categories."""
    columns = {name: column.dtype for name, column in COLUMNS[kind].items() if name in table}
    shared = {name for name in columns if categories and table[name].dtype == "category"}
    return table[list(columns)].astype({name: dtype for name, dtype in columns.items() if name not in shared})


def _renamed(values: pd.Categorical[Any], name: Callable[[str], str]) -> pd.Categorical:
    """Return categories under other names; several of the same name become one."""
    import numpy as np
    import pandas as pd

    codes, found = pd.factorize(np.array([name(str(own)) for own in values.categories], dtype=object))
    # A missing value has the code -1, which looks up the last entry.
    return pd.Categorical.from_codes(np.append(codes, -1)[values.codes], categories=pd.Index(found, dtype="str"))
