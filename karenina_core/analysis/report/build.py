"""Results to a report: pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Literal

from karenina_core.analysis import summary
from karenina_core.analysis.cells import readable, redactor, shorten
from karenina_core.analysis.field_words import field_sign
from karenina_core.analysis.figures import FIGURES
from karenina_core.analysis.frames import to_dataframe
from karenina_core.analysis.provenance import provenance_sentences
from karenina_core.analysis.report import grids
from karenina_core.analysis.report.content import AnswerSheet, Chart, Grid, RunPart
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import CAUSE_WORDS, Annotation, AnyTrait, VerificationConfig, VerificationResult, rule_title

if TYPE_CHECKING:
    import pandas as pd

AnswerChoice = Literal["none", "failures", "all"]
MOST_ANSWERS = 200
"""A report that shows more answers than this opens slowly; the data exports hold all of them."""
MOST_SQUARES = 60
"""Figures with a row per question or field are left out above this number of rows."""
_LONGEST_ANSWER = 20_000
_LONGEST_REVIEW = 300
_VERDICTS = {"pass": "✓ right", "fail": "✗ wrong", "not_evaluated": "– not evaluated"}
_ROW_PER_ITEM = {"fields": ["question_id", "field"], "questions": ["question_id"]}
_GRIDS: dict[str, tuple[Callable[[pd.DataFrame], Grid], ...]] = {
    "results": (grids.by_model, grids.by_keyword, grids.by_question),
    "fields": (grids.by_field,),
    "traits": (grids.by_trait, grids.by_label, grids.by_metric),
    "calls": (grids.by_call,),
}


@dataclass(frozen=True)
class Options:
    """What goes into a report.

    Attributes:
        answers: Whose texts are shown: no answer's, those without a pass, or all; at most 200.
        charts: Whether there are figures.
        templates: Whether the sources of the templates are shown.
    """

    answers: AnswerChoice = "failures"
    charts: bool = True
    templates: bool = True


def build_report(
    name: str,
    results: Sequence[VerificationResult],
    options: Options = Options(),
    *,
    config: VerificationConfig | None = None,
    benchmark: Benchmark | None = None,
    annotations: Sequence[Annotation] = (),
    facts: Mapping[str, str] | None = None,
) -> RunPart:
    """Return what a report says about one run.

    Args:
        name: Name of the run.
        results: Its evaluations.
        options: What is shown.
        config: Its configuration; keys are no part of one.
        benchmark: The benchmark as the run saw it.
        annotations: What people said about the results, in a table of its own and beside the answers shown; what was
            taken back is left out.
        facts: Further facts for the box that says how to run it again, such as versions.
    """
    traits = list(_traits(benchmark)) if benchmark else []
    # Redacted before labels are cut: a part of a key would not be known.
    frames = {kind: _redacted(to_dataframe(results, kind, traits)) for kind in ("results", "fields", "traits", "calls")}
    chosen = _chosen(results, options.answers)
    return RunPart(
        name=name,
        sentences=tuple(summary.model_sentences(results)) or ("No results yet.",),
        remarks=tuple(_remarks(results)),
        grids=(*_filled(frames), *_reviews(results, annotations)),
        charts=tuple(_charts(frames)) if options.charts else (),
        answers=tuple(_sheet(result, annotations) for result in chosen[:MOST_ANSWERS]),
        answers_note=_answers_note(len(chosen), options.answers),
        facts=tuple((facts or {}).items()),
        config="" if config is None else json.dumps(config.model_dump(mode="json"), indent=2, ensure_ascii=False),
        templates=tuple(_templates(benchmark, results)) if options.templates and benchmark else (),
        provenance=tuple(provenance_sentences(results)),
    )


def _redacted(frame: pd.DataFrame) -> pd.DataFrame:
    redact = redactor()
    clean = frame.copy()
    for name in frame.columns[frame.dtypes == "str"]:
        clean[name] = frame[name].map(redact, na_action="ignore")
    return clean


def _traits(benchmark: Benchmark) -> Iterator[AnyTrait]:
    rubrics = [benchmark.get_global_rubric(), *map(benchmark.get_question_rubric, benchmark.get_question_ids())]
    yield from (trait for rubric in rubrics if rubric for trait in rubric.traits)


def _remarks(results: Sequence[VerificationResult]) -> Iterator[str]:
    if not results:
        return
    yield from (f"Not evaluated: {sentence}" for sentence in summary.left_out_sentences(results))
    yield from summary.judge_sentences(results)
    yield summary.cost_sentence(results)


def _filled(frames: Mapping[str, pd.DataFrame]) -> Iterator[Grid]:
    drawn = (draw(frames[kind]) for kind, draws in _GRIDS.items() if not frames[kind].empty for draw in draws)
    yield from (grid for grid in drawn if grid.rows)


def _reviews(results: Sequence[VerificationResult], annotations: Sequence[Annotation]) -> Iterator[Grid]:
    """Yield the table of what people say beside what the machine says, whichever answers are shown."""
    redact = redactor()
    about = {result.result_id: result for result in results}
    standing = [item for item in annotations if not item.undone and item.result_id in about]
    rows = tuple(
        (
            shorten(redact(about[item.result_id].question.question)),
            _who(about[item.result_id]),
            _VERDICTS[about[item.result_id].verdict],
            shorten(redact(_review(item)), _LONGEST_REVIEW),
        )
        for item in standing[: grids.MOST_ROWS]
    )
    if rows:
        left_out = len(standing) - len(rows)
        note = "What people say changes no verdict and no rate."
        note += f" {left_out:,} more reviews are in the data exports." if left_out else ""
        yield Grid("Reviews", ("Question", "Evaluation", "Verdict", "Review"), rows, note=note)


def _charts(frames: Mapping[str, pd.DataFrame]) -> Iterator[Chart]:
    for name, spec in FIGURES.items():
        frame = frames.get(spec.frame)
        if frame is None or frame.empty or _too_many(name, frame):
            continue
        figure = spec.draw(frame)
        if figure.data:
            yield Chart(spec.question, _without_clicks(spec.reading), str(figure.to_json()))


def _without_clicks(reading: str) -> str:
    """Return how to read a figure where a click opens nothing."""
    sentences = reading.removesuffix(".").split(". ")
    return ". ".join(sentence for sentence in sentences if "Click" not in sentence) + "."


def _too_many(name: str, frame: pd.DataFrame) -> bool:
    return name in _ROW_PER_ITEM and len(frame[_ROW_PER_ITEM[name]].drop_duplicates()) > MOST_SQUARES


def _chosen(results: Sequence[VerificationResult], answers: AnswerChoice) -> list[VerificationResult]:
    if answers == "none":
        return []
    return [result for result in results if answers == "all" or result.verdict != "pass"]


def _answers_note(number: int, answers: AnswerChoice) -> str:
    if answers == "none":
        return "This report goes without the texts of answers."
    which = "evaluations" if answers == "all" else "evaluations that did not pass"
    if number > MOST_ANSWERS:
        return f"The first {MOST_ANSWERS} of {number:,} {which}; the data exports hold all of them."
    return f"All {number} {which}." if number else "Every evaluation passed."


def _sheet(result: VerificationResult, annotations: Sequence[Annotation]) -> AnswerSheet:
    text = result.raw_llm_response
    if text and len(text) > _LONGEST_ANSWER:
        text = f"{text[:_LONGEST_ANSWER]}\n… cut after {_LONGEST_ANSWER:,} of {len(text):,} characters"
    return AnswerSheet(
        question=result.question.question,
        reference=result.question.raw_answer,
        who=_who(result),
        verdict=result.verdict,
        response=text,
        reason=result.failure.reason if result.failure else "",
        fields=_fields(result),
        traits=tuple(_trait_values(result)),
        reviews=tuple(_review(item) for item in annotations if item.result_id == result.result_id and not item.undone),
    )


def _who(result: VerificationResult) -> str:
    who = f"answered by {result.answering_model}, judged by {result.parsing_model}"
    return who if result.replicate == 1 else f"{who}, repeat {result.replicate}"


def _fields(result: VerificationResult) -> Grid:
    rows = tuple(
        (
            field.name,
            "decided by the rule" if field.expected is None else readable(field.expected) or "",
            readable(field.extracted) or "–",
            rule_title(str(field.rule["type"])) if field.rule else "own code",
            field_sign(result, field) or "– decided by own code",
        )
        for field in (result.template.fields if result.template else ())
    )
    return Grid("Fields", ("Field", "Expected", "Found", "Rule", "Result"), rows)


def _trait_values(result: VerificationResult) -> Iterator[tuple[str, str]]:
    part = result.rubric
    for name, score in part.scores.items():
        yield name, part.labels.get(name) or _value(score)
    yield from ((name, _value(found)) for name, found in part.regex.items())
    for name, metrics in part.metrics.items():
        yield name, " · ".join(f"{metric} {grids.number(value)}" for metric, value in metrics.items())
    yield from ((name, f"not evaluated: {why}") for name, why in part.errors.items())


def _value(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _review(item: Annotation) -> str:
    about = f" on {item.field}" if item.field else ""
    parts = [f"{item.who} {'agrees' if item.agrees else 'disagrees'}{about}"]
    parts += [CAUSE_WORDS[item.cause]] if item.cause else []
    parts += [item.note] if item.note else []
    return " · ".join([*parts, f"{item.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"])


def _templates(benchmark: Benchmark, results: Sequence[VerificationResult]) -> Iterator[tuple[str, str, str]]:
    used = {result.question.id: result.template.template_id for result in results if result.template}
    for question_id in benchmark.get_question_ids():
        question = benchmark.get_question(question_id)
        if question_id in used and question.answer_template:
            yield question.question, used[question_id], question.answer_template
