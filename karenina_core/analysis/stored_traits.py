"""What rubrics found in a stored run, read from columns alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.bulk_columns import Kind
from karenina_core.analysis.columns import ROW, TRAITS, UNREAD
from karenina_core.analysis.frames import traits_frame
from karenina_core.analysis.stored_columns import KEY, Columns, places, read_columns, renamed
from karenina_core.analysis.traits import by_name, range_of
from karenina_core.benchmark import Benchmark
from karenina_core.runs import added_traits
from karenina_core.schemas import AnyTrait

if TYPE_CHECKING:
    import pandas as pd

    from karenina_core.runs import Store

_KINDS = {"score": "llm_score", "binary": "llm_binary", "literal": "llm_literal", "regex": "regex", "metric": "metric"}
_COUNTS = ("tp", "fp", "tn", "fn")
_SCORE: dict[str, Kind] = {
    **dict.fromkeys((*KEY[:-1], "trait", "metric", "kind", "label"), "text"),
    "replicate": "integer",
    **dict.fromkeys(("value", *_COUNTS), "number"),
}


def stored_traits(store: Store, run_id: str, results: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return one row per result and trait, for metric traits one per metric, as `traits_frame` does.

    Args:
        store: The store.
        run_id: The run.
        results: Its `stored_frames.stored_results`.
        benchmark: The benchmark as the run saw it, which knows ranges and directions; of traits that were scored
            later the store knows them.
    """
    from karenina_core.runs import score

    columns = read_columns(store, score, _SCORE, run_id)
    definitions = [*added_traits(store, run_id), *traits_of(benchmark)]
    if _uncounted(columns):
        full = traits_frame(store.results.all(run_id), definitions)
        return full.drop(columns=list(UNREAD["traits"]))
    scores = _scores(columns, places(results, columns))
    rows = _with_missing(scores, results, benchmark).sort_values("row", kind="stable")
    return _described(rows, results, definitions)


def traits_of(benchmark: Benchmark) -> list[AnyTrait]:
    """Return all traits of a benchmark, those for all questions last, so that they win where names are equal."""
    own = (benchmark.get_question_rubric(name) for name in benchmark.get_question_ids())
    rubrics = [*own, benchmark.get_global_rubric()]
    return [trait for rubric in rubrics if rubric for trait in rubric.traits]


def _uncounted(columns: Columns) -> bool:
    """Return whether the run is of an earlier version, which stored metrics without the items behind them."""
    import numpy as np

    counted = columns["tp"][(columns["kind"] == "metric") & (columns["metric"] != "")]
    return bool(len(counted) and np.isnan(counted).all())


def _scores(columns: Columns, rows: Any) -> pd.DataFrame:
    import pandas as pd

    kinds = columns["kind"]
    told = ("trait", "metric", "value", "label", *_COUNTS)
    table = {"row": rows, "kind": renamed(kinds, [_KINDS.get(kind, "") for kind in kinds.categories])}
    scores = pd.DataFrame({**table, **{name: columns[name] for name in told}})
    return scores.query("row >= 0")


def _with_missing(scores: pd.DataFrame, results: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Add rows without a value: for traits that could not be evaluated, and for results that broke before theirs."""
    import numpy as np
    import pandas as pd

    valued, failed = scores[scores["kind"] != ""], scores.loc[scores["kind"] == "", ["row", "trait"]]
    broken = np.setdiff1d(np.flatnonzero(results["failure_category"].notna()), scores["row"])
    if failed.empty and not len(broken):
        return valued
    questions = results["question_id"].cat.codes.to_numpy()
    asked = valued.assign(question=questions[valued["row"]])[["trait", "question"]].drop_duplicates()
    lost = pd.DataFrame({"row": broken, "question": questions[broken]})
    rubric = benchmark.get_global_rubric()
    always = asked["trait"].isin([trait.name for trait in rubric.traits] if rubric else [])
    for_all = lost[["row"]].merge(asked.loc[always, ["trait"]].drop_duplicates(), how="cross")
    for_one = lost.merge(asked[~always], on="question")[["row", "trait"]]
    known = valued[["trait", "kind", "metric"]].drop_duplicates()
    missing = pd.concat([failed, for_all, for_one]).merge(known, on="trait", how="left")
    kept = {name: pd.Categorical(missing[name], categories=_with_none(valued[name])) for name in ("kind", "metric")}
    filled = missing.assign(**{name: values.fillna("") for name, values in kept.items()})
    return pd.concat(
        [valued.assign(**{name: valued[name].cat.set_categories(_with_none(valued[name])) for name in kept}), filled],
        ignore_index=True,
    )


def _with_none(values: pd.Series[Any]) -> list[str]:
    return list(dict.fromkeys([*values.cat.categories, ""]))


def _described(rows: pd.DataFrame, results: pd.DataFrame, traits: Iterable[AnyTrait]) -> pd.DataFrame:
    import pandas as pd

    metric = ((rows["kind"] == "metric") & (rows["metric"] != "")).to_numpy()
    undefined = metric & rows["tp"].notna().to_numpy() & rows["value"].isna().to_numpy()
    table = results[list(ROW)].iloc[rows["row"]].reset_index(drop=True)
    return table.assign(
        **{name: rows[name].array for name in ("trait", "kind", "metric", "value")},
        label=_labels(rows, undefined),
        undefined=undefined,
        **{name: pd.array(rows[name].to_numpy(), dtype="Int64") for name in _COUNTS},
        **_facts(rows, traits),
    )[[name for name in TRAITS if name not in UNREAD["traits"]]]


def _facts(rows: pd.DataFrame, traits: Iterable[AnyTrait]) -> dict[str, Any]:
    """Return range and direction for every row, looked up once for each trait and kind."""
    import numpy as np
    import pandas as pd

    definitions = by_name(traits)
    groups = rows.groupby(["trait", "kind"], sort=False)
    places = groups.ngroup().to_numpy()
    pairs = [(str(kind), definitions.get(str(trait))) for trait, kind in groups.size().index]
    ranges = np.asarray([range_of(kind, trait) for kind, trait in pairs], dtype="float64").reshape(-1, 2)
    better = pd.array([trait.higher_is_better if trait else None for _, trait in pairs], dtype="boolean")
    return {"minimum": ranges[places, 0], "maximum": ranges[places, 1], "higher_is_better": better[places]}


def _labels(rows: pd.DataFrame, undefined: Any) -> pd.Categorical:
    """Return values in words; worked out once for every value of a kind that occurs."""
    import pandas as pd

    values = rows[["kind", "value", "label"]].assign(undefined=undefined)
    groups = values.groupby(["kind", "value", "label", "undefined"], sort=False, dropna=False)
    places = groups.ngroup().to_numpy()
    names = [_label(*group) for group in groups.size().index]
    return renamed(pd.Categorical.from_codes(places, categories=pd.Index(range(len(names)))), names)


def _label(kind: str, value: float, label: Any, undefined: bool) -> str:
    if kind == "llm_literal" and isinstance(label, str):
        return label
    if undefined:
        return "undefined"
    if value != value:
        return ""
    if kind in ("llm_binary", "regex"):
        return "yes" if value else "no"
    return f"{value:.2f}" if kind == "metric" else f"{value:g}"
