"""Traits kept in a library, in files of them, and patterns searched for in stored answers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from karenina_core import patterns
from karenina_core.errors import InputError, validation_message
from karenina_core.files import json_bytes, read_json
from karenina_core.models import clean as clean_text
from karenina_core.runs.reverification import RunAnswer
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean, to_json
from karenina_core.schemas import AnyTrait, ManualRubricTrait, StoredTrait, Trait
from karenina_core.schemas.entities.question import now

_TRAIT: TypeAdapter[AnyTrait] = TypeAdapter(Trait)
FORMAT = "karenina-traits"
VERSION = 1
MOST_TRAITS = 2_000
"""Traits of one file at most."""
MAX_SECONDS = 5.0
"""For which the traits of one file are checked at most."""
_LIBRARY = "library/trait/"


@dataclass(frozen=True)
class LibraryTrait:
    """A trait of the library.

    Attributes:
        id: By what the trait says; the same trait is kept once.
        trait: The trait.
        origin: Where it came from, in words; often empty.
        saved: ISO 8601 in UTC.
    """

    id: str
    trait: AnyTrait
    origin: str
    saved: str


def library(store: Store) -> list[LibraryTrait]:
    """Return the library by name, those of one name by age."""
    entries = [_library_trait(item) for item in store.settings.all(_LIBRARY).values()]
    return sorted(entries, key=lambda entry: (entry.trait.name.casefold(), entry.saved))


def add_to_library(store: Store, trait: AnyTrait, origin: str = "") -> LibraryTrait:
    """Keep a trait; one that is there already stays as it is.

    Two traits of one name can both be kept when they say different things.

    Args:
        store: Holds the library.
        trait: The trait.
        origin: Where it comes from, such as the name of a benchmark.

    Raises:
        InputError: It is not evaluated here, so that nobody could use it.
    """
    if isinstance(trait, StoredTrait):
        raise InputError(
            f"The trait {trait.name!r} cannot be kept in the library.", why=f"It is not evaluated: {trait.reason}."
        )
    trait = _TRAIT.validate_python(_dumped(trait))
    entry = LibraryTrait(_trait_id(trait), trait, clean_text(origin), now())
    known = store.settings.get(_LIBRARY + entry.id)
    if known is not None:
        return _library_trait(known)
    put_back(store, entry)
    return entry


def put_back(store: Store, entry: LibraryTrait) -> None:
    """Keep an entry as it was; undoes `remove_from_library`."""
    stored = {"trait": _dumped(entry.trait), "origin": entry.origin, "saved": entry.saved}
    store.settings.set(_LIBRARY + entry.id, stored)


def remove_from_library(store: Store, entry_id: str) -> LibraryTrait:
    """Forget a trait and return it.

    Raises:
        InputError: There is none of that id.
    """
    known = store.settings.get(_LIBRARY + entry_id)
    if known is None:
        raise InputError("This trait is no longer in the library.")
    store.settings.remove(_LIBRARY + entry_id)
    return _library_trait(known)


def library_file(traits: Iterable[AnyTrait]) -> bytes:
    """Return traits as a JSON file that `read_library` reads."""
    return json_bytes({"format": FORMAT, "version": VERSION, "traits": [_dumped(trait) for trait in traits]})


def read_library(data: bytes | str) -> list[AnyTrait]:
    """Return the traits of a file: what `library_file` writes, or a plain list of traits.

    Raises:
        InputError: It is none of the two, or one of its traits cannot be used; nothing of it is taken then.
    """
    content = read_json(data)
    if isinstance(content, dict) and content.get("format") == FORMAT:
        if content.get("version") != VERSION:
            raise InputError(
                "The file was written by a newer version of the workbench.", next="Update the workbench, then read it."
            )
        content = content.get("traits")
    if not isinstance(content, list):
        raise InputError("The file is no trait library.", next="Choose a file that was exported from a library.")
    if len(content) > MOST_TRAITS:
        raise InputError(
            f"The file holds {len(content):,} traits.", next=f"Split it into files of at most {MOST_TRAITS:,}."
        )
    until, traits = time.monotonic() + MAX_SECONDS, []
    for number, item in enumerate(content, start=1):
        if time.monotonic() > until:
            raise InputError(
                "The patterns of the file take too long to check.",
                f"After {MAX_SECONDS:.0f} seconds, {number - 1} of its {len(content):,} traits were checked.",
                "Split it into smaller files, or leave out traits with very large patterns.",
            )
        traits.append(_read_trait(item, number))
    return traits


def _read_trait(item: Any, number: int) -> AnyTrait:
    try:
        trait = _TRAIT.validate_python(item)
    except ValidationError as error:
        raise InputError(f"Trait {number} of the file cannot be used.", why=validation_message(error)) from error
    if isinstance(trait, StoredTrait):
        raise InputError(f"Trait {number} of the file cannot be used.", why=f"It is not evaluated: {trait.reason}.")
    return trait


def _library_trait(item: dict[str, Any]) -> LibraryTrait:
    trait = _parsed(to_json(item["trait"]))
    return LibraryTrait(_trait_id(trait), trait, item["origin"], item["saved"])


# A page draws the library again and again, and its patterns take long to check.
@lru_cache(maxsize=2 * MOST_TRAITS)
def _parsed(stored: str) -> AnyTrait:
    return _TRAIT.validate_json(stored)


def _dumped(trait: AnyTrait) -> dict[str, Any]:
    dumped: dict[str, Any] = clean(_TRAIT.dump_python(trait, mode="json"))
    return dumped


def _trait_id(trait: AnyTrait) -> str:
    return hashlib.sha256(to_json(_dumped(trait)).encode()).hexdigest()[:24]


SEARCH_SECONDS = 5.0
"""For all answers together; a person waits for it."""


class Searched(NamedTuple):
    """An answer that was searched.

    Attributes:
        spans: Start and end of every match.
        passes: Whether the trait holds.
    """

    answer: RunAnswer
    spans: tuple[tuple[int, int], ...]
    passes: bool


class PatternReport(NamedTuple):
    """What became of a search.

    Attributes:
        searched: The answers that were searched, in their order.
        total: How many there are.
        problem: Why the others were not; often empty.
    """

    searched: tuple[Searched, ...]
    total: int
    problem: str

    def by_model(self) -> dict[str, list[Searched]]:
        """Return the searched answers of every model."""
        grouped: dict[str, list[Searched]] = {}
        for item in self.searched:
            grouped.setdefault(item.answer.sample.answering_model, []).append(item)
        return grouped


def flags_of(trait: ManualRubricTrait) -> tuple[str, ...]:
    """Return the flags a trait's pattern is searched with."""
    return () if trait.case_sensitive else ("IGNORECASE",)


def search_answers(
    trait: ManualRubricTrait, answers: Iterable[RunAnswer], clock: Callable[[], float] = time.monotonic
) -> PatternReport:
    """Search answers for a trait's pattern, as a run would, and stop when that takes too long.

    Args:
        trait: The trait.
        answers: The answers.
        clock: Seconds.
    """
    waiting, begun = list(answers), clock()
    searched: list[Searched] = []
    for answer in waiting:
        if clock() - begun > SEARCH_SECONDS:
            why = f"The search was stopped after {SEARCH_SECONDS:g} s."
            return PatternReport(tuple(searched), len(waiting), why)
        try:
            spans = patterns.spans(trait.pattern, answer.sample.response, flags_of(trait))
        except InputError as error:
            return PatternReport(tuple(searched), len(waiting), str(error))
        searched.append(Searched(answer, tuple(spans), bool(spans) != trait.invert))
    return PatternReport(tuple(searched), len(waiting), "")
