"""Runs to a report: what it says, whatever it is written as."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Literal

from karenina_core import __version__
from karenina_core.analysis import summary
from karenina_core.analysis.cells import items_in_words, readable, redactor, shorten
from karenina_core.analysis.comparison.arms import arm_labels, tallies
from karenina_core.analysis.comparison.pairs import compare
from karenina_core.analysis.comparison.words import interval_sentence, verdict_sentence
from karenina_core.analysis.figures import FIGURES
from karenina_core.analysis.frames import outcomes, to_dataframe, traits_of
from karenina_core.analysis.report.tables import MOST_ROWS, Frames, Grid, grids
from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from karenina_core.schemas import CAUSE_WORDS, Annotation, VerificationConfig, VerificationResult, rule_title
from karenina_core.schemas.entities.question import now

if TYPE_CHECKING:
    import pandas as pd

AnswerChoice = Literal["none", "failures", "all"]
MOST_ANSWERS = 200  # a report that shows more answers opens slowly; the data exports hold all of them
MOST_SQUARES = 60  # figures with a row per question or field are left out above this number of rows
MOST_COMPARED_ARMS = 12  # with more, the sentences would fill the report; the page Compare has them
_LONGEST_ANSWER = 20_000
_LONGEST_REVIEW = 300
_VERDICTS = {"pass": "✓ right", "fail": "✗ wrong", "not_evaluated": "– not evaluated"}


@dataclass(frozen=True)
class ReportOptions:
    """What goes into a report.

    Attributes:
        answers: Whose texts are shown: no answer's, those without a pass, or all; at most 200.
        charts: Whether there are figures.
        templates: Whether the sources of the templates are shown.
    """

    answers: AnswerChoice = "failures"
    charts: bool = True
    templates: bool = True


# What the report says about one run, as the templates read it: see `build_part`.
Part = Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        created: ISO 8601 in UTC.
        parts: One for each run, see `build_part`.
        comparisons: Sentences over all runs, such as which model is better.
    """

    title: str
    author: str
    created: str
    parts: tuple[Part, ...]
    comparisons: tuple[str, ...] = ()

    @property
    def provenance(self) -> tuple[str, ...]:
        """What a reader must know before any number, each sentence once."""
        return tuple(dict.fromkeys(sentence for part in self.parts for sentence in part["provenance"]))


def report_of_runs(
    store: Store,
    run_ids: Sequence[str],
    options: ReportOptions = ReportOptions(),
    *,
    title: str = "",
    author: str = "",
) -> Report:
    """Return the report of one or several stored runs.

    Args:
        store: Where the runs are.
        run_ids: Ids of the runs, in the order of the report.
        options: What is shown.
        title: Heading; the names of the runs when empty.
        author: Who made the report; nobody is named when empty.

    Raises:
        InputError: A run is unknown.
    """
    parts = tuple(_stored_part(store, run_id, options) for run_id in run_ids)
    heading = title or " and ".join(part["name"] for part in parts)
    return Report(heading, author, now(), parts, tuple(_comparisons(store, run_ids)))


def _comparisons(store: Store, run_ids: Sequence[str]) -> Iterator[str]:
    """Yield what can be said of every model against the first one."""
    counts, runs = tallies(outcomes(store, run_ids)), {run_id: store.runs.get(run_id) for run_id in run_ids}
    order = [(run_id, model) for run_id, run in runs.items() for model in run.answering_models]
    arms = sorted(counts, key=lambda arm: order.index(arm[:2]) if arm[:2] in order else len(order))
    if not 2 <= len(arms) <= MOST_COMPARED_ARMS:
        return
    labels = arm_labels(arms, {run_id: run.name for run_id, run in runs.items()})
    for pair in compare(counts, arms[0], arms[1:]):
        yield f"{verdict_sentence(pair, labels)} {interval_sentence(pair)}".rstrip()


def _stored_part(store: Store, run_id: str, options: ReportOptions) -> Part:
    run, plan = store.runs.get(run_id), store.runs.plan(run_id)
    facts = {
        "Benchmark": f"{plan.benchmark.name}, version {plan.benchmark.version}",
        "Benchmark SHA-256": run.snapshot,
        "Questions in the run": f"{len(plan.question_ids):,}",
        "Configuration SHA-256": run.config_hash,
        "Run": f"{run.id}, {run.state}",
        "Created": run.created,
        "Finished": run.finished or "not yet",
        "Karenina Workbench": __version__,
        "Python": platform.python_version(),
    }
    return build_part(
        run.name,
        store.results.all(run_id),
        options,
        config=plan.config,
        benchmark=plan.benchmark,
        annotations=store.annotations.all(run_id),
        facts=facts,
    )


def build_part(
    name: str,
    results: Sequence[VerificationResult],
    options: ReportOptions = ReportOptions(),
    *,
    config: VerificationConfig | None = None,
    benchmark: Benchmark | None = None,
    annotations: Sequence[Annotation] = (),
    facts: Mapping[str, str] | None = None,
) -> Part:
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

    Returns:
        `name`; `provenance`, `sentences` (the outcome) and `remarks` (what to keep in mind); `grids` and `charts`;
        `answers` (evaluations in full) with `answers_note`; and what it takes to run it again: `facts` (name and
        value), `config` (JSON without keys), `templates` (question, identity and source).
    """
    traits = traits_of(benchmark) if benchmark else []
    # Redacted before labels are cut: a part of a key would not be known.
    frames: Frames = {
        kind: _redacted(to_dataframe(results, kind, traits)) for kind in ("results", "fields", "traits", "calls")
    }
    standing = [item for item in annotations if not item.undone]
    remarks = [f"Not evaluated: {sentence}" for sentence in summary.left_out_sentences(results)]
    remarks += [*summary.judge_sentences(results), summary.cost_sentence(results)]
    chosen = [one for one in results if options.answers == "all" or one.verdict != "pass"]
    chosen = [] if options.answers == "none" else chosen
    return {
        "name": name,
        "provenance": summary.provenance_sentences(results),
        "sentences": summary.model_sentences(results) or ["No results yet."],
        "remarks": remarks if results else [],
        "grids": [*grids(frames), *_reviews(results, standing)],
        "charts": list(_charts(frames)) if options.charts else [],
        "answers": [_answer(result, standing) for result in chosen[:MOST_ANSWERS]],
        "answers_note": _answers_note(len(chosen), options.answers),
        "facts": list((facts or {}).items()),
        "config": json.dumps(config.model_dump(mode="json"), indent=2, ensure_ascii=False) if config else "",
        "templates": list(_templates(benchmark, results)) if options.templates and benchmark else [],
    }


def _redacted(frame: pd.DataFrame) -> pd.DataFrame:
    redact = redactor()
    texts = frame.columns[frame.dtypes == "str"]
    return frame.assign(**{name: frame[name].map(redact, na_action="ignore") for name in texts})


def _reviews(results: Sequence[VerificationResult], standing: Sequence[Annotation]) -> Iterator[Grid]:
    """Yield the table of what people say beside what the machine says, whichever answers are shown."""
    redact = redactor()
    about = {result.result_id: result for result in results}
    known = [(item, about[item.result_id]) for item in standing if item.result_id in about]
    rows = tuple(
        (
            shorten(redact(result.question.question)),
            _who(result),
            _VERDICTS[result.verdict],
            shorten(redact(_review(item)), _LONGEST_REVIEW),
        )
        for item, result in known[:MOST_ROWS]
    )
    if rows:
        left_out = len(known) - len(rows)
        note = "What people say changes no verdict and no rate."
        note += f" {left_out:,} more reviews are in the data exports." if left_out else ""
        yield Grid("Reviews", ("Question", "Evaluation", "Verdict", "Review"), rows, note=note)


def _charts(frames: Frames) -> Iterator[Part]:
    for spec in FIGURES.values():
        frame = frames[spec.frame]
        if frame.empty or (spec.row and len(frame[list(spec.row)].drop_duplicates()) > MOST_SQUARES):
            continue
        figure = spec.draw(frame)
        if figure.data:
            # A click opens nothing here.
            sentences = spec.reading.removesuffix(".").split(". ")
            reading = ". ".join(sentence for sentence in sentences if "Click" not in sentence) + "."
            yield {"question": spec.question, "reading": reading, "figure": str(figure.to_json())}


def _answers_note(number: int, answers: AnswerChoice) -> str:
    if answers == "none":
        return "This report goes without the texts of answers."
    which = "evaluations" if answers == "all" else "evaluations that did not pass"
    if number > MOST_ANSWERS:
        return f"The first {MOST_ANSWERS} of {number:,} {which}; the data exports hold all of them."
    return f"All {number} {which}." if number else "Every evaluation passed."


def _answer(result: VerificationResult, standing: Sequence[Annotation]) -> Part:
    text = result.raw_llm_response
    if text and len(text) > _LONGEST_ANSWER:
        text = f"{text[:_LONGEST_ANSWER]}\n… cut after {_LONGEST_ANSWER:,} of {len(text):,} characters"
    return {
        "result": result,
        "verdict": _VERDICTS[result.verdict],
        "who": _who(result),
        "response": text,
        "fields": _fields(result),
        "traits": list(_trait_values(result)),
        "reviews": [_review(item) for item in standing if item.result_id == result.result_id],
    }


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
            summary.field_sign(result, field) or "– decided by own code",
        )
        for field in (result.template.fields if result.template else ())
    )
    return Grid("Fields", ("Field", "Expected", "Found", "Rule", "Result"), rows)


def _trait_values(result: VerificationResult) -> Iterator[tuple[str, str]]:
    part = result.rubric
    for name, score in (part.scores | part.regex).items():
        truth = "yes" if score else "no"
        yield name, part.labels.get(name) or (truth if isinstance(score, bool) else str(score))
    for name, metrics in part.metrics.items():
        values = [f"{metric} {summary.number(value)}" for metric, value in metrics.items()]
        items = [items_in_words(part.confusion[name])] if name in part.confusion else []
        yield name, " · ".join([*values, *items])
    yield from ((name, f"not evaluated: {why}") for name, why in part.errors.items())


def _review(item: Annotation) -> str:
    about = f" on {item.field}" if item.field else ""
    cause = CAUSE_WORDS[item.cause] if item.cause else ""
    parts = (f"{item.who} {'agrees' if item.agrees else 'disagrees'}{about}", cause, item.note)
    return " · ".join([*filter(None, parts), f"{item.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"])


def _templates(benchmark: Benchmark, results: Sequence[VerificationResult]) -> Iterator[tuple[str, str, str]]:
    used = {result.question.id: result.template.template_id for result in results if result.template}
    for question_id in benchmark.get_question_ids():
        question = benchmark.get_question(question_id)
        if question_id in used and question.answer_template:
            yield question.question, used[question_id], question.answer_template
