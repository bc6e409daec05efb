"""What a reader changed in a file in order to understand it; nothing is changed silently."""

from __future__ import annotations

from dataclasses import dataclass

NAMED_PLACES = 3


@dataclass(frozen=True)
class Repair:
    """One kind of repair.

    Attributes:
        where: The place or places, such as `question q1, trait Tone`.
        what: What was found there.
        action: How it was read.
        count: How often it was found.
    """

    where: str
    what: str
    action: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.action}."


class Repairs:
    """Collects repairs; the same one in many places is reported once.

    Attributes:
        pattern_text: Characters of regular expressions read so far, in the whole file.
    """

    def __init__(self) -> None:
        self.pattern_text = 0
        self._places: dict[tuple[str, str], list[str]] = {}
        self._count = 0

    def add(self, where: str, what: str, action: str) -> None:
        """Note one repair."""
        self._places.setdefault((what, action), []).append(where)
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def to_list(self) -> list[Repair]:
        """Return the repairs in the order they were first met."""
        return [Repair(_places(where), what, action, len(where)) for (what, action), where in self._places.items()]


def _places(where: list[str]) -> str:
    named = list(dict.fromkeys(where))
    rest = len(named) - NAMED_PLACES
    shown = "; ".join(named[:NAMED_PLACES])
    return f"{shown} and {rest} more" if rest > 0 else shown
