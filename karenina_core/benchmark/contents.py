"""What a benchmark file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from karenina_core.benchmark.entry import Entry
from karenina_core.schemas import Rubric
from karenina_core.schemas.entities.question import now

DEFAULT_CREATOR = "Karenina Benchmarking System"


@dataclass
class Contents:
    """A benchmark as data.

    Attributes:
        name: Its name.
        description: What it is about; None when not given.
        version: Its own version, not that of the file format.
        creator: A name, or an object such as a schema.org Person.
        created_at: ISO 8601.
        modified_at: ISO 8601; changes with the content, not with saving.
        rubric: The global rubric.
        properties: Custom properties, by name.
        entries: The questions, by id, in their order.
        node: The root of its file; keeps what this program does not know. Never changed.
    """

    name: str
    description: str | None = None
    version: str = "0.1.0"
    creator: str | dict[str, Any] = DEFAULT_CREATOR
    created_at: str = field(default_factory=now)
    modified_at: str = field(default_factory=now)
    rubric: Rubric | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    node: Mapping[str, Any] = field(default_factory=dict)
