"""Whether a benchmark can run, and what stands in the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from karenina_core.benchmark.header import HeaderMethods
from karenina_core.benchmark.problems import Problem, question_problems, rubric_problems
from karenina_core.benchmark.workspaces import WorkspaceMethods

Quality = Literal["excellent", "good", "fair", "poor", "critical"]
# A file may hold thousands of templates that each take a tenth of a second to read.
MAX_CHECK_SECONDS = 30.0
_QUALITIES: tuple[tuple[float, Quality], ...] = ((90, "excellent"), (75, "good"), (50, "fair"), (25, "poor"))
_TEMPLATE_CODES = frozenset({"template", "no_template"})


@dataclass(frozen=True)
class Health:
    """How complete a benchmark is.

    Attributes:
        score: 0 to 100: 20 for having questions, 30 for the finished share, 25 for readable templates, 15 for
            usable rubrics, 10 for having all questions finished.
        quality: The score in a word.
        problems: What stands in the way.
    """

    score: float
    quality: Quality
    problems: list[Problem]


class ReadinessMethods(HeaderMethods, WorkspaceMethods):
    """Checks and summaries."""

    def check(self) -> list[Problem]:
        """Return everything worth knowing before a run: errors first, then warnings, then remarks."""
        order = ("error", "warning", "info")
        return sorted(self._problems(), key=lambda problem: order.index(problem.severity))

    def validate(self) -> tuple[bool, str]:
        """Return whether the benchmark is free of errors, and the first of them in words."""
        errors = [problem for problem in self.check() if problem.severity == "error"]
        return not errors, str(errors[0]) if errors else "No errors."

    def validate_templates(self) -> tuple[bool, list[Problem]]:
        """Return whether all templates can be read, and what is wrong with those that cannot."""
        problems = [problem for problem in self._problems() if problem.code == "template"]
        return not problems, problems

    def validate_rubrics(self) -> tuple[bool, list[Problem]]:
        """Return whether all traits can be evaluated, and what is wrong with those that cannot."""
        problems = [p for p in self._problems() if p.code == "trait" and p.severity != "info"]
        return not problems, problems

    def check_readiness(self) -> dict[str, Any]:
        """Return whether a run makes sense, with the counts and problems behind it.

        A benchmark is ready when at least one question is finished and has a readable template or traits to
        evaluate.
        """
        problems = self.check()
        unusable = {problem.question_id for problem in problems if problem.severity == "error"}
        unusable |= {p.question_id for p in problems if p.code == "no_template" and not self._has_traits(p.question_id)}
        usable = [q.id for q in self._questions() if q.finished and q.id not in unusable]
        return {
            "ready": bool(usable),
            "runnable_questions": len(usable),
            **self.get_summary(),
            "problems": problems,
        }

    def get_summary(self) -> dict[str, Any]:
        """Return name, version and the main counts."""
        entries = self._contents.entries.values()
        return {
            "name": self.name,
            "version": self.version,
            "creator": self.creator,
            "created_at": self.created_at,
            "modified_at": self.modified_at,
            "question_count": self.question_count,
            "finished_count": self.finished_count,
            "template_count": sum(entry.question.answer_template is not None for entry in entries),
            "question_rubric_count": sum(bool(entry.rubric) for entry in entries),
            "global_trait_count": len(self._contents.rubric.traits) if self._contents.rubric else 0,
            "progress": self.get_progress(),
            "is_complete": self.is_complete,
        }

    def get_statistics(self) -> dict[str, Any]:
        """Return the summary with lengths of texts (in characters) and the number of different keywords."""
        questions = list(self._questions())
        return {
            **self.get_summary(),
            "question_length": _span([len(question.question) for question in questions]),
            "template_length": _span([len(q.answer_template) for q in questions if q.answer_template]),
            "keyword_count": len({word for question in questions for word in question.keywords}),
        }

    def get_health_report(self) -> Health:
        """Return how complete the benchmark is."""
        problems = self.check()
        templates_fine = not any(problem.code in _TEMPLATE_CODES for problem in problems)
        traits_fine = not any(problem.code == "trait" and problem.severity != "info" for problem in problems)
        score = 0.0
        if not self.is_empty:
            score += 20 + 0.3 * self.get_progress() + 25 * templates_fine + 10 * (self.get_progress() == 100)
        score += 15 * traits_fine
        return Health(round(score, 1), _quality(score), problems)

    def _problems(self) -> Iterator[Problem]:
        if self.is_empty:
            yield Problem("benchmark", "It has no questions.", "Add questions.", "error", code="empty")
        elif not self.finished_count:
            yield Problem(
                "benchmark",
                "No question is finished, so a run has nothing to do.",
                "Mark questions as finished.",
                "error",
                code="unfinished",
            )
        yield from rubric_problems("global rubric", self._contents.rubric)
        if self._contents.node.get("hasPart"):
            yield Problem("benchmark", "Its scenarios are kept but not run.", "Add their questions one by one.", "info")
        seen: set[str] = set()
        until, unread = time.monotonic() + MAX_CHECK_SECONDS, 0
        for entry in self._contents.entries.values():
            in_time = time.monotonic() < until
            unread += not in_time and entry.question.answer_template is not None
            yield from question_problems(entry, self._contents.rubric, self._workspace_root, with_template=in_time)
            if entry.question.text_id in seen:
                yield Problem(
                    f"question {entry.question.id}",
                    "Another question has the same text.",
                    "Remove one of them, unless both are meant.",
                    "warning",
                    question_id=entry.question.id,
                )
            seen.add(entry.question.text_id)
        if unread:
            yield Problem(
                "benchmark",
                f"{unread} of its templates were not checked, because those before them took too long.",
                "Each is checked when its question is opened or run.",
                "warning",
            )

    def _has_traits(self, question_id: str | None) -> bool:
        traits = list(self._contents.rubric.traits) if self._contents.rubric else []
        own = self._entry(question_id).rubric if question_id else None
        return any(trait.type != "stored" for trait in [*traits, *(own.traits if own else ())])


def _quality(score: float) -> Quality:
    return next((word for least, word in _QUALITIES if score >= least), "critical")


def _span(lengths: list[int]) -> dict[str, float]:
    if not lengths:
        return {"min": 0, "mean": 0.0, "max": 0}
    return {"min": min(lengths), "mean": sum(lengths) / len(lengths), "max": max(lengths)}
