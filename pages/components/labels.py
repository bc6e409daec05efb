"""Labels of choices that stay apart: a browser reports the label that was chosen, so two alike would be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def distinct(options: Iterable[T], label: Callable[[T], str]) -> Mapping[T, str]:
    """Return a label for every option, in their order; of equal ones the second gets a `(2)`, and so on.

    Args:
        options: What can be chosen.
        label: Returns the label of an option.
    """
    labels: dict[T, str] = {}
    seen: Counter[str] = Counter()
    taken: set[str] = set()
    for option in options:
        text = shown = label(option)
        while shown in taken:
            seen[text] += 1
            shown = f"{text} ({seen[text] + 1})"
        taken.add(shown)
        labels[option] = shown
    return labels
