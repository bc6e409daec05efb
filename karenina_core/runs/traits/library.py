"""The trait library: traits kept in the store, to be copied into any rubric."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from karenina_core.errors import InputError, validation_message
from karenina_core.files import json_bytes, read_json
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean, clean_text, to_json
from karenina_core.schemas import AnyTrait, StoredTrait, Trait
from karenina_core.schemas.entities.question import now

FORMAT = "karenina-traits"
VERSION = 1
MOST = 2_000
"""Traits of one file at most."""
MAX_SECONDS = 5.0
"""For which the traits of one file are checked at most."""
_PREFIX = "library/trait/"
_TRAIT: TypeAdapter[AnyTrait] = TypeAdapter(Trait)


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
    entries = [_entry(item) for item in store.settings.all(_PREFIX).values()]
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
    entry = LibraryTrait(_id(trait), trait, clean_text(origin), now())
    known = store.settings.get(_PREFIX + entry.id)
    if known is not None:
        return _entry(known)
    put_back(store, entry)
    return entry


def put_back(store: Store, entry: LibraryTrait) -> None:
    """Keep an entry as it was; undoes `remove_from_library`."""
    kept = {"trait": _dumped(entry.trait), "origin": entry.origin, "saved": entry.saved}
    store.settings.set(_PREFIX + entry.id, kept)


def remove_from_library(store: Store, entry_id: str) -> LibraryTrait:
    """Forget a trait and return it.

    Raises:
        InputError: There is none of that id.
    """
    known = store.settings.get(_PREFIX + entry_id)
    if known is None:
        raise InputError("This trait is no longer in the library.")
    store.settings.remove(_PREFIX + entry_id)
    return _entry(known)


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
    if len(content) > MOST:
        raise InputError(f"The file holds {len(content):,} traits.", next=f"Split it into files of at most {MOST:,}.")
    until, traits = time.monotonic() + MAX_SECONDS, []
    for number, item in enumerate(content, start=1):
        if time.monotonic() > until:
            raise InputError(
                "The patterns of the file take too long to check.",
                f"After {MAX_SECONDS:.0f} seconds, {number - 1} of its {len(content):,} traits were checked.",
                "Split it into smaller files, or leave out traits with very large patterns.",
            )
        traits.append(_read(item, number))
    return traits


def _read(item: Any, number: int) -> AnyTrait:
    try:
        trait = _TRAIT.validate_python(item)
    except ValidationError as error:
        raise InputError(f"Trait {number} of the file cannot be used.", why=validation_message(error)) from error
    if isinstance(trait, StoredTrait):
        raise InputError(f"Trait {number} of the file cannot be used.", why=f"It is not evaluated: {trait.reason}.")
    return trait


def _entry(item: dict[str, Any]) -> LibraryTrait:
    trait = _known(to_json(item["trait"]))
    return LibraryTrait(_id(trait), trait, item["origin"], item["saved"])


# A page draws the library again and again, and its patterns take long to check.
@lru_cache(maxsize=2 * MOST)
def _known(stored: str) -> AnyTrait:
    return _TRAIT.validate_json(stored)


def _dumped(trait: AnyTrait) -> dict[str, Any]:
    dumped: dict[str, Any] = clean(_TRAIT.dump_python(trait, mode="json"))
    return dumped


def _id(trait: AnyTrait) -> str:
    return hashlib.sha256(to_json(_dumped(trait)).encode()).hexdigest()[:24]
