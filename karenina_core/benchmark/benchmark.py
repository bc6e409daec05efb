"""`Benchmark`: questions, templates and rubrics as one thing that is saved, shared and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

from karenina_core.benchmark import exports
from karenina_core.benchmark.checkpoint.document import document_bytes, is_custom, read_checkpoint
from karenina_core.benchmark.checkpoint.nodes import Repair
from karenina_core.benchmark.checks import (
    SEVERITIES,
    Coverage,
    Problem,
    QuestionState,
    coverage_of,
    problems_of,
    states_of,
)
from karenina_core.benchmark.question import (
    ALIASES,
    DEFAULT_CREATOR,
    BenchmarkQuestion,
    Contents,
    Entry,
    checked_fields,
    dumped,
    fields_of_question,
    free_id,
    make_question,
    make_rubric,
    merge,
    readable_source,
)
from karenina_core.benchmark.workspaces import WorkspaceError, resolve
from karenina_core.errors import InputError
from karenina_core.files import (
    MAX_BYTES,
    OWN_BYTES,
    read_bytes,
    read_json,
    write_atomic,
)
from karenina_core.schemas import AnyTrait, BaseAnswer, ModelConfig, Rubric, VerificationConfig
from karenina_core.schemas.entities.question import FewShotExample, Question, now
from karenina_core.schemas.entities.question import question_id as id_of_text
from karenina_core.sheets import xlsx_bytes
from karenina_core.templates import SandboxShare
from karenina_core.text import check_whole

SUFFIXES = (".jsonld", ".json")
ExportFormat = Literal["auto", "json", "jsonld", "csv", "xlsx", "markdown"]
_HEADER = ("name", "description", "version", "creator")
_NO_FIELDS = ("self", "question", "question_id")  # among the arguments of `add_question`
_FIXED = frozenset({"id", "stored_id", "date_created", "date_modified"})
QuestionLike = str | Mapping[str, Any] | Question
RubricLike = Rubric | Mapping[str, Any]
TemplateLike = str | type[BaseAnswer]


class UnknownQuestionError(InputError, KeyError):
    """The benchmark has no question of that id."""

    def __init__(self, question_id: object) -> None:
        super().__init__(f"The benchmark has no question {question_id!r}.", next="`get_question_ids()` has them all.")


class RemovedQuestion(NamedTuple):
    """A question that was removed, and the place it had."""

    entry: Entry
    position: int


def _header(name: str, *, fixed: bool = False) -> Any:
    """Return the property for a field of the file's header; `set_metadata` changes it unless it is fixed."""

    def change(benchmark: Benchmark, value: Any) -> None:
        benchmark.set_metadata(**{name: value})

    return property(lambda benchmark: getattr(benchmark._contents, name), None if fixed else change)


class Benchmark:
    """A collection of questions with templates and rubrics.

    Use `Benchmark(name)`, `Benchmark.create` or `Benchmark.load`. Iterating gives the questions, `len` their number,
    `in` takes an id or a question, and `[]` an id, a position or a slice. Questions are read-only snapshots, replaced
    as a whole when they change; rubrics go in and out as copies. Wherever a question id is asked for, the MD5 of its
    text will do.

    Attributes:
        name: Its name.
        description: What it is about.
        version: Its own version.
        creator: Who made it: a name, or an object such as a schema.org Person.
        created_at: When it was created, as ISO 8601 text.
        modified_at: When it was last changed or saved, as ISO 8601 text.
        workspace_root: The folder that workspace paths start from, given as text or path; never part of a file.
            `check` says when it is missing.
        notices: What adding questions did beyond adding, such as merging a repeated one.
        repairs: What had to be repaired when the file was read.
        renamed: Ids of questions that changed since it was read or saved, old and new, in their order.
    """

    name: str = _header("name")
    description: str = _header("description")
    version: str = _header("version")
    creator: str | dict[str, Any] = _header("creator")
    created_at: str = _header("created_at", fixed=True)
    modified_at: str = _header("modified_at", fixed=True)

    def __init__(
        self,
        name: str,
        description: str = "",
        version: str = "0.1.0",
        creator: str | dict[str, Any] = DEFAULT_CREATOR,
        workspace_root: str | Path | None = None,
    ) -> None:
        """Make a new, empty benchmark.

        Args:
            name: Its name.
            description: What it is about; a sentence with the name when empty.
            version: Its own version.
            creator: Who made it.
            workspace_root: The folder its workspace paths start from.

        Raises:
            InputError: The name is blank, or a text holds half a surrogate pair.
        """
        self._contents = Contents(name)
        self._other_ids: dict[str, str] | None = None
        self.set_workspace_root(workspace_root)
        self.notices: list[str] = []
        self.repairs: list[Repair] = []
        self.renamed: list[tuple[str, str]] = []
        description = description or f"Questions of the benchmark {name}."
        self.set_metadata(name=name, description=description, version=version, creator=creator)
        self._contents.modified_at = self.created_at

    @classmethod
    def _of(cls, contents: Contents, repairs: Iterable[Repair], root: str | Path | None = None) -> Benchmark:
        benchmark = cls("…", workspace_root=root)
        benchmark._contents, benchmark.repairs = contents, list(repairs)
        return benchmark

    @cached_property
    def sandbox(self) -> SandboxShare:
        """Where the own code of its templates runs."""
        return SandboxShare()

    # Files

    @classmethod
    def create(cls, name: str, *arguments: Any, **fields: Any) -> Benchmark:
        """Return a new, empty benchmark; the arguments are those of the class."""
        return cls(name, *arguments, **fields)

    @classmethod
    def load(cls, path: str | Path, workspace_root: str | Path | None = None) -> Benchmark:
        """Read a benchmark file of any dialect; `repairs` says what had to be repaired.

        Args:
            path: The file.
            workspace_root: The folder its workspace paths start from; it is not part of the file. `check` says when
                it is missing.

        Raises:
            CheckpointError: The file cannot be opened, or is no benchmark.
        """
        return cls._of(*read_checkpoint(read_bytes(path, limit=OWN_BYTES), limit=OWN_BYTES), workspace_root)

    @classmethod
    def from_json(cls, text: str | bytes, *, limit: int = MAX_BYTES) -> Benchmark:
        """Read the text of a benchmark file of any dialect.

        Args:
            text: The text.
            limit: Largest size in bytes; the number of questions allowed grows with it, 20,000 in the usual size.

        Raises:
            CheckpointError: It is no benchmark.
        """
        return cls._of(*read_checkpoint(text, limit=limit))

    def save(self, path: str | Path, save_deep_judgment_config: bool = True) -> Path:
        """Write the benchmark to a file, all or nothing, with whatever its file held beyond this program's knowledge.

        The time becomes its date of modification.

        Args:
            path: The file; `.jsonld` is added unless it ends in `.jsonld` or `.json`.
            save_deep_judgment_config: Whether to keep the deep judgment settings that traits of a file may carry.

        Returns:
            The path written.

        Raises:
            CheckpointError: It cannot be written, or could not be read back; an existing file is then unchanged.
        """
        target = Path(path)
        if target.suffix.lower() not in SUFFIXES:
            target = target.with_name(f"{target.name}.jsonld")
        self._touch()
        write_atomic(target, self.to_bytes(save_deep_judgment_config=save_deep_judgment_config))
        return target

    def to_bytes(self, *, save_deep_judgment_config: bool = True) -> bytes:
        """Return the content of a benchmark file, as UTF-8.

        Args:
            save_deep_judgment_config: Whether to keep the deep judgment settings that traits of a file may carry.

        Raises:
            CheckpointError: It cannot be written, or could not be read back.
        """
        return document_bytes(self._contents, limit=OWN_BYTES, deep_judgment=save_deep_judgment_config)

    def to_json(self) -> str:
        """Return the text of a benchmark file."""
        return self.to_bytes().decode()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of a benchmark file, independent of the benchmark."""
        return dict(read_json(self.to_bytes(), limit=OWN_BYTES))

    def to_csv(self) -> str:
        """Return the questions as a CSV table."""
        return exports.benchmark_csv(self._contents)

    def to_xlsx(self) -> bytes:
        """Return the questions as an Excel workbook: with keywords, sources, templates and custom metadata."""
        return xlsx_bytes({"Questions": exports.question_sheet(list(self))})

    def to_markdown(self) -> str:
        """Return the benchmark as a Markdown document."""
        return exports.benchmark_markdown(self._contents)

    def export_to_file(self, path: str | Path, format: ExportFormat = "auto") -> None:
        """Write the benchmark to a file.

        Args:
            path: The file.
            format: `json` and `jsonld` (a benchmark file), `csv`, `xlsx`, `markdown`, or `auto`: as the file's ending
                says.

        Raises:
            InputError: The ending is unknown.
            CheckpointError: The file cannot be written.
        """
        writers: dict[str, Callable[[], bytes]] = {
            "json": self.to_bytes,
            "jsonld": self.to_bytes,
            "csv": lambda: self.to_csv().encode("utf-8-sig"),
            "xlsx": self.to_xlsx,
            "markdown": lambda: self.to_markdown().encode(),
        }
        chosen = exports.FORMATS.get(Path(path).suffix.lower(), "") if format == "auto" else format
        if chosen not in writers:
            what = f"There is no export for {Path(path).name if format == 'auto' else format!r}."
            raise InputError(what, next=f"Use one of: {', '.join(writers)}.")
        write_atomic(path, writers[chosen]())

    def clone(self) -> Benchmark:
        """Return an independent copy. It shares the questions, which are never changed, only replaced."""
        contents = self._contents
        own = {name: deepcopy(getattr(contents, name)) for name in ("creator", "rubric", "properties")}
        return self._of(replace(contents, entries=dict(contents.entries), **own), (), self.workspace_root)

    # Header

    def set_metadata(self, **fields: Any) -> None:
        """Change what is given of `name`, `description`, `version` and `creator`; what is None stays.

        Raises:
            InputError: There is no such field, the name is blank, or a text holds half a surrogate pair.
        """
        given = {field: value for field, value in fields.items() if value is not None}
        if unknown := given.keys() - _HEADER:
            raise InputError(f"A benchmark has no {unknown.pop()!r} to set.", next=f"It has {', '.join(_HEADER)}.")
        if not given.get("name", "x").strip():
            raise InputError("A benchmark needs a name.")
        for field, value in given.items():
            check_whole(f"The benchmark's {field}", value)
        self._contents = replace(self._contents, **given)
        self._touch()

    @property
    def question_count(self) -> int:
        """Number of questions."""
        return len(self._contents.entries)

    @property
    def finished_count(self) -> int:
        """Number of questions marked finished."""
        return sum(question.finished for question in self)

    @property
    def is_empty(self) -> bool:
        """Whether there are no questions."""
        return not self._contents.entries

    @property
    def is_complete(self) -> bool:
        """Whether there are questions, all finished and all with a template."""
        return not self.is_empty and all(question.finished and question.answer_template for question in self)

    def get_progress(self) -> float:
        """Return the share of finished questions in percent, 0 to 100."""
        return 100 * self.finished_count / self.question_count if self.question_count else 0.0

    def get_custom_property(self, name: str, default: Any = None) -> Any:
        """Return a custom property of the benchmark."""
        return self._contents.properties.get(name, default)

    def get_all_custom_properties(self) -> dict[str, Any]:
        """Return all custom properties of the benchmark."""
        return dict(self._contents.properties)

    def set_custom_property(self, name: str, value: Any) -> None:
        """Set a custom property of the benchmark; any JSON value.

        Raises:
            InputError: The name is one the file format uses itself, or a text holds half a surrogate pair.
        """
        if not name or not is_custom(name):
            raise InputError(f"The property name {name!r} is reserved.", next="Choose another name.")
        check_whole(f"The property {name!r}", [name, value])
        self._contents.properties[name] = value
        self._touch()

    def remove_custom_property(self, name: str) -> bool:
        """Remove a custom property of the benchmark; False when there is none of that name."""
        if name not in self._contents.properties:
            return False
        del self._contents.properties[name]
        self._touch()
        return True

    # Questions

    def add_question(
        self,
        question: QuestionLike,
        raw_answer: str | None = None,
        answer_template: TemplateLike | None = None,
        question_id: str | None = None,
        finished: bool | None = None,
        author: dict[str, Any] | None = None,
        sources: list[dict[str, Any]] | None = None,
        custom_metadata: dict[str, Any] | None = None,
        few_shot_examples: Sequence[FewShotExample | dict[str, str]] | None = None,
        answer_notes: str | None = None,
        *,
        rubric: RubricLike | None = None,
        keywords: Sequence[str] | None = None,
        workspace_path: str | None = None,
    ) -> str:
        """Add a question.

        A text that is there already is not added again: a new rubric, template or keywords are merged into the
        existing question, and `notices` says so. An explicit `question_id` always makes a question of its own.

        Args:
            question: The text, or a whole question as `Question` or dict. Other arguments override its fields.
            raw_answer: The reference answer. Required unless `question` holds it.
            answer_template: Source of an `Answer` class, or the class itself.
            question_id: The id; the MD5 of the text when not given.
            finished: Whether it takes part in runs; True when neither this nor the question says.
            author: Who wrote it.
            sources: Where the answer comes from.
            custom_metadata: Anything else.
            few_shot_examples: Example questions and answers for the answering model.
            answer_notes: Remarks on edge cases, used when templates are generated.
            rubric: The question's own traits.
            keywords: For filtering and grouping.
            workspace_path: Folder of the question, relative to the workspace root.

        Returns:
            The id of the new or the existing question.

        Raises:
            InputError: The id is taken, or a field is not usable.
            TemplateError: The template cannot be read.
        """
        given = {ALIASES.get(name, name): value for name, value in locals().items() if name not in _NO_FIELDS}
        fields, own_id = fields_of_question(question)
        fields |= {name: value for name, value in given.items() if value is not None}
        stored_id = fields.pop("stored_id", None)
        fields, checked_rubric = checked_fields(fields)
        entries, explicit = self._contents.entries, question_id or own_id
        text_id = id_of_text(fields["question"])
        if explicit is None and self._find(text_id) is not None:
            entry, changes, notice = merge(self._entry(text_id), fields, checked_rubric)
            if changes:
                self._change(entry, changes)
            self.notices.append(notice)
            return entry.question.id
        if explicit in entries:
            raise _taken(explicit, "Choose another id, or give none.")
        free = explicit or (stored_id if stored_id not in entries else None) or free_id(text_id, entries)
        fields |= {"finished": fields.get("finished") is not False, "stored_id": free}
        self._put(Entry(make_question(fields), checked_rubric))
        return free

    def add_questions(self, questions: Iterable[QuestionLike], **arguments: Any) -> list[str]:
        """Add several questions, with the same further arguments; as `add_question`. Returns their ids."""
        return [self.add_question(question, **arguments) for question in questions]

    def get_question(self, question_id: str) -> BenchmarkQuestion:
        """Return a question by its id, or by the MD5 of its text.

        Raises:
            InputError: There is none.
        """
        return self._entry(question_id).question

    def get_question_ids(self) -> list[str]:
        """Return the ids of all questions, in order."""
        return list(self._contents.entries)

    def get_all_questions(self, ids_only: bool = False) -> list[Any]:
        """Return all questions, or their ids."""
        return self.get_question_ids() if ids_only else list(self)

    def update_question(self, question_id: str, **fields: Any) -> None:
        """Change fields of a question; its id stays, also when its text changes.

        Args:
            question_id: The question.
            **fields: Any field of `Question`, `finished`, or `rubric`. None clears an optional field.

        Raises:
            InputError: A field is unknown or its value not usable.
            TemplateError: The new template cannot be read.
        """
        entry = self._entry(question_id)
        fixed = sorted(_FIXED & fields.keys())
        if fixed:
            raise InputError(f"{', '.join(fixed)} of a question cannot be changed.")
        if "rubric" in fields:
            fields["question_rubric"] = fields.pop("rubric")
        checked, rubric = checked_fields(fields)
        self._change(entry._replace(rubric=rubric) if "question_rubric" in checked else entry, checked)

    def edit_question(self, question_id: str, *, keep_id: bool = False, **fields: Any) -> str:
        """Change fields of a question; with a new text it gets a new id, since results know a text by its id.

        Args:
            question_id: Its id now.
            keep_id: Keep the id although the text changes, as for a typo.
            **fields: As for `update_question`.

        Returns:
            The id it has now. Its place in the benchmark is the same.

        Raises:
            InputError: A field is not usable, or another question has the new id.
            TemplateError: The template cannot be read.
        """
        old = self._entry(question_id).question
        text = fields.get("question", old.question)
        new_id = old.id if keep_id or text == old.question else id_of_text(text)
        if new_id != old.id and new_id in self._contents.entries:
            what = "Another question of this benchmark has this text."
            raise InputError(what, next="Change the text, or edit the other question.")
        self.update_question(old.id, **fields)
        self.give_ids({old.id: new_id})
        return new_id

    def give_ids(self, ids: Mapping[str, str]) -> None:
        """Give questions other ids, one after the other, in the time it takes for one. Their places stay the same.

        Args:
            ids: New ids by those now.

        Raises:
            InputError: There is no such question, or another one has the new id; then nothing is changed.
        """
        taken = set(self._contents.entries)
        moves = {old: new for old, new in ids.items() if old != new}
        for old, new in moves.items():
            self._entry(old)
            check_whole("The question's id", new)
            if not new.strip() or new in taken:
                raise _taken(new, "Delete that one first.")
            taken.discard(old)
            taken.add(new)
        if not moves:
            return
        entries = dict(self._contents.entries)
        for name, new in moves.items():
            question = entries[name].question.model_copy(update={"stored_id": new})
            entries[name] = entries[name]._replace(question=question, clean=False)
        self._put_all(list(entries.values()))
        self.renamed += moves.items()

    def give_id(self, question_id: str, new_id: str) -> None:
        """Give a question another id, such as the one it had before its text changed; as `give_ids`."""
        self.give_ids({self._entry(question_id).question.id: new_id})

    def take_question(self, question_id: str) -> RemovedQuestion:
        """Remove a question and return what `put_back` needs.

        Raises:
            InputError: There is none of that id.
        """
        entry = self._entry(question_id)
        removed = RemovedQuestion(entry, list(self._contents.entries).index(entry.question.id))
        self.remove_question(entry.question.id)
        return removed

    def put_back(self, removed: RemovedQuestion) -> str:
        """Put a removed question back in its place and return its id.

        Raises:
            InputError: A question of that id was added meanwhile.
        """
        if removed.entry.question.id in self._contents.entries:
            raise InputError("This question is in the benchmark already.")
        entries = list(self._contents.entries.values())
        entries.insert(removed.position, removed.entry)
        self._put_all(entries)
        return removed.entry.question.id

    def remove_question(self, question_id: str) -> bool:
        """Remove a question; False when there is none of that id."""
        name = self._find(question_id)
        if name is None:
            return False
        del self._contents.entries[name]
        self._other_ids = None
        self._touch()
        return True

    def clear_questions(self) -> int:
        """Remove all questions and return how many there were."""
        count = self.question_count
        self._put_all([])
        return count

    def get_question_metadata(self, question_id: str) -> dict[str, Any]:
        """Return everything known of a question as plain data, with its flags."""
        question, rubric, *_ = self._entry(question_id)
        flags = {"finished": question.finished, "has_template": question.answer_template is not None}
        return {**question.model_dump(mode="json"), **flags, "has_rubric": bool(rubric)}

    def get_question_timestamps(self, question_id: str) -> dict[str, str]:
        """Return when a question was `created` and `modified`, as ISO 8601 text."""
        question = self.get_question(question_id)
        return {"created": question.date_created, "modified": question.date_modified}

    def get_question_author(self, question_id: str) -> dict[str, Any] | None:
        """Return who wrote a question."""
        return self.get_question(question_id).author

    def set_question_author(self, question_id: str, author: dict[str, Any] | None) -> None:
        """Set who wrote a question."""
        self.update_question(question_id, author=author)

    def get_question_sources(self, question_id: str) -> list[dict[str, Any]] | None:
        """Return the sources of a question's answer."""
        return self.get_question(question_id).sources

    def set_question_sources(self, question_id: str, sources: list[dict[str, Any]] | None) -> None:
        """Set the sources of a question's answer."""
        self.update_question(question_id, sources=sources)

    def get_question_custom_property(self, question_id: str, name: str, default: Any = None) -> Any:
        """Return one entry of a question's custom metadata."""
        return (self.get_question(question_id).custom_metadata or {}).get(name, default)

    def set_question_custom_property(self, question_id: str, name: str, value: Any) -> None:
        """Set one entry of a question's custom metadata; any JSON value."""
        metadata = self.get_question(question_id).custom_metadata or {}
        self.update_question(question_id, custom_metadata={**metadata, name: value})

    def remove_question_custom_property(self, question_id: str, name: str) -> bool:
        """Remove one entry of a question's custom metadata; False when there is none of that name."""
        metadata = self.get_question(question_id).custom_metadata or {}
        if name not in metadata:
            return False
        self.update_question(question_id, custom_metadata={k: metadata[k] for k in metadata if k != name} or None)
        return True

    # Finished flags

    def mark_finished(self, question_id: str) -> None:
        """Let a question take part in runs."""
        self._mark([question_id], True)

    def mark_unfinished(self, question_id: str) -> None:
        """Leave a question out of runs."""
        self._mark([question_id], False)

    def mark_finished_batch(self, question_ids: Iterable[str]) -> None:
        """Let several questions take part in runs."""
        self._mark(question_ids, True)

    def mark_unfinished_batch(self, question_ids: Iterable[str]) -> None:
        """Leave several questions out of runs."""
        self._mark(question_ids, False)

    def toggle_finished(self, question_id: str) -> bool:
        """Change the finished flag of a question and return what it is now."""
        finished = not self.get_question(question_id).finished
        self._mark([question_id], finished)
        return finished

    def _mark(self, question_ids: Iterable[str], finished: bool) -> None:
        for entry in map(self._entry, question_ids):
            if entry.question.finished != finished:
                question = entry.question.model_copy(update={"finished": finished})
                self._put(entry._replace(question=question, clean=False))

    def get_finished_questions(self, ids_only: bool = False) -> list[Any]:
        """Return the questions that take part in runs, or their ids."""
        questions = self.filter_questions(finished=True)
        return [question.id for question in questions] if ids_only else questions

    def get_unfinished_questions(self, ids_only: bool = False) -> list[Any]:
        """Return the questions that are left out of runs, or their ids."""
        questions = self.filter_questions(finished=False)
        return [question.id for question in questions] if ids_only else questions

    # Templates

    def add_answer_template(self, question_id: str, template: TemplateLike) -> None:
        """Give a question its template.

        Args:
            question_id: The question.
            template: Source of a class named `Answer`, or the class itself.

        Raises:
            InputError: There is no such question, or the template is empty.
            TemplateError: It cannot be read; says why and in which line.
        """
        source = readable_source(template)
        if source is None:
            raise InputError("The template is empty.", next="Use `remove_template` to remove a template.")
        self._change(self._entry(question_id), {"answer_template": source})

    def remove_template(self, question_id: str) -> bool:
        """Remove a question's template; False when it has none."""
        had_one = self.has_template(question_id)
        if had_one:
            self._change(self._entry(question_id), {"answer_template": None})
        return had_one

    def has_template(self, question_id: str) -> bool:
        """Whether a question has a template, readable or not."""
        return self.get_template(question_id) is not None

    def get_template(self, question_id: str) -> str | None:
        """Return the source of a question's template, None when it has none."""
        return self.get_question(question_id).answer_template

    def copy_template(self, from_question_id: str, to_question_id: str) -> None:
        """Give a question the template of another.

        Raises:
            InputError: The other question has none.
        """
        source = self.get_template(from_question_id)
        if source is None:
            raise InputError(f"The question {from_question_id!r} has no template to copy.")
        self.add_answer_template(to_question_id, source)

    def apply_global_template(self, template: TemplateLike) -> list[str]:
        """Give the template to all questions without one and return their ids."""
        missing = self.get_missing_templates()
        for question_id in missing:
            self.add_answer_template(question_id, template)
        return missing

    def get_finished_templates(self, question_ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the templates of finished questions by question id.

        Args:
            question_ids: Only of these questions; of all when not given.
        """
        questions = self if question_ids is None else map(self.get_question, question_ids)
        return {q.id: q.answer_template for q in questions if q.finished and q.answer_template}

    def get_missing_templates(self) -> list[str]:
        """Return the ids of questions without a template."""
        return [question.id for question in self if question.answer_template is None]

    # Rubrics

    def set_global_rubric(self, rubric: RubricLike) -> None:
        """Set the traits that are evaluated for every question.

        Raises:
            InputError: Trait names are repeated, or a trait is not valid.
        """
        self._contents.rubric = make_rubric(rubric)
        self._touch()

    def get_global_rubric(self) -> Rubric | None:
        """Return the traits that are evaluated for every question, None when there are none."""
        return deepcopy(self._contents.rubric)

    def clear_global_rubric(self) -> bool:
        """Remove the global rubric; False when there was none."""
        had_one = self._contents.rubric is not None
        self._contents.rubric = None
        self._touch()
        return had_one

    def add_global_rubric_trait(self, trait: AnyTrait) -> None:
        """Add one trait to the global rubric.

        Raises:
            InputError: A trait of that name is there already.
        """
        self.set_global_rubric(_with_trait(self._contents.rubric, trait))

    def set_question_rubric(self, question_id: str, rubric: RubricLike) -> None:
        """Set a question's own traits.

        Raises:
            InputError: There is no such question, trait names are repeated, or a trait is not valid.
        """
        self.update_question(question_id, rubric=rubric)

    def get_question_rubric(self, question_id: str) -> Rubric | None:
        """Return a question's own traits, None when it has none."""
        return deepcopy(self._entry(question_id).rubric)

    def add_question_rubric_trait(self, question_id: str, trait: AnyTrait) -> None:
        """Add one trait to a question's own rubric.

        Raises:
            InputError: There is no such question, or a trait of that name is there already.
        """
        self.set_question_rubric(question_id, _with_trait(self._entry(question_id).rubric, trait))

    def remove_question_rubric(self, question_id: str) -> bool:
        """Remove a question's own rubric; False when it has none."""
        had_one = self._entry(question_id).rubric is not None
        if had_one:
            self.update_question(question_id, rubric=None)
        return had_one

    def clear_all_rubrics(self) -> int:
        """Remove the global rubric and those of all questions, and return how many there were."""
        return sum(map(self.remove_question_rubric, self.get_question_ids())) + self.clear_global_rubric()

    def all_traits(self) -> list[AnyTrait]:
        """Return the global traits, then those of single questions; of several with one name, the first."""
        rubrics = (self._contents.rubric, *(entry.rubric for entry in self._contents.entries.values()))
        named: dict[str, AnyTrait] = {}
        for trait in (trait for rubric in rubrics if rubric is not None for trait in rubric.traits):
            named.setdefault(trait.name, trait)
        return deepcopy(list(named.values()))

    def trait_coverage(self) -> Coverage:
        """Return which trait touches which question."""
        return deepcopy(coverage_of(self._contents.rubric, {q: e.rubric for q, e in self._contents.entries.items()}))

    def check_trait_name(self, name: str, question_id: str | None = None) -> None:
        """Make sure that a new trait may have a name: results are kept by it, whatever the kind of the trait.

        Files may hold rubrics that share names; there the trait of the question is evaluated.

        Args:
            name: Of the new trait.
            question_id: The question it is for; all questions when not given.

        Raises:
            InputError: The rubric it is for, or one that is evaluated beside it, has a trait of that name.
        """
        shared = self._contents.rubric is not None and self._contents.rubric.trait(name) is not None
        chosen = self._contents.entries.values() if question_id is None else [self._entry(question_id)]
        owners = [entry.question for entry in chosen if entry.rubric is not None and entry.rubric.trait(name)]
        if not shared and not owners:
            return
        if (shared, bool(owners))[question_id is not None]:
            whose = "This question" if owners and question_id is not None else "The rubric of all questions"
            raise InputError(f"{whose} has a trait {name!r} already.", "", "Choose another name, or edit that trait.")
        one = f"{owners[0].question[:80]!r}" if len(owners) == 1 else f"{len(owners)} questions"
        what = f"A trait of {one if owners else 'all questions'} is named {name!r}."
        why = "Of two traits with one name only the question's own would be evaluated."
        raise InputError(what, why, "Choose another name, or edit that trait.")

    # Finding questions

    def filter_questions(
        self,
        finished: bool | None = None,
        has_template: bool | None = None,
        has_rubric: bool | None = None,
        author: str | None = None,
        custom_filter: Callable[[BenchmarkQuestion], bool] | None = None,
    ) -> list[BenchmarkQuestion]:
        """Return the questions that meet every condition given.

        Args:
            finished: Whether they are marked finished.
            has_template: Whether they have a template.
            has_rubric: Whether they have traits of their own.
            author: The author's name.
            custom_filter: Any further condition.
        """
        return [
            question
            for question, rubric, *_ in self._contents.entries.values()
            if finished in (None, question.finished)
            and has_template in (None, question.answer_template is not None)
            and has_rubric in (None, bool(rubric))
            and author in (None, question.author_name)
            and (custom_filter is None or custom_filter(question))
        ]

    def get_questions_with_rubric(self) -> list[BenchmarkQuestion]:
        """Return the questions that have traits of their own."""
        return self.filter_questions(has_rubric=True)

    # Workspaces

    def set_workspace_root(self, path: str | Path | None) -> None:
        """Set the folder the questions' workspace paths start from; None unsets it. `check` says when it is missing."""
        self._workspace_root = None if path is None else Path(path)

    workspace_root: Path | None = property(lambda self: self._workspace_root, set_workspace_root)  # type: ignore[assignment]

    def resolve_workspace(self, question_id: str) -> Path | None:
        """Return the folder of a question, None when it has no workspace.

        Raises:
            InputError: There is no such question, no root is set, or the path is unsafe or missing.
        """
        relative = self.get_question(question_id).workspace_path
        if relative is None:
            return None
        if self.workspace_root is None:
            what = f"The question {question_id!r} has a workspace, but no workspace root is set."
            raise WorkspaceError(
                what, next="Set it with `set_workspace_root` or `Benchmark.load(..., workspace_root=...)`."
            )
        return resolve(self.workspace_root, relative)

    # Checks and summaries

    def check(self) -> list[Problem]:
        """Return everything worth knowing before a run: errors first, then warnings, then remarks."""
        problems = problems_of(self._contents, self.workspace_root)
        return sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))

    def validate(self) -> tuple[bool, str]:
        """Return whether the benchmark is free of errors, and the first of them in words."""
        errors = [problem for problem in self.check() if problem.severity == "error"]
        return not errors, str(errors[0]) if errors else "No errors."

    def validate_templates(self) -> tuple[bool, list[Problem]]:
        """Return whether all templates can be read, and what is wrong with those that cannot."""
        return self._valid("template")

    def validate_rubrics(self) -> tuple[bool, list[Problem]]:
        """Return whether all traits can be evaluated, and what is wrong with those that cannot."""
        return self._valid("trait")

    def _valid(self, code: str) -> tuple[bool, list[Problem]]:
        problems = [problem for problem in self.check() if problem.code == code and problem.severity != "info"]
        return not problems, problems

    # Running and drafting belong to a package above this one, which is imported only when it is asked for.

    def run_verification(
        self,
        config: VerificationConfig,
        question_ids: Sequence[str] | None = None,
        run_name: str | None = None,
        async_enabled: bool | None = None,
        progress_callback: Callable[[float, str], None] | None = None,
        **options: Any,
    ) -> Any:
        """Run the finished questions and return the results.

        Args:
            config: The models and settings.
            question_ids: Only these questions; unfinished ones are left out even so.
            run_name: Name of the run.
            async_enabled: False makes one evaluation after the other.
            progress_callback: Called with percent (0 to 100) and a line of text.
            **options: Passed on to `karenina_core.runs.run_verification`.

        Returns:
            A `VerificationResultSet`.
        """
        run = import_module("karenina_core.runs").run_verification
        return run(self, config, question_ids, run_name, async_enabled, progress_callback, **options)

    def generate_all_templates(self, model_config: ModelConfig, **options: Any) -> Any:
        """Draft templates for the questions that have none.

        Args:
            model_config: The model that drafts.
            **options: Passed on to `karenina_core.runs.generate_all_templates`: `question_ids`, `force_regenerate`,
                `max_cost`, `store`, and so on.

        Returns:
            What became of every question, by id.
        """
        return import_module("karenina_core.runs").generate_all_templates(self, model_config, **options)

    def generate_templates(self, question_ids: Sequence[str], model_config: ModelConfig, **options: Any) -> Any:
        """Draft templates for some questions; as `generate_all_templates`."""
        return self.generate_all_templates(model_config, question_ids=question_ids, **options)

    def generate_template_for_question(self, question_id: str, model_config: ModelConfig, **options: Any) -> Any:
        """Draft the template of one question and return what became of it."""
        return self.generate_templates([question_id], model_config, **options)[question_id]

    # Other names that files and documents of the upstream project use.

    add_question_from_object = add_question
    add_questions_batch = add_questions
    get_question_as_object = get_question
    get_all_questions_as_objects = get_all_questions
    update_question_metadata = update_question
    update_template = add_answer_template

    # A container of questions

    def __len__(self) -> int:
        return self.question_count

    def __bool__(self) -> bool:
        # A benchmark without questions is still a benchmark.
        return True

    def __iter__(self) -> Iterator[BenchmarkQuestion]:
        return iter([entry.question for entry in self._contents.entries.values()])

    def __contains__(self, question: object) -> bool:
        if isinstance(question, BenchmarkQuestion):
            return question.id in self._contents.entries
        return self._find(question.id if isinstance(question, Question) else question) is not None

    @overload
    def __getitem__(self, key: str | int) -> BenchmarkQuestion: ...
    @overload
    def __getitem__(self, key: slice) -> list[BenchmarkQuestion]: ...
    def __getitem__(self, key: str | int | slice) -> BenchmarkQuestion | list[BenchmarkQuestion]:
        return self.get_question(key) if isinstance(key, str) else list(self)[key]

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Benchmark) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<Benchmark {self.name!r}: {self.question_count} questions, {self.finished_count} finished>"

    # The one way to the contents

    def _find(self, question_id: object) -> str | None:
        """Return the stored id of an id, or of the hash of a question's text."""
        entries = self._contents.entries
        if not isinstance(question_id, str) or question_id in entries:
            return question_id if isinstance(question_id, str) else None
        if self._other_ids is None:
            # Of several questions with one text the first counts.
            self._other_ids = {entry.question.text_id: name for name, entry in reversed(entries.items())}
        return self._other_ids.get(question_id)

    def _entry(self, question_id: str) -> Entry:
        name = self._find(question_id)
        if name is None:
            raise UnknownQuestionError(question_id)
        return self._contents.entries[name]

    def _change(self, entry: Entry, fields: Mapping[str, Any]) -> None:
        """Replace some fields of a question."""
        # A file may lack a text; that is no reason to refuse a change of something else.
        changed = make_question({**vars(entry.question), "date_modified": now(), **fields}, required=fields)
        self._put(entry._replace(question=changed, clean=False))

    def _put(self, entry: Entry) -> None:
        """Put a new or changed question in its place."""
        question, before = entry.question, self._contents.entries.get(entry.question.id)
        if before is not None and before.question.question != question.question:
            self._other_ids = None
        elif before is None and self._other_ids is not None and question.text_id != question.id:
            self._other_ids.setdefault(question.text_id, question.id)
        self._contents.entries[question.id] = entry
        self._touch()

    def _put_all(self, entries: list[Entry]) -> None:
        self._contents.entries.clear()
        self._contents.entries.update((entry.question.id, entry) for entry in entries)
        self._other_ids = None
        self._touch()

    def _touch(self) -> None:
        self._contents.modified_at = now()


def load_checkpoint(source: bytes | str | Path) -> tuple[Benchmark, list[Repair]]:
    """Read a benchmark file, given as bytes or by its path, and return it with what had to be repaired.

    Raises:
        CheckpointError: It cannot be opened, or is no benchmark.
    """
    benchmark = Benchmark.from_json(source) if isinstance(source, bytes) else Benchmark.load(source)
    return benchmark, benchmark.repairs


def question_states(benchmark: Benchmark, problems: Iterable[Problem] | None = None) -> dict[str, QuestionState]:
    """Return where every question of a benchmark stands, by id.

    Args:
        benchmark: The benchmark.
        problems: What its `check` returned; it is checked when not given.
    """
    return states_of(benchmark._contents, benchmark.check() if problems is None else problems)


def _taken(question_id: str | None, next_step: str) -> InputError:
    return InputError(f"The id {question_id!r} is taken by another question.", next=next_step)


def _with_trait(rubric: Rubric | None, trait: AnyTrait) -> dict[str, Any]:
    if rubric is not None and rubric.trait(trait.name):
        raise InputError(f"The rubric has a trait {trait.name!r} already.", next="Choose another name.")
    data = dumped(rubric) or {"traits": []}
    return {**data, "traits": [*data["traits"], trait.model_dump()]}
