"""What a benchmark consists of: its questions and their fields, how they are checked, merged and searched."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field, ValidationError, computed_field

from karenina_core.benchmark.workspaces import check_relative
from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import BaseAnswer, Rubric, share_layout
from karenina_core.schemas.entities.question import FewShotExample, Question, now, question_id
from karenina_core.text import check_whole, first_free

DEFAULT_CREATOR = "Karenina Benchmarking System"
_NO_NODE: Mapping[str, Any] = {}
_REQUIRED = {"question": "text", "raw_answer": "reference answer (raw_answer)"}


class BenchmarkQuestion(Question):
    """A question as a member of a benchmark. Read-only; it changes through the methods of `Benchmark`.

    Files may hold questions without a text or a reference answer; those are kept, and `Benchmark.check` names them.

    Attributes:
        finished: Whether the question takes part in runs.
        stored_id: The id it has in its file, where that differs from the hash of its text.
    """

    model_config = ConfigDict(frozen=True)

    question: str
    raw_answer: str = ""
    finished: bool = Field(default=True, exclude=True)
    stored_id: str = Field(default="", exclude=True, repr=False)

    def model_post_init(self, context: Any, /) -> None:
        """Take little memory."""
        share_layout(self)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def id(self) -> str:
        """The id in the benchmark and in results."""
        return self.stored_id or self.text_id

    @property
    def text_id(self) -> str:
        """The MD5 of the text, the same in every benchmark."""
        return question_id(self.question)

    @property
    def author_name(self) -> str:
        """The name of the author, empty when there is none."""
        return str((self.author or {}).get("name", ""))

    def __eq__(self, other: object) -> bool:
        """Compare content; the plain `Question` of the same content is equal."""
        if not isinstance(other, Question):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Question.model_fields)


class Entry(NamedTuple):
    """What a benchmark holds of one question.

    Attributes:
        question: Everything known of it.
        rubric: Its own rubric, None when it has none.
        node: The `DataFeedItem` of its file; keeps what this program does not know. Never changed.
        clean: Whether the node says exactly what the other two say.
    """

    question: BenchmarkQuestion
    rubric: Rubric | None = None
    node: Mapping[str, Any] = _NO_NODE
    clean: bool = False


@dataclass
class Contents:
    """A benchmark as data.

    Attributes:
        name: Its name.
        description: What it is about.
        version: Its own version, not that of the file format.
        creator: A name, or an object such as a schema.org Person.
        created_at: ISO 8601.
        modified_at: ISO 8601; changes with the content, and when it is saved to a file.
        rubric: The global rubric.
        properties: Custom properties, by name.
        entries: The questions, by id, in their order.
        node: The root of its file; keeps what this program does not know. Never changed.
    """

    name: str
    description: str = ""
    version: str = "0.1.0"
    creator: str | dict[str, Any] = DEFAULT_CREATOR
    created_at: str = field(default_factory=now)
    modified_at: str = field(default_factory=now)
    rubric: Rubric | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    node: Mapping[str, Any] = field(default_factory=dict)


def make_question(fields: Mapping[str, Any], required: Container[str] = _REQUIRED) -> BenchmarkQuestion:
    """Return a question of the given fields.

    Args:
        fields: The fields by name.
        required: Those of `question` and `raw_answer` that must not be blank.

    Raises:
        InputError: A field is unknown, of the wrong kind, or blank, or holds half a surrogate pair.
    """
    check_whole("The question", fields)
    try:
        question = BenchmarkQuestion.model_validate(fields)
    except ValidationError as error:
        raise InputError("The question cannot be used as given.", validation_message(error)) from error
    for name, words in _REQUIRED.items():
        if name in required and not getattr(question, name).strip():
            raise InputError(f"The question has no {words}.", next="Give a text that is not blank.")
    return question


def make_rubric(rubric: Rubric | Mapping[str, Any] | None) -> Rubric | None:
    """Return an independent copy of a rubric, checked again in case its traits were changed meanwhile.

    A rubric that says nothing at all is none.

    Raises:
        InputError: Trait names are repeated, or a trait is not valid or holds half a surrogate pair.
    """
    if rubric is None:
        return None
    check_whole("The rubric", rubric)
    try:
        checked = Rubric.model_validate(rubric.model_dump() if isinstance(rubric, Rubric) else rubric)
    except ValidationError as error:
        raise InputError("The rubric cannot be used as given.", validation_message(error)) from error
    return None if checked == Rubric() else checked


def dumped(rubric: Rubric | None) -> dict[str, Any] | None:
    """Return a rubric as `Question.question_rubric` holds it."""
    return None if rubric is None else rubric.model_dump(mode="json")


def readable_source(template: str | type[BaseAnswer] | None) -> str | None:
    """Return the source of a template given as text or class, None when there is none.

    Raises:
        TemplateError: It cannot be read; says why and in which line.
    """
    if template is None or (isinstance(template, str) and not template.strip()):
        return None
    # Here rather than above, because most of what a benchmark does needs no template reader.
    from karenina_core.templates import read_template, source_of

    source = template if isinstance(template, str) else source_of(template)
    read_template(source)
    return source


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return `wanted`, numbered if it is taken."""
    return first_free(lambda number: f"{wanted}-{number}", taken) if wanted in taken else wanted


# Questions that are added or changed

ALIASES = {"rubric": "question_rubric", "tags": "keywords", "id": "question_id"}
# Filled in from the new question where the old one has none.
_FILLED_IN = ("answer_notes", "author", "sources", "workspace_path", "few_shot_examples", "custom_metadata")


def fields_of_question(question: str | Mapping[str, Any] | Question) -> tuple[dict[str, Any], str | None]:
    """Return the fields of whatever `add_question` accepts as a question, and the id it insists on.

    Raises:
        InputError: It has no text.
    """
    if isinstance(question, str):
        moment = now()
        return {"question": question, "date_created": moment, "date_modified": moment}, None
    if isinstance(question, Question):
        return {name: value for name, value in vars(question).items() if value is not None}, None
    fields = {ALIASES.get(name, name): value for name, value in question.items()}
    if not isinstance(fields.get("question"), str):
        raise InputError("The question has no text.", next="Give it as 'question'.")
    explicit = fields.pop("question_id", None)
    # A dumped question carries the hash of its text; that is no wish for an id of its own.
    return fields, None if explicit == question_id(fields["question"]) else explicit


def checked_fields(fields: Mapping[str, Any]) -> tuple[dict[str, Any], Rubric | None]:
    """Return fields as a question holds them, and the rubric among them.

    Raises:
        InputError: The rubric or the workspace path is not usable.
        TemplateError: The template cannot be read.
    """
    checked = dict(fields)
    rubric = make_rubric(fields.get("question_rubric"))
    if "question_rubric" in fields:
        checked["question_rubric"] = dumped(rubric)
    if "answer_template" in fields:
        checked["answer_template"] = readable_source(fields["answer_template"])
    if fields.get("workspace_path") is not None:
        check_relative(fields["workspace_path"])
    return checked, rubric


def merge(entry: Entry, fields: Mapping[str, Any], rubric: Rubric | None) -> tuple[Entry, dict[str, Any], str]:
    """Return a question to which the fields of a repeated one are added, what changes, and a notice that says so.

    Template, traits, keywords and the finished flag of the new one count; the rest only where the old one has nothing.
    """
    old = entry.question
    new = {name: value for name, value in fields.items() if value and name in _FILLED_IN and not getattr(old, name)}
    new |= {name: fields[name] for name in ("answer_template", "finished") if fields.get(name) not in (None, "")}
    new["keywords"] = list(dict.fromkeys([*old.keywords, *(fields.get("keywords") or ())]))
    if rubric is not None:
        before = entry.rubric or Rubric()
        traits = {trait.name: trait for trait in (*before.traits, *rubric.traits)}
        name, description = before.name or rubric.name, before.description or rubric.description
        merged = Rubric(name=name, description=description, traits=list(traits.values()))
        entry, new["question_rubric"] = entry._replace(rubric=merged), dumped(merged)
    changes = {name: value for name, value in new.items() if value != getattr(old, name)}
    others = [name for name in ("raw_answer", *_FILLED_IN) if fields.get(name) and name not in changes]
    differing = [name for name in others if _plain(fields[name]) != _plain(getattr(old, name))]
    notes = [
        f"{what} {', '.join(names)}" for what, names in (("changed", changes), ("kept its own", differing)) if names
    ]
    what = "; ".join(notes) or "nothing changed"
    return entry, changes, f"The question {old.question[:60]!r} is there already (id {old.id}): {what}."


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [item.model_dump() if isinstance(item, FewShotExample) else item for item in value]
    return value
