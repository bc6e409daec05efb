"""The way of a value through its rule, as data and in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MARKS = {True: "✓", False: "✗", None: "…"}


@dataclass(frozen=True)
class Link:
    """One thing that was done to a value.

    Attributes:
        name: What was done, such as `lowercase`.
        output: The value after it, as text.
        changed: Whether it made a difference.
    """

    name: str
    output: str
    changed: bool = True


@dataclass(frozen=True)
class Chain:
    """A value and what was done to it.

    Attributes:
        input: The value before, as text.
        links: The steps in their order, also those that changed nothing.
    """

    input: str
    links: tuple[Link, ...] = ()

    @property
    def output(self) -> str:
        """The value at the end."""
        return self.links[-1].output if self.links else self.input

    def __str__(self) -> str:
        shown = (f" → {link.name} → {link.output}" for link in self.links if link.changed)
        return "".join([self.input, *shown])


@dataclass(frozen=True)
class FieldSteps:
    """How one field got its verdict.

    Attributes:
        field: Its name.
        rule: The call that builds its rule; blank where none decides it.
        found: What the judge extracted, or the response, and what was done to it.
        relation: How the two ends compare, such as `==` or `does not contain`.
        target: What it was compared with, at its end.
        expected: The truth and what was done to it; None where the rule does not use it.
        result: The verdict of the field; None where nothing was extracted or it is not decided here.
        reason: One sentence.
    """

    field: str
    rule: str
    found: Chain
    relation: str
    target: str
    expected: Chain | None
    result: bool | None
    reason: str

    def __str__(self) -> str:
        ending = f" {self.relation} {self.target}" if self.relation else ""
        return f"{self.found}{ending} {MARKS[self.result]}"


@dataclass(frozen=True)
class VerdictSteps:
    """How field results make the verdict.

    Attributes:
        label: A field's name, or `all of`, `any of`, `at least 2 of`.
        result: Whether the condition holds; None where that depends on what is not decided here.
        parts: The conditions inside, none for a field.
    """

    label: str
    result: bool | None
    parts: tuple[VerdictSteps, ...] = ()

    def __str__(self) -> str:
        inside = f" ({', '.join(map(str, self.parts))})" if self.parts else ""
        return f"{self.label}{inside} {MARKS[self.result]}"


def chain(value: str, links: Iterable[Link]) -> Chain:
    """Return a chain of steps."""
    return Chain(value, tuple(links))
