"""Applying the fixes of findings to the templates and rubrics of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable

from karenina_core.authoring.linter.finding import Finding, TraitFix
from karenina_core.authoring.linter.lint import lint
from karenina_core.authoring.linter.rubrics import lint_rubric
from karenina_core.authoring.repair import repaired
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.schemas import Rubric

_MOST = 50  # fixes of one kind in one place; every fix makes its finding go away, so this is never reached


def mend(benchmark: Benchmark, places: Iterable[str | None], code: str, field: str | None = None) -> int:
    """Apply the fixes of all findings of a code, and return how many there were.

    A template whose source cannot hold a fix, because code of its own stands there, is left as it is.

    Args:
        benchmark: It is changed.
        places: Ids of questions; None for the global rubric.
        code: Such as `truth_fails_rule`.
        field: Only findings about this field or trait.
    """
    return sum(_mend_place(benchmark, place, code, field) for place in dict.fromkeys(places))


def _mend_place(benchmark: Benchmark, place: str | None, code: str, field: str | None) -> int:
    made = 0
    while made < _MOST and (
        _mend_template(benchmark, place, code, field) or _mend_rubric(benchmark, place, code, field)
    ):
        made += 1
    return made


def _mend_template(benchmark: Benchmark, place: str | None, code: str, field: str | None) -> bool:
    if place is None:
        return False
    question = benchmark.get_question(place)
    source = question.answer_template
    if source is None:
        return False
    for finding in lint(source, question=question.question, reference_answer=question.raw_answer):
        if not _is_meant(finding, code, field):
            continue
        try:
            better = repaired(source, finding)
        except InputError:
            continue
        if better != source:
            benchmark.add_answer_template(place, better)
            return True
    return False


def _mend_rubric(benchmark: Benchmark, place: str | None, code: str, field: str | None) -> bool:
    overall = benchmark.get_global_rubric()
    rubric = overall if place is None else benchmark.get_question_rubric(place)
    if rubric is None:
        return False
    shared = overall.traits if overall is not None and place is not None else []
    for finding in lint_rubric(rubric.traits, shared=shared):
        if _is_meant(finding, code, field) and isinstance(finding.fix, TraitFix):
            edit = finding.fix.edit
            traits = [edit(trait) if trait.name == finding.field else trait for trait in rubric.traits]
            if traits != rubric.traits:
                _set(benchmark, place, rubric.model_copy(update={"traits": traits}))
                return True
    return False


def _is_meant(finding: Finding, code: str, field: str | None) -> bool:
    return finding.code == code and finding.fix is not None and field in (None, finding.field)


def _set(benchmark: Benchmark, place: str | None, rubric: Rubric) -> None:
    if place is None:
        benchmark.set_global_rubric(rubric)
    else:
        benchmark.set_question_rubric(place, rubric)
