"""Lists: as sets, and in order."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from pydantic import Field

from karenina_core.schemas.primitives.base import (
    Comparison,
    Explanation,
    FieldKind,
    Step,
    _register_primitive,
)
from karenina_core.schemas.primitives.normalizers import Normalizer, Normalizers, case_and_blanks, normalized
from karenina_core.schemas.primitives.wording import NOTHING_EXTRACTED, failed, listed, quoted
from karenina_core.text import counted

Items = dict[Hashable, Any]
"""Items of a list by what they are compared by, so that duplicates count once."""
Texts = list[str | None]


class _List(Comparison):
    applies_to: ClassVar[tuple[FieldKind, ...]] = ("list[str]",)

    def _unreadable(self, extracted: Any, found: Any, expected: Any) -> Explanation:
        if extracted is None:
            return failed(NOTHING_EXTRACTED)
        shown = quoted(extracted) if found is None else f"The expected value {quoted(expected)}"
        return failed(f"{shown} is not a list of plain values.")


@_register_primitive
class SetContainment(_List):
    """Compares lists as sets: order and duplicates do not count, case and blanks do.

    Attributes:
        mode: `exact`: the same items. `subset`: no item beyond the expected ones; an empty list passes.
            `superset`: every expected item, others are welcome. `overlap`: at least `min_overlap` in common.
        min_overlap: Least number of common items, from 1; only for `overlap`, 1 if None.
        normalize: What is done to each text first; nothing unless asked for.
    """

    title: ClassVar[str] = "Items in any order"

    mode: Literal["exact", "subset", "superset", "overlap"] = "exact"
    min_overlap: int | None = Field(default=None, ge=1)
    normalize: Normalizers = Field(default_factory=list)

    def _read(self, value: Any) -> Items | None:
        if not isinstance(value, list | tuple | set | frozenset):
            return None
        try:
            return {_key(item, self.normalize): item for item in value}
        except TypeError:  # an item that cannot be in a set
            return None

    def _compared(self, extracted: Any, found: Items, expected: Any, wanted: Items) -> Explanation:
        passed = self._passes(found, wanted)
        missing = [item for key, item in wanted.items() if key not in found]
        extra = [item for key, item in found.items() if key not in wanted]
        shared = [item for key, item in found.items() if key in wanted]
        parts = (("shared", shared), ("missing", missing), ("extra", extra))
        steps = tuple(Step(label, counted(len(items), "item"), listed(items)) for label, items in parts if items)
        return Explanation(passed, steps, self._reason(passed, missing, extra, len(shared)))

    def _passes(self, found: Items, wanted: Items) -> bool:
        match self.mode:
            case "exact":
                return found.keys() == wanted.keys()
            case "subset":
                return found.keys() <= wanted.keys()
            case "superset":
                return found.keys() >= wanted.keys()
            case "overlap":
                return len(found.keys() & wanted.keys()) >= (self.min_overlap or 1)

    def _reason(self, passed: bool, missing: list[Any], extra: list[Any], shared: int) -> str:
        if self.mode == "overlap":
            return f"{counted(shared, 'expected item')} found; {self.min_overlap or 1} or more must be."
        if passed:
            return {
                "exact": "Exactly the expected items were found.",
                "subset": "Every item found is an expected one." if shared else "An empty list is a subset of any.",
                "superset": "Every expected item was found.",
            }[self.mode]
        faults = []
        if missing and self.mode != "subset":
            faults.append(f"missing: {listed(missing)}")
        if extra and self.mode != "superset":
            faults.append(f"not expected: {listed(extra)}")
        return f"The lists differ ({'; '.join(faults)})."


@_register_primitive
class OrderedMatch(_List):
    """Passes when both lists have the same length and the same texts in the same order.

    Attributes:
        normalize: What is done to each element of both sides first, in this order.
    """

    title: ClassVar[str] = "Same items in order"

    normalize: Normalizers = Field(default_factory=case_and_blanks)

    def _passes(self, found: Texts, wanted: Texts) -> bool:
        return found == wanted and None not in found

    def _compared(self, extracted: Any, found: Texts, expected: Any, wanted: Texts) -> Explanation:
        if self._passes(found, wanted):
            return Explanation(True, (), f"All {len(found)} elements agree, in order.")
        pairs = [(at, a, b) for at, (a, b) in enumerate(zip(found, wanted, strict=False), 1) if a is None or a != b]
        steps = tuple(Step(f"element {at}", quoted(a), f"expected {quoted(b)}") for at, a, b in pairs)
        if len(found) != len(wanted):
            return failed(f"{counted(len(found), 'element')} found, {len(wanted)} expected.", *steps)
        at, first, second = pairs[0]
        return failed(f"Element {at} is {quoted(first)}, expected was {quoted(second)}.", *steps)

    def _read(self, value: Any) -> Texts | None:
        if not isinstance(value, list | tuple):
            return None
        return [normalized(item, self.normalize) for item in value]


def _key(item: Any, normalizers: list[Normalizer]) -> Hashable:
    text = None if isinstance(item, int | float | None) else normalized(item, normalizers)
    if text is not None:
        return text
    if item != item:
        return object()  # NaN equals nothing, not even itself
    hash(item)
    return (bool, item) if isinstance(item, bool) else item
