"""`Benchmark`: questions, templates and rubrics as one thing that is saved, shared and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from karenina_core.benchmark import seams
from karenina_core.benchmark.checkpoint.reader import read_checkpoint
from karenina_core.benchmark.checkpoint.repairs import Repair
from karenina_core.benchmark.contents import DEFAULT_CREATOR, Contents
from karenina_core.benchmark.editing import EditingMethods
from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.benchmark.exports import ExportMethods
from karenina_core.benchmark.header import check_header
from karenina_core.benchmark.queries import QueryMethods
from karenina_core.benchmark.questions import QuestionMethods
from karenina_core.benchmark.readiness import ReadinessMethods
from karenina_core.benchmark.rubrics import RubricMethods
from karenina_core.benchmark.templates import TemplateMethods
from karenina_core.files import MAX_BYTES, OWN_BYTES, garbage_collection_paused, read_bytes, write_atomic
from karenina_core.schemas import ModelConfig, VerificationConfig
from karenina_core.schemas.entities.question import Question, now

SUFFIXES = (".jsonld", ".json")


class Benchmark(
    QuestionMethods,
    EditingMethods,
    TemplateMethods,
    RubricMethods,
    QueryMethods,
    ExportMethods,
    ReadinessMethods,
):
    """A collection of questions with templates and rubrics.

    Use `Benchmark.create` or `Benchmark.load`. Iterating gives the questions, `len` their number, `in` takes an id or
    a question, and `[]` an id, a position or a slice.
    """

    @classmethod
    def create(
        cls,
        name: str,
        description: str = "",
        version: str = "0.1.0",
        creator: str | dict[str, Any] = DEFAULT_CREATOR,
    ) -> Benchmark:
        """Return a new, empty benchmark.

        Raises:
            InputError: The name is blank, or a text holds half a surrogate pair.
        """
        check_header({"name": name, "description": description, "version": version, "creator": creator})
        moment = now()
        return cls(Contents(name, description or None, version, creator, created_at=moment, modified_at=moment))

    @classmethod
    def load(cls, path: str | Path, workspace_root: str | Path | None = None) -> Benchmark:
        """Read a benchmark file of any dialect; `repairs` says what had to be repaired.

        Args:
            path: The file.
            workspace_root: The folder its workspace paths start from; it is not part of the file.

        Raises:
            CheckpointError: The file cannot be opened, or is no benchmark.
        """
        benchmark = cls(*read_checkpoint(read_bytes(path, limit=OWN_BYTES), limit=OWN_BYTES))
        benchmark.set_workspace_root(workspace_root)
        return benchmark

    @classmethod
    def from_json(cls, text: str | bytes, *, limit: int = MAX_BYTES) -> Benchmark:
        """Read the text of a benchmark file of any dialect.

        Args:
            text: The text.
            limit: Largest size in bytes; the number of questions allowed grows with it, 20,000 in the usual size.

        Raises:
            CheckpointError: It is no benchmark.
        """
        return cls(*read_checkpoint(text, limit=limit))

    def save(self, path: str | Path, save_deep_judgment_config: bool = True) -> Path:
        """Write the benchmark to a file, all or nothing.

        What the file it was loaded from held beyond this program's knowledge is written too.

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
        with garbage_collection_paused():
            write_atomic(target, self.json_pieces(save_deep_judgment_config=save_deep_judgment_config))
        return target

    def clone(self) -> Benchmark:
        """Return an independent copy. It shares the questions, which are never changed, only replaced."""
        contents = self._contents
        copy = Benchmark(
            replace(
                contents,
                creator=deepcopy(contents.creator),
                rubric=deepcopy(contents.rubric),
                properties=deepcopy(contents.properties),
                entries=dict(contents.entries),
            )
        )
        copy.set_workspace_root(self.workspace_root)
        return copy

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
            **options: Passed on to `karenina_core.runs.verification.run_verification`.

        Returns:
            A `VerificationResultSet`.
        """
        run = seams.upward(seams.RUN_VERIFICATION)
        return run(self, config, question_ids, run_name, async_enabled, progress_callback, **options)

    def generate_all_templates(self, model_config: ModelConfig, **options: Any) -> Any:
        """Draft templates for the questions that have none.

        Args:
            model_config: The model that drafts.
            **options: Passed on to `karenina_core.runs.drafting.calls.generate_all_templates`: `question_ids`,
                `force_regenerate`, `max_cost`, `store`, and so on.

        Returns:
            What became of every question, by id.
        """
        return seams.upward(seams.GENERATE_ALL_TEMPLATES)(self, model_config, **options)

    def generate_templates(self, question_ids: Sequence[str], model_config: ModelConfig, **options: Any) -> Any:
        """Draft templates for some questions; as `generate_all_templates`."""
        return self.generate_all_templates(model_config, question_ids=question_ids, **options)

    def generate_template_for_question(self, question_id: str, model_config: ModelConfig, **options: Any) -> Any:
        """Draft the template of one question and return what became of it."""
        return self.generate_templates([question_id], model_config, **options)[question_id]

    def __len__(self) -> int:
        return self.question_count

    def __bool__(self) -> bool:
        # A benchmark without questions is still a benchmark.
        return True

    def __iter__(self) -> Iterator[BenchmarkQuestion]:
        return iter(list(self._questions()))

    def __contains__(self, question: object) -> bool:
        if isinstance(question, BenchmarkQuestion):
            return question.id in self._contents.entries
        return self._find(question.id if isinstance(question, Question) else question) is not None

    @overload
    def __getitem__(self, key: str | int) -> BenchmarkQuestion: ...
    @overload
    def __getitem__(self, key: slice) -> list[BenchmarkQuestion]: ...
    def __getitem__(self, key: str | int | slice) -> BenchmarkQuestion | list[BenchmarkQuestion]:
        if isinstance(key, str):
            return self.get_question(key)
        return list(self._questions())[key]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Benchmark):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<Benchmark {self.name!r}: {self.question_count} questions, {self.finished_count} finished>"


def load_checkpoint(source: bytes | str | Path) -> tuple[Benchmark, list[Repair]]:
    """Read a benchmark file, given as bytes or by its path, and return it with what had to be repaired.

    Raises:
        CheckpointError: It cannot be opened, or is no benchmark.
    """
    benchmark = Benchmark.from_json(source) if isinstance(source, bytes) else Benchmark.load(source)
    return benchmark, benchmark.repairs
