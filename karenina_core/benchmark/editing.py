"""Questions edited by people: one as a form of texts and rows, and many at once with a review before.

What a form has no place for is shown as JSON and kept. Only what was edited is read back, so that a form never
rewrites what nobody touched.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karenina_core.benchmark.benchmark import Benchmark
from karenina_core.benchmark.question import BenchmarkQuestion
from karenina_core.errors import CheckpointError, InputError
from karenina_core.files import read_json
from karenina_core.schemas.entities.question import question_id as id_of_text

Row = Mapping[str, Any]

AUTHOR = ("name", "email", "affiliation")
SOURCE = ("name", "url")
MORE = "more"
_PLAIN = ("question", "raw_answer", "finished")
_OPTIONAL = ("answer_notes", "answer_template", "workspace_path")
_AUTHOR_FIELDS = frozenset(f"author_{name}" for name in (*AUTHOR, MORE))


def form_of(question: BenchmarkQuestion) -> dict[str, Any]:
    """Return the values of the form: texts, `keywords`, `finished`, and rows of texts."""
    author = _split(question.author or {}, AUTHOR)
    metadata = (question.custom_metadata or {}).items()
    return {
        **{name: getattr(question, name) for name in _PLAIN},
        **{name: getattr(question, name) or "" for name in _OPTIONAL},
        "keywords": list(question.keywords),
        **{f"author_{name}": value for name, value in author.items()},
        "sources": [_split(source, SOURCE) for source in question.sources or ()],
        "few_shot_examples": [example.model_dump() for example in question.few_shot_examples or ()],
        "custom_metadata": [{"name": name, "value": text_of_value(value)} for name, value in metadata],
    }


def fields_of(form: Mapping[str, Any], edited: Collection[str]) -> dict[str, Any]:
    """Return the fields of the question that the edited values of the form stand for.

    Args:
        form: All values, as of `form_of`; cells of rows may be None.
        edited: Names of the values to read.

    Raises:
        InputError: A value makes no sense; says which and what to do.
    """
    fields: dict[str, Any] = {name: form[name] for name in _PLAIN if name in edited}
    fields |= {name: form[name] if form[name].strip() else None for name in _OPTIONAL if name in edited}
    if fields.get("workspace_path"):
        fields["workspace_path"] = fields["workspace_path"].strip()
    if "keywords" in edited:
        fields["keywords"] = keywords_of(form["keywords"])
    if not _AUTHOR_FIELDS.isdisjoint(edited):
        row = {name: form[f"author_{name}"] for name in (*AUTHOR, MORE)}
        author = _joined(row, AUTHOR, "the author")
        is_person = author and not (row[MORE] or "").strip()
        fields["author"] = ({"@type": "Person", **author} if is_person else author) or None
    for name, read in (("sources", _sources), ("few_shot_examples", _examples), ("custom_metadata", _metadata)):
        if name in edited:
            fields[name] = read(form[name]) or None
    return fields


def keywords_of(words: Sequence[str]) -> list[str]:
    """Return keywords without blanks around them, each once."""
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))


def text_of_value(value: Any) -> str:
    """Return a JSON value as a person reads it: a text as it is, unless it could be taken for something else."""
    if isinstance(value, str) and not _begins_like_json(value) and value_of_text(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def value_of_text(text: str) -> Any:
    """Return the JSON value that a text stands for; whatever is no JSON is the text itself.

    Raises:
        InputError: It begins like JSON and is none.
    """
    try:
        value = read_json(text)
    except CheckpointError as error:
        if not _begins_like_json(text):
            return text
        what = f"The value {_shortened(text)} begins like JSON and cannot be read as such."
        next_step = 'Correct it, or put the whole of it in double quotes to keep it as a text, such as "[draft]".'
        raise InputError(what, error.why or error.what, next_step) from error
    return text if isinstance(value, float) and not math.isfinite(value) else value


def _begins_like_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[", '"')


def _split(given: Mapping[str, Any], shown: Sequence[str]) -> dict[str, str]:
    """Return the entries that the form has a place for, and all others as JSON."""
    fitting = {name: given[name] for name in shown if isinstance(given.get(name), str) and given[name].strip()}
    rest = {name: value for name, value in given.items() if name not in fitting}
    more = json.dumps(rest, ensure_ascii=False) if rest else ""
    return {**dict.fromkeys(shown, ""), **fitting, MORE: more}


def _joined(row: Row, shown: Sequence[str], where: str) -> dict[str, Any]:
    given = {name: text.strip() for name in shown if (text := row.get(name) or "").strip()}
    more = (row.get(MORE) or "").strip()
    if not more:
        return given
    try:
        rest = read_json(more)
        why = f"They read {_shortened(more)}."
    except CheckpointError as error:
        rest, why = None, error.why or error.what
    if not isinstance(rest, dict):
        next_step = 'Write them such as {"orcid": "0000-0001-2345-6789"}, or leave them empty.'
        raise InputError(f"The other details of {where} are no JSON object.", why, next_step)
    return {**rest, **given}


def _sources(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return list(filter(None, (_joined(row, SOURCE, f"source {number}") for number, row in enumerate(rows, 1))))


def _examples(rows: Sequence[Row]) -> list[dict[str, str]]:
    examples = []
    for number, row in enumerate(rows, 1):
        example = {name: row.get(name) or "" for name in ("question", "answer")}
        blank = [name for name, text in example.items() if not text.strip()]
        if len(blank) == 1:
            raise InputError(f"Few-shot example {number} has no {blank[0]}.", next="Fill it in, or delete the row.")
        if not blank:
            examples.append(example)
    return examples


def _metadata(rows: Sequence[Row]) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for number, row in enumerate(rows, 1):
        name, value = (row.get("name") or "").strip(), row.get("value") or ""
        if not name and value.strip():
            what = f"Entry {number} of the custom metadata has a value and no name."
            raise InputError(what, next="Name it, or delete the row.")
        if name in metadata:
            raise InputError(f"The name {name!r} is there twice in the custom metadata.", next="Rename one of them.")
        if name:
            metadata[name] = value_of_text(value)
    return metadata


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


Edits = Mapping[str, Mapping[str, Any]]
"""New values by question id and field: any of `question`, `raw_answer`, `keywords`, `finished`."""


@dataclass(frozen=True)
class Change:
    """One field of one question that would change."""

    question_id: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class BulkReview:
    """What edits would do.

    Attributes:
        changes: Every field that would change, in the order of the benchmark.
        renamed: Questions whose identity follows from their text, and would change with it.
        problems: Why they cannot be saved as they are, one sentence each.
        gone: Questions with edits that are not there any more.
    """

    changes: tuple[Change, ...]
    renamed: tuple[str, ...]
    problems: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def questions(self) -> int:
        """How many questions would change."""
        return len({change.question_id for change in self.changes})


@dataclass(frozen=True)
class Applied:
    """A question that was changed.

    Attributes:
        question_id: The id it has since.
        old_id: The id it had.
        before: The changed fields as they were.
        after: The changed fields as they are since.
    """

    question_id: str
    old_id: str
    before: dict[str, Any]
    after: dict[str, Any]


def review_edits(benchmark: Benchmark, edits: Edits) -> BulkReview:
    """Return what edits would do to a benchmark, without doing it.

    Raises:
        InputError: A value is not of the kind its field takes.
    """
    changes = _changes(benchmark, edits)
    problems = []
    for field, word in (("question", "text"), ("raw_answer", "reference answer")):
        count = sum(change.field == field and not change.after.strip() for change in changes)
        if count:
            problems.append(f"{count} {'question has' if count == 1 else 'questions have'} no {word}.")
    texts = {change.question_id: change.after for change in changes if change.field == "question"}
    counts = Counter(texts.get(question.id, question.question) for question in benchmark) if texts else Counter()
    for text in dict.fromkeys(text for text in texts.values() if text.strip() and counts[text] > 1):
        problems.append(f"More than one question would have the text {' '.join(text.split())[:60]!r}.")
    renamed = tuple(name for name, text in texts.items() if text.strip() and id_of_text(text) != name)
    return BulkReview(tuple(changes), renamed, tuple(problems), tuple(name for name in edits if name not in benchmark))


def apply_edits(benchmark: Benchmark, edits: Edits, *, keep_ids: bool = False) -> list[Applied]:
    """Change questions, and return what `take_back` needs.

    Args:
        benchmark: Is changed.
        edits: New values; questions that are not there are left out.
        keep_ids: Keep the id of a question whose text changes.

    Raises:
        InputError: A value is not usable, or a text is that of another question; some may have been changed by then.
    """
    wanted: dict[str, dict[str, Any]] = {}
    for change in _changes(benchmark, edits):
        wanted.setdefault(change.question_id, {})[change.field] = change.after
    applied = []
    for name, fields in wanted.items():
        question = benchmark.get_question(name)
        before = {field: getattr(question, field) for field in fields}
        benchmark.update_question(name, **fields)
        new_id = name if keep_ids or "question" not in fields else id_of_text(fields["question"])
        applied.append(Applied(new_id, name, before, fields))
    _give_ids(benchmark, {item.old_id: item.question_id for item in applied})
    return applied


def take_back(benchmark: Benchmark, applied: Sequence[Applied]) -> int:
    """Give fields the values they had; those that were changed since are left, and their questions counted.

    Raises:
        InputError: An earlier id belongs to another question meanwhile.
    """
    left, moves = 0, dict[str, str]()
    for item in reversed(applied):
        question = benchmark.get_question(item.question_id) if item.question_id in benchmark else None
        same = {name: old for name, old in item.before.items() if getattr(question, name, None) == item.after[name]}
        left += len(same) < len(item.before)
        if question is not None and same:
            benchmark.update_question(question.id, **same)
            moves |= {question.id: item.old_id} if "question" in same else {}
    _give_ids(benchmark, moves)
    return left


def _give_ids(benchmark: Benchmark, moves: Mapping[str, str]) -> None:
    try:
        benchmark.give_ids(moves)
    except InputError as error:
        what = "Another question of this benchmark has one of these texts."
        raise InputError(what, error.what, "Change the text, or edit the other question.") from error


def _changes(benchmark: Benchmark, edits: Edits) -> list[Change]:
    changes = []
    for question in (question for question in benchmark if question.id in edits):
        for field, value in edits[question.id].items():
            if field not in BenchmarkQuestion.model_fields:
                raise InputError(f"A question has no field {field!r}.", next="Edit the fields it has.")
            if field in ("question", "raw_answer") and not isinstance(value, str):
                raise InputError(f"The field {field!r} takes a text, not {value!r:.40}.", next="Give a text.")
            if getattr(question, field) != value:
                changes.append(Change(question.id, field, getattr(question, field), value))
    return changes
