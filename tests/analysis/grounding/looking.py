"""One answer, and what becomes of a value that is looked for in it."""

from __future__ import annotations

from karenina_core.analysis.grounding import ground

ANSWER = (
    "Venetoclax binds BCL-2 (Bcl-2). Of 1,234 patients with twenty-three pairs, 45 % lived. It was approved on "
    "11 April 2016. Cyclooxigenase-1 is inhibited; the hazard ratio was 0.74, not 12.5."
)


def found(value: object, answer: str = ANSWER) -> tuple[str, list[str]]:
    """Return how a value was found, and the words where it stands."""
    (item,) = ground({"field": value}, answer)
    return item.how, [answer[place.start : place.end] for place in item.places]
