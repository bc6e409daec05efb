"""What a benchmark says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.base import BenchmarkBase
from karenina_core.benchmark.checkpoint.root_properties import is_custom
from karenina_core.errors import InputError
from karenina_core.text import check_whole


def check_header(given: Mapping[str, Any]) -> None:
    """Refuse what a benchmark cannot say of itself.

    Args:
        given: Name, description, version and creator; None where nothing is said.

    Raises:
        InputError: The name is blank, or a text holds half a surrogate pair.
    """
    name = given["name"]
    if name is not None and not name.strip():
        raise InputError("A benchmark needs a name.")
    for field, value in given.items():
        check_whole(f"The benchmark's {field}", value)


class HeaderMethods(BenchmarkBase):
    """Name, version, dates, counts and custom properties."""

    @property
    def name(self) -> str:
        """Name of the benchmark."""
        return self._contents.name

    @name.setter
    def name(self, value: str) -> None:
        self.set_metadata(name=value)

    @property
    def description(self) -> str:
        """What it is about."""
        return self._contents.description or ""

    @description.setter
    def description(self, value: str) -> None:
        self.set_metadata(description=value)

    @property
    def version(self) -> str:
        """Its own version."""
        return self._contents.version

    @version.setter
    def version(self, value: str) -> None:
        self.set_metadata(version=value)

    @property
    def creator(self) -> str | dict[str, Any]:
        """Who made it: a name, or an object such as a schema.org Person."""
        return self._contents.creator

    @creator.setter
    def creator(self, value: str | dict[str, Any]) -> None:
        self.set_metadata(creator=value)

    @property
    def created_at(self) -> str:
        """When it was created, as ISO 8601 text."""
        return self._contents.created_at

    @property
    def modified_at(self) -> str:
        """When its content last changed, as ISO 8601 text."""
        return self._contents.modified_at

    @property
    def question_count(self) -> int:
        """Number of questions."""
        return len(self._contents.entries)

    @property
    def finished_count(self) -> int:
        """Number of questions marked finished."""
        return sum(question.finished for question in self._questions())

    @property
    def is_empty(self) -> bool:
        """Whether there are no questions."""
        return not self._contents.entries

    @property
    def is_complete(self) -> bool:
        """Whether there are questions, all finished and all with a template."""
        return not self.is_empty and all(q.finished and q.answer_template for q in self._questions())

    def get_progress(self) -> float:
        """Return the share of finished questions in percent, 0 to 100."""
        return 100 * self.finished_count / self.question_count if self.question_count else 0.0

    def set_metadata(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        version: str | None = None,
        creator: str | dict[str, Any] | None = None,
    ) -> None:
        """Change what is given; the rest stays.

        Raises:
            InputError: The name is blank, or a text holds half a surrogate pair.
        """
        given = {"name": name, "description": description, "version": version, "creator": creator}
        check_header(given)
        for field, value in given.items():
            if value is not None:
                setattr(self._contents, field, value)
        self._touch()

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

    def set_multiple_custom_properties(self, properties: dict[str, Any]) -> None:
        """Set several custom properties of the benchmark."""
        for name, value in properties.items():
            self.set_custom_property(name, value)

    def remove_custom_property(self, name: str) -> bool:
        """Remove a custom property of the benchmark; False when there is none of that name."""
        if name not in self._contents.properties:
            return False
        del self._contents.properties[name]
        self._touch()
        return True
