"""Recordings: real replies of real models, or a labelled sample, replayed without any provider."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from karenina_core.errors import ConfigError, InputError, ModelError, validation_message
from karenina_core.files import read_bytes, read_json
from karenina_core.models.ports import ChatReply, ChatRequest, Purpose, ToolCall
from karenina_core.models.replies import clean_reply
from karenina_core.models.sharing import check_place
from karenina_core.schemas import ModelConfig, Usage

FORMAT: Literal["karenina-recording-1"] = "karenina-recording-1"
MAX_BYTES = 50 * 2**20
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]*$")
_Key = tuple[str, str, str, str, int, str]


class RecordedCall(BaseModel):
    """One reply of a recording.

    Attributes:
        purpose: What the reply is for.
        model: The entry that replies.
        answering_model: The entry under test; empty for answers, where it is the one that replies.
        question_id: The question.
        replicate: Repetition, counted from 1.
        part: Trait name for calls about one trait.
        reply: Text, or JSON that is replayed as text.
        finish_reason: As the provider said it.
        messages: What was sent, if it was kept.
        usage: Tokens and money then.
        tool_calls: Tools the model wanted to be used.
    """

    model_config = ConfigDict(extra="forbid")

    purpose: Purpose
    model: str
    answering_model: str = ""
    question_id: str
    replicate: int = Field(default=1, ge=1)
    part: str = ""
    reply: str | dict[str, Any]
    finish_reason: str | None = "stop"
    messages: list[dict[str, Any]] | None = None
    usage: Usage | None = None
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def text(self) -> str:
        """The reply as a model would have written it."""
        return self.reply if isinstance(self.reply, str) else json.dumps(self.reply, ensure_ascii=False)


class Recording(BaseModel):
    """A file of replies.

    Attributes:
        format: `karenina-recording-1`.
        name: Short name; labels may begin with it.
        title: Name for people.
        kind: `recording` for what models really printed, `sample` for texts written by hand.
        note: What a reader must know.
        provenance: How it was made: model files, versions, parameters, time.
        calls: The replies.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["karenina-recording-1"] = FORMAT
    name: str
    title: str = ""
    kind: Literal["sample", "recording"]
    note: str = ""
    provenance: dict[str, Any] = Field(default_factory=dict)
    calls: list[RecordedCall]

    _index: dict[_Key, RecordedCall] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        """Index the calls.

        Raises:
            InputError: Two calls answer the same request.
        """
        for call in self.calls:
            tested = call.model if call.purpose == "answer" else self._entry(call.answering_model)
            key = (call.purpose, call.model, tested, call.question_id, call.replicate, call.part)
            if key in self._index:
                raise InputError(f"The recording {self.name!r} answers {key} twice.", next="Remove one of the two.")
            self._index[key] = call

    @classmethod
    def from_json(cls, data: bytes | str, name: str = "recording") -> Recording:
        """Read a recording.

        Raises:
            InputError: It is too large, not JSON, or not in this format.
        """
        try:
            return cls.model_validate(read_json(data, limit=MAX_BYTES))
        except ValidationError as error:
            raise InputError(f"{name!r} is not a recording.", why=validation_message(error, most=1)) from None

    @classmethod
    def load(cls, name: str) -> Recording:
        """Return a recording, by the name of a bundled one or the path of a `.json` file.

        Raises:
            ConfigError: The file may not be read here.
            InputError: There is none, or it cannot be read.
        """
        if name.endswith(".json"):
            check_place(name)
            path = Path(name).expanduser()
            try:
                return _load_file(path, path.stat().st_mtime_ns)
            except OSError as error:
                raise InputError(f"The recording {name!r} cannot be read.", why=str(error.strerror)) from None
        return _load_bundled(name)

    def find(self, entry: str, request: ChatRequest) -> RecordedCall | None:
        """Return the reply of `entry` to a request, if it was recorded."""
        subject = request.subject
        tested = entry if request.purpose == "answer" else self._entry(subject.answering_model)
        return self._index.get((request.purpose, entry, tested, subject.question_id, subject.replicate, subject.part))

    def entries(self, purpose: Purpose = "answer") -> list[str]:
        """Return the models that reply for a purpose, in order of appearance."""
        return list(dict.fromkeys(call.model for call in self.calls if call.purpose == purpose))

    def _entry(self, label: str) -> str:
        return label.rpartition(".json/")[2].removeprefix(f"{self.name}/")


def bundled_recordings() -> dict[str, str]:
    """Return name and title of the recordings that come with the workbench."""
    titles = {}
    for file in _bundle().iterdir():
        name = file.name.removesuffix(".json")
        if name != file.name and FORMAT.encode() in file.read_bytes()[:1000]:
            titles[name] = _load_bundled(name).title or name
    return dict(sorted(titles.items()))


class RecordedClient:
    """Replays one entry of a recording.

    Args:
        config: With a `model_name` of the form `NAME/ENTRY`.

    Raises:
        InputError: There is no such recording or no such entry.
    """

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        name, self._entry = split_name(config.model_name)
        self._recording = Recording.load(name)
        known = dict.fromkeys(call.model for call in self._recording.calls)
        if self._entry not in known:
            raise ConfigError(
                f"The recording {name!r} has no entry {self._entry!r}.", next=f"Use one of: {', '.join(known)}."
            )

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the recorded reply.

        Raises:
            ModelError: It was not recorded; category `missing_recording`.
        """
        call = self._recording.find(self._entry, request)
        if call is None:
            raise self._missing(request)
        text, finish_reason = clean_reply(call.text, call.finish_reason)
        then = call.usage or Usage()
        usage = Usage(input_tokens=then.input_tokens, output_tokens=then.output_tokens, cost=0.0, calls=1)
        provenance = {"recording": self._recording.name, "kind": self._recording.kind, **self._recording.provenance}
        return ChatReply(text, finish_reason, usage, "recording", 0.0, provenance, call.tool_calls)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _missing(self, request: ChatRequest) -> ModelError:
        subject = request.subject
        about = f" about {subject.answering_model!r}" if request.purpose != "answer" else ""
        part = f", part {subject.part!r}" if subject.part else ""
        return ModelError(
            f"The recording {self._recording.name!r} has no such reply.",
            why=f"Looked for {request.purpose} of {self._entry!r}{about}, "
            f"question {subject.question_id!r}, replicate {subject.replicate}{part}.",
            next="Use a model that can be asked, or only questions and replicates that were recorded.",
            category="missing_recording",
        )


def split_name(model_name: str) -> tuple[str, str]:
    """Split `NAME/ENTRY`; the name may be the path of a `.json` file, and the entry may hold slashes.

    Raises:
        ConfigError: There is no entry in it.
    """
    name, mark, entry = model_name.partition(".json/")
    if mark:
        name += ".json"
    else:
        name, _, entry = model_name.partition("/")
    if not name or not entry:
        raise ConfigError(f"{model_name!r} does not name a recorded model.", next="Write RECORDING/MODEL.")
    return name, entry


@lru_cache(maxsize=8)
def _load_file(path: Path, changed: int) -> Recording:
    return Recording.from_json(read_bytes(path, limit=MAX_BYTES), path.name)


@lru_cache(maxsize=8)
def _load_bundled(name: str) -> Recording:
    file = _bundle() / f"{name}.json"
    if not _NAME.match(name) or not file.is_file():
        raise InputError(
            f"There is no recording {name!r}.", next="Use the name of a bundled recording or the path of a .json file."
        )
    return Recording.from_json(file.read_bytes(), name)


def _bundle() -> Traversable:
    # By way of the parent package, because importing `demo` would load the packages above.
    return resources.files("karenina_core") / "demo"
