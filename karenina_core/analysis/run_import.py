"""An export of results as a run of this store, to be looked at like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from karenina_core.analysis.export import annotations_of, results_of
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, KareninaError
from karenina_core.runs import Store, wanted
from karenina_core.schemas import ModelConfig, QuestionSnapshot, VerificationConfig, VerificationResult

_BATCH = 200


def import_run(store: Store, document: Mapping[str, Any], name: str) -> str:
    """Store exported results with their reviews as a run, and return its id.

    Where a stored benchmark has all of its questions, the run belongs to it; otherwise the run brings the questions
    along, without templates.

    Args:
        store: Gets the run.
        document: What `to_json` or `to_upstream` wrote, read already.
        name: Of the run.

    Raises:
        InputError: The document holds no results, or a damaged one.
        StoreError: It cannot be stored.
    """
    results = list(results_of(document))
    if not results:
        raise InputError("The file holds no results.", next="Export a run that has some.")
    known = {result.result_id for result in results}
    # A file with a part of a run may hold reviews of its other part.
    reviews = [review for review in annotations_of(document, results) if review.result_id in known]
    questions = {result.question_id: result.question for result in results}
    benchmark_id, benchmark = _benchmark_of(store, questions) or (None, _new_benchmark(name, questions.values()))
    benchmark.mark_finished_batch(questions)  # they took part
    plan = wanted(benchmark, _config(document, results), questions)
    run_id = store.runs.create(plan, name, benchmark_id=benchmark_id)
    try:
        for start in range(0, len(results), _BATCH):
            store.results.save(run_id, results[start : start + _BATCH])
        for review in reviews:
            # An id of its own: the run that the file came from may be in this store too.
            store.annotations.add(review.model_copy(update={"run_id": run_id, "id": uuid4().hex}))
    except KareninaError:
        store.runs.delete(run_id)
        raise
    whole = store.runs.get(run_id).done >= plan.rows
    store.runs.set_status(run_id, "completed" if whole else "interrupted", "Read from an export of results.")
    return run_id


def _benchmark_of(store: Store, questions: Mapping[str, QuestionSnapshot]) -> tuple[str, Benchmark] | None:
    """Return the stored benchmark that has all of these questions, with the same texts."""
    for row in store.benchmarks.all():
        if row.question_count < len(questions):
            continue
        benchmark = store.benchmarks.load(row.id)
        if all(
            name in benchmark and benchmark.get_question(name).question == asked.question
            for name, asked in questions.items()
        ):
            return row.id, benchmark
    return None


def _new_benchmark(name: str, questions: Iterable[QuestionSnapshot]) -> Benchmark:
    benchmark = Benchmark.create(name)
    for asked in questions:
        benchmark.add_question(
            asked.question, asked.raw_answer or "(not recorded)", question_id=asked.id, keywords=asked.keywords
        )
    return benchmark


def _config(document: Mapping[str, Any], results: list[VerificationResult]) -> VerificationConfig:
    """Return the configuration that the file holds, where it fits the results; otherwise one with the names alone."""
    models = list(dict.fromkeys(result.answering_model for result in results))
    judges = list(dict.fromkeys(result.parsing_model for result in results))
    repeats = max(result.replicate for result in results)
    with suppress(ValueError):
        config = VerificationConfig.model_validate(document.get("config"))
        answering, parsing = ({model.id for model in own} for own in (config.answering_models, config.parsing_models))
        if config.replicate_count >= repeats and answering >= set(models) and parsing >= set(judges):
            return config
    try:
        return VerificationConfig(
            answering_models=[_named(label) for label in models],
            parsing_models=[_named(label) for label in judges],
            replicate_count=repeats,
        )
    except ValueError as error:
        raise InputError(
            "These results cannot be a run.", why=str(error).splitlines()[-1], next="Look at repeats and model names."
        ) from error


def _named(label: str) -> ModelConfig:
    """Return a model of which nothing is known but its name; it cannot be asked."""
    return ModelConfig(id=label, interface="recorded", model_name=label)
