"""How much is looked at, so that no answer takes long."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_ANSWER = 100_000
"""Characters of an answer that are searched for what is written otherwise; all of it for the very words."""
LONGEST_VALUE = 2_000
"""A value of more characters is not looked for, and so never told to stand nowhere."""
DEEPEST_VALUE = 200
"""What lies within so many lists and objects is not looked for either; no file or store holds it."""
MOST_VALUES = 200
"""Further values are not looked for."""
MOST_PLACES = 50
"""Further places of a value are not told."""
MOST_WORDS = 2_000  # of an answer, looked at for similar ones; and as many dates
KEPT = 4  # answers of which the readings are remembered
_MOST_EFFORT = 30_000  # for all values of a result: one for each place looked at, more for long values
_EFFORT_SIZE = 100  # characters of a value that cost one more


@dataclass
class Effort:
    """What may still be spent on looking for the values of a result, so that no answer takes long."""

    left: int = _MOST_EFFORT

    def spend(self, size: int) -> bool:
        """Return whether one more place may be looked at, for a text of so many characters."""
        self.left -= 1 + size // _EFFORT_SIZE
        return self.left >= 0
