"""Whether a benchmark and its questions can run, what stands in the way, and which trait touches which question."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from karenina_core.benchmark.question import Contents, Entry
from karenina_core.benchmark.workspaces import check_relative, resolve
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import AnyTrait, Rubric, StoredTrait, merge_rubrics

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
# A file may hold thousands of templates that each take a tenth of a second to read.
MAX_CHECK_SECONDS = 30.0


@dataclass(frozen=True)
class Problem:
    """One thing to know before a run.

    Attributes:
        where: The place in words, such as `question q1`.
        what: What is the matter.
        next: What to do about it.
        severity: `error` (cannot run), `warning` (runs, but perhaps not as meant) or `info`.
        code: Stable short name: `empty`, `no_text`, `no_answer`, `template`, `no_template`, `unfinished`, `trait`,
            `conflict`, `embeddings`, `workspace` or `other`.
        question_id: The question it is about, if it is about one.
        line: Line in the template, if it is about one.
    """

    where: str
    what: str
    next: str
    severity: Severity
    code: str = "other"
    question_id: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.next}".rstrip()


def problems_of(contents: Contents, root: Path | None) -> Iterator[Problem]:
    """Yield everything worth knowing before a run of a benchmark.

    Args:
        contents: The benchmark.
        root: Its workspace root, None when not set; then workspaces are not looked for.
    """
    entries = contents.entries.values()
    if not entries:
        yield Problem("benchmark", "It has no questions.", "Add questions.", "error", "empty")
    elif not any(entry.question.finished for entry in entries):
        what = "No question is finished, so a run has nothing to do."
        yield Problem("benchmark", what, "Mark questions as finished.", "error", "unfinished")
    if root is not None and not root.is_dir():
        what = f"Its workspace root {str(root)!r} is no folder."
        yield Problem("benchmark", what, "Create the folder, or set another workspace root.", "warning", "workspace")
    yield from _rubric_problems("global rubric", contents.rubric)
    if contents.node.get("hasPart"):
        yield Problem("benchmark", "Its scenarios are kept but not run.", "Add their questions one by one.", "info")
    texts: set[str] = set()
    until, unread = time.monotonic() + MAX_CHECK_SECONDS, 0
    for entry in entries:
        question = entry.question
        yield from _question_problems(entry, contents.rubric, root)
        if question.answer_template is not None and time.monotonic() < until:
            for problem in _problems_in(question.answer_template):
                yield replace(problem, where=f"question {question.id}", question_id=question.id)
        else:
            unread += question.answer_template is not None
        if question.question in texts:
            what, next_step = "Another question has the same text.", "Remove one of them, unless both are meant."
            yield Problem(f"question {question.id}", what, next_step, "warning", question_id=question.id)
        texts.add(question.question)
    if unread:
        what = f"{unread} of its templates were not checked, because those before them took too long."
        yield Problem("benchmark", what, "Each is checked when its question is opened or run.", "warning")


def _rubric_problems(where: str, rubric: Rubric | None, question_id: str | None = None) -> Iterator[Problem]:
    for trait in rubric.stored_traits if rubric else ():
        next_step = "Correct it or remove it." if trait.problem else "It stays in the file as it is."
        severity: Severity = "warning" if trait.problem else "info"
        what = f"It is not evaluated: {trait.reason}."
        yield Problem(f"{where}, trait {trait.name}", what, next_step, severity, "trait", question_id)


def _question_problems(entry: Entry, shared: Rubric | None, root: Path | None) -> Iterator[Problem]:
    question = entry.question
    where = f"question {question.id}"

    def problem(what: str, next: str, severity: Severity, code: str) -> Problem:
        return Problem(where, what, next, severity, code, question.id)

    if not question.question.strip():
        yield problem("It has no text.", "Give it one.", "error", "no_text")
    if not question.raw_answer.strip():
        yield problem("It has no reference answer.", "Give it one.", "warning", "no_answer")
    if not question.finished:
        yield problem("It is unfinished and takes no part in runs.", "Mark it finished.", "info", "unfinished")
    if question.answer_template is None:
        yield problem("It has no template.", "Add one, or only traits are evaluated.", "warning", "no_template")
    yield from _rubric_problems(where, entry.rubric, question.id)
    for name in merge_rubrics(shared, entry.rubric)[1]:
        what = f"Its trait {name!r} replaces the global one."
        yield problem(what, "Rename it if both are meant.", "warning", "conflict")
    if question.workspace_path is not None:
        try:
            resolve(root, question.workspace_path) if root else check_relative(question.workspace_path)
        except InputError as error:
            yield problem(error.what, error.next, "error", "workspace")


# Reading thousands of templates takes seconds, and after a change of one question all others are the same as before.
@lru_cache(maxsize=50_000)
def _problems_in(source: str) -> tuple[Problem, ...]:
    from karenina_core.templates import read_template

    try:
        template = read_template(source)
    except TemplateError as error:
        what = f"Its template cannot be read: {error.what}{f' ({error.why})' if error.why else ''}"
        return (Problem("", what, error.next, "error", "template", line=error.line),)
    problems = [Problem("", warning, "", "warning") for warning in template.warnings]
    if template.semantic_fields:
        what = f"SemanticMatch decides {', '.join(template.semantic_fields)}."
        problems.append(Problem("", what, "Switch the embedding check on for the run.", "info", "embeddings"))
    return tuple(problems)


State = Literal["ready", "draft", "issue"]
ONLY_TRAITS = "It has no template: only traits are evaluated."
UNFINISHED = "It is not marked as finished."
NOTHING_DECIDES = "It has no template and no rubric trait to evaluate, so nothing would be decided."


class QuestionState(NamedTuple):
    """Where a question stands.

    Attributes:
        state: `ready` (takes part), `draft` (unfinished) or `issue` (something prevents its evaluation).
        reason: Why it does not take part, or what is left out when it does; often empty.
        obstacles: Everything that keeps it from being evaluated, one sentence each; empty when it is ready.
    """

    state: State
    reason: str = ""
    obstacles: tuple[str, ...] = ()


def states_of(contents: Contents, problems: Iterable[Problem]) -> dict[str, QuestionState]:
    """Return where every question of a benchmark stands, by id; `problems` is all that `problems_of` yields."""
    errors: dict[str, list[str]] = {}
    for problem in problems:
        if problem.question_id and problem.severity == "error":
            errors.setdefault(problem.question_id, []).append(f"{problem.what} {problem.next}".strip())
    states = {}
    for question, own, *_ in contents.entries.values():
        traits, _ = merge_rubrics(contents.rubric, own)
        decided = question.answer_template is not None or any(trait.type != "stored" for trait, _ in traits)
        own_errors = errors.get(question.id, [])
        obstacles = (
            *own_errors,
            *(() if decided else (NOTHING_DECIDES,)),
            *(() if question.finished else (UNFINISHED,)),
        )
        if not obstacles:
            states[question.id] = QuestionState("ready", "" if question.answer_template else ONLY_TRAITS)
        elif own_errors or question.finished:
            states[question.id] = QuestionState("issue", obstacles[0], obstacles)
        else:
            states[question.id] = QuestionState("draft", UNFINISHED, obstacles)
    return states


Touch = Literal["global", "own", ""]


class TraitReach(NamedTuple):
    """How far a trait reaches.

    Attributes:
        name: Of the trait.
        kind: `llm`, `regex`, `metric`, or `stored` for one that is kept but not evaluated.
        scope: Whether it belongs to all questions or to single ones.
        questions: How many questions it is evaluated for.
        replaced: How many questions have a trait of that name of their own instead; of global traits only.
    """

    name: str
    kind: str
    scope: Literal["global", "own"]
    questions: int
    replaced: int = 0


@dataclass(frozen=True)
class Coverage:
    """Which trait touches which question; traits that are kept but not evaluated touch none.

    Attributes:
        shared: The traits of all questions.
        own: Those of single questions, by question, for all questions in their order.
    """

    shared: tuple[AnyTrait, ...]
    own: Mapping[str, tuple[AnyTrait, ...]]

    @cached_property
    def _touches(self) -> dict[str, dict[str, Touch]]:
        shared: dict[str, Touch] = dict.fromkeys(_evaluated(self.shared), "global")
        return {
            question: {name: scope for name, scope in shared.items() if name not in {trait.name for trait in own}}
            | dict.fromkeys(_evaluated(own), "own")
            for question, own in self.own.items()
        }

    @cached_property
    def reaches(self) -> tuple[TraitReach, ...]:
        """Every trait once: those of all questions first, then those of single ones, the most frequent first."""
        owners = Counter((trait.name, trait.type) for traits in self.own.values() for trait in traits)
        replaced = Counter(name for name, _ in owners.elements())
        number = Counter(key for touches in self._touches.values() for key in touches.items())
        return (
            *(TraitReach(t.name, t.type, "global", number[t.name, "global"], replaced[t.name]) for t in self.shared),
            *(TraitReach(*key, "own", 0 if key[1] == "stored" else count) for key, count in owners.most_common()),
        )

    @cached_property
    def untouched(self) -> tuple[str, ...]:
        """The questions no trait is evaluated for."""
        return tuple(name for name, touches in self._touches.items() if not touches)

    def touch(self, question_id: str, name: str) -> Touch:
        """Say by which rubric a trait of that name is evaluated for a question; empty when it is not."""
        return self._touches[question_id].get(name, "")

    def names(self, question_id: str) -> list[str]:
        """Return the traits that are evaluated for a question, its own last."""
        return list(self._touches[question_id])

    def replaced(self, question_id: str) -> list[str]:
        """Return the traits of all questions that a question replaces by its own."""
        own = {trait.name for trait in self.own[question_id]}
        return [trait.name for trait in self.shared if trait.name in own]


def _evaluated(traits: Iterable[AnyTrait]) -> list[str]:
    return [trait.name for trait in traits if not isinstance(trait, StoredTrait)]


def coverage_of(shared: Rubric | None, own: Mapping[str, Rubric | None]) -> Coverage:
    """Return the coverage of rubrics.

    Args:
        shared: The rubric of all questions.
        own: The rubric of every question, None for those without one of their own.
    """
    of_questions = {name: tuple(rubric.traits if rubric else ()) for name, rubric in own.items()}
    return Coverage(tuple(shared.traits if shared else ()), of_questions)
